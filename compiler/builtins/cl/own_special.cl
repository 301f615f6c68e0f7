// Roots, error functions and the gamma function.
#include "own_math.def"

double __weft_own_cbrt_double(double x) {
  const double a = ABS(x);
  if (!(a > 0.0 && a < (double)INFINITY)) return x;
  // a = m * 8^n, 1 <= m < 8.
  const bool small = a < 0x1p-1022;
  const ulong bits = AS(ulong, small ? a * 0x1p54 : a);
  const int exponent = (int)(bits >> 52) - (small ? 54 : 0) + 3 * 1024 - 1023;
  const int n = exponent / 3 - 1024;
  const double m = AS(double, (bits & 0xffffffffffffful) | 0x3ff0000000000000ul) *
                   power_of_two(exponent % 3);
  // Each step of Halley's triples the right digits.
  double y = 0.8 + 0.18 * m - 0.005 * m * m;
  for (int i = 0; i < 4; ++i) {
    const double cube = y * y * y;
    y -= y * (cube - m) / (2.0 * cube + m);
  }
  const Pair square = exact_product(y, y);
  const double rest = FMA(-square.hi, y, m) - square.lo * y;
  return COPYSIGN(scaled(y + rest / (3.0 * square.hi), n), x);
}
double __weft_own_hypot_double(double x, double y) {
  const double a = __builtin_elementwise_max(ABS(x), ABS(y));
  const double b = __builtin_elementwise_min(ABS(x), ABS(y));
  if (ABS(x) == (double)INFINITY || ABS(y) == (double)INFINITY) return (double)INFINITY;
  if (x != x || y != y) return x + y;
  const double up = a > 0x1p500 ? 0x1p-600 : a < 0x1p-400 ? 0x1p600 : 1.0;
  const double back = a > 0x1p500 ? 0x1p600 : a < 0x1p-400 ? 0x1p-600 : 1.0;
  const double p = a * up, q = b * up;
  return SQRT(FMA(p, p, q * q)) * back;
}

// e^(-x^2).
INLINE double bell(double x) {
  const Pair square = exact_product(x, x);
  return exponential((Pair){-square.hi, -square.lo});
}
// erf for 0 <= x < 2.5: a series of positive terms.
INLINE double error_series(double x) {
  const double twice_square = 2.0 * x * x;
  double term = x, sum = x;
  for (int i = 1; term > sum * 0x1p-56; ++i) {
    term *= twice_square / (double)(2 * i + 1);
    sum += term;
  }
  return 0x1.20dd750429b6dp+0 * bell(x) * sum;
}
// erfc for x >= 0.7: a continued fraction, which converges the faster the larger x is.
INLINE double complement_fraction(double x) {
  if (x > 27.3) return 0.0;
  const double square = x * x;
  double fraction = 0.0;
  for (int i = (int)(230.0 / square) + 12; i > 0; --i)
    fraction = 0.5 * (double)i / (x + fraction);
  return 0x1.20dd750429b6dp-1 * bell(x) / (x + fraction);
}
double __weft_own_erf_double(double x) {
  const double a = ABS(x);
  if (x != x) return x;
  return COPYSIGN(a < 2.5 ? error_series(a) : 1.0 - complement_fraction(a), x);
}
double __weft_own_erfc_double(double x) {
  if (x != x) return x;
  // Below, the difference from 1 loses at most two bits.
  if (x >= 0.7) return complement_fraction(x);
  return x < 0.0 ? 1.0 + __weft_own_erf_double(-x) : 1.0 - error_series(x);
}

// log(gamma(x)) for x >= 10, by Stirling's series.
INLINE Pair stirling(double x) {
  const double w = 1.0 / x, z = w * w;
  double p = 43867.0 / 244188.0;
  p = FMA(p, z, -3617.0 / 122400.0);
  p = FMA(p, z, 1.0 / 156.0);
  p = FMA(p, z, -691.0 / 360360.0);
  p = FMA(p, z, 1.0 / 1188.0);
  p = FMA(p, z, -1.0 / 1680.0);
  p = FMA(p, z, 1.0 / 1260.0);
  p = FMA(p, z, -1.0 / 360.0);
  p = FMA(p, z, 1.0 / 12.0);
  const Pair l = logarithm(x);
  Pair sum = exact_product(x - 0.5, l.hi);
  sum.lo += (x - 0.5) * l.lo;
  sum = sum_of(sum, (Pair){-x, 0.0});
  sum = sum_of(sum, (Pair){0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55});
  return sum_of(sum, (Pair){p * w, 0.0});
}
// x(x+1)... until the argument is at least 10; what rounding took from that is in `rest`.
typedef struct {
  double product, argument, rest;
} Shifted;
INLINE Shifted shifted(double x) {
  Shifted s = {1.0, x, 0.0};
  int n = 0;
  for (; x + (double)n < 10.0; ++n) s.product *= x + (double)n;
  const Pair sum = exact_sum(x, (double)n);
  s.argument = sum.hi;
  s.rest = sum.lo;
  return s;
}
// gamma(x + rest) for x > 0.
INLINE double positive_gamma(double x, double rest) {
  if (x > 172.0) return (double)INFINITY;
  const Shifted s = shifted(x);
  Pair l = stirling(s.argument);
  // The derivative of log(gamma) is about log(x - 1/2).
  l.lo += (s.rest + rest) * __weft_own_log_double(s.argument - 0.5);
  return exponential(l) / s.product;
}
INLINE double sine_of_turns(double x) {
  const double turn = x - 2.0 * RINT(0.5 * x);
  const double folded = ABS(turn) > 0.5 ? COPYSIGN(1.0, turn) - turn : turn;
  return __weft_own_sinpi_double(folded);
}
double __weft_own_tgamma_double(double x) {
  if (x != x) return x;
  if (x == 0.0) return COPYSIGN((double)INFINITY, x);
  if (x > 0.0) return positive_gamma(x, 0.0);
  if (x == __builtin_elementwise_floor(x)) return (double)NAN;
  if (x > -0x1p-60) return 1.0 / x;
  // Towards the end gamma(1 - x) overflows before its inverse vanishes.
  Pair mirrored = exact_sum(1.0, -x);
  double product = 1.0;
  for (int i = 0; i < 20 && mirrored.hi > 165.0; ++i) {
    mirrored.hi -= 1.0;
    product *= mirrored.hi;
  }
  return PI_HI / (sine_of_turns(x) * positive_gamma(mirrored.hi, mirrored.lo)) / product;
}
INLINE double positive_log_gamma(double x) {
  if (x > 0x1p1000) return x * (__weft_own_log_double(x) - 1.0);
  // Around its zeros: the first terms of the series there.
  const double from_one = x - 1.0, from_two = x - 2.0;
  if (ABS(from_one) < 0x1p-18)
    return from_one *
           FMA(from_one, FMA(from_one, -0.40068563438653143, 0.8224670334241132), -0.5772156649015329);
  if (ABS(from_two) < 0x1p-18)
    return from_two *
           FMA(from_two, FMA(from_two, -0.0673523010531981, 0.3224670334241132), 0.42278433509846714);
  const Shifted s = shifted(x);
  Pair l = stirling(s.argument);
  l.lo += s.rest * __weft_own_log_double(s.argument - 0.5);
  if (s.product != 1.0) {
    const Pair minus = logarithm(s.product);
    l = sum_of(l, (Pair){-minus.hi, -minus.lo});
  }
  return l.hi + l.lo;
}
double __weft_own_lgamma_double(double x) {
  if (x != x) return x;
  if (ABS(x) == (double)INFINITY || x == 0.0) return (double)INFINITY;
  if (ABS(x) < 0x1p-60) return -__weft_own_log_double(ABS(x));
  if (x > 0.0) return positive_log_gamma(x);
  if (x == __builtin_elementwise_floor(x)) return (double)INFINITY;
  return __weft_own_log_double(PI_HI / ABS(x * sine_of_turns(x))) - positive_log_gamma(-x);
}
FLOAT1(tgamma)
FLOAT1(lgamma)
