// Roots, error functions and the gamma function.
#include "own_math.def"

// From 1 / cbrt(m), but for h as a part of it, to the same but for less than h^4 / 2.
INLINE double nearer_root(double m, double r) {
  const double h = FMA(-(m * r) * r, r, 1.0);
  return FMA(r * h, FMA(h, FMA(h, 14.0 / 81.0, 2.0 / 9.0), 1.0 / 3.0), r);
}
double __weft_own_cbrt_double(double x) {
  const double a = ABS(x);
  const bool small = a < 0x1p-1022;
  const double m = small ? a * 0x1p54 : a;
  // At first h is at most 0.103.
  double r = AS(double, (ulong)(0x553ee890u - (uint)(AS(ulong, m) >> 32) / 3) << 32);
  r = nearer_root(m, r);
  r = nearer_root(m, r);
  const double y = m * r * r;
  const Pair square = exact_product(y, y);
  const double rest = FMA(-square.hi, y, m) - square.lo * y;
  const double root = FMA(rest * r, r * (1.0 / 3.0), y);
  return a > 0.0 && a < (double)INFINITY ? COPYSIGN(small ? root * 0x1p-18 : root, x) : x;
}
double __weft_own_hypot_double(double x, double y) {
  const double p = ABS(x), q = ABS(y);
  const double a = p > q ? p : q, b = p > q ? q : p;
  const double up = a > 0x1p500 ? 0x1p-600 : a < 0x1p-400 ? 0x1p600 : 1.0;
  const double back = a > 0x1p500 ? 0x1p600 : a < 0x1p-400 ? 0x1p-600 : 1.0;
  const double c = a * up, d = b * up;
  const double z = SQRT(FMA(c, c, d * d)) * back;
  const bool is_number = (x == x) & (y == y);
  const bool is_infinite = (p == (double)INFINITY) | (q == (double)INFINITY);
  return is_infinite ? (double)INFINITY : is_number ? z : x + y;
}

// erf for |x| <= 1.
INLINE double error_near_zero(double x) {
  const double z = x * x;
  double p = FMA(-0x1.abae353b8c9f6p-31, z, 0x1.d71b21cf3dcd1p-27);
  p = FMA(p, z, -0x1.5c072df7c0e9ep-23);
  p = FMA(p, z, 0x1.b97fd5d5cea58p-20);
  p = FMA(p, z, -0x1.f4ca4dbca9a02p-17);
  p = FMA(p, z, 0x1.f9a2bab00ed8ep-14);
  p = FMA(p, z, -0x1.c02db03e3cd72p-11);
  p = FMA(p, z, 0x1.565bccf92eaadp-8);
  p = FMA(p, z, -0x1.b82ce311fab6fp-6);
  p = FMA(p, z, 0x1.ce2f21a040d21p-4);
  p = FMA(p, z, -0x1.812746b0379bdp-2);
  return x * FMA(p, z, 0x1.20dd750429b6dp+0);
}
// erfc for a from 1 to 6, as e to the polynomial that is its logarithm, right to some 2^-52 as a part
// of 1.
INLINE double error_left(double a) {
  double p = FMA(-0x1.2107b6d339541p-33, a, 0x1.91e88adbc7023p-28);
  p = FMA(p, a, -0x1.fc93a45f6f964p-24);
  p = FMA(p, a, 0x1.8789a79a6e5bbp-20);
  p = FMA(p, a, -0x1.9bf6175c2c289p-17);
  p = FMA(p, a, 0x1.39a57671fb76bp-14);
  p = FMA(p, a, -0x1.61a4cb767f27bp-12);
  p = FMA(p, a, 0x1.22a2e3b80c3d6p-10);
  p = FMA(p, a, -0x1.3503176c33d9ap-9);
  p = FMA(p, a, 0x1.c0d6d029b06dp-11);
  p = FMA(p, a, 0x1.3191969946b98p-6);
  p = FMA(p, a, -0x1.a3e5e7448a8f6p-4);
  p = FMA(p, a, -0x1.45ffab36a5e1fp-1);
  p = FMA(p, a, -0x1.20dc00881917fp+0);
  p = FMA(p, a, -0x1.3ea219f57217fp-19);
  const Integer n = nearest(p, LOG2E_HI);
  const double r = FMA(-n.value, LN2_LO, FMA(-n.value, LN2_HI, p));
  double q = FMA(0x1.270857da95b8cp-22, r, 0x1.72e913dcd8242p-19);
  q = FMA(q, r, 0x1.a01b7b5af9ee9p-16);
  q = FMA(q, r, 0x1.a0198d6210807p-13);
  q = FMA(q, r, 0x1.6c16c0c8ae2ebp-10);
  q = FMA(q, r, 0x1.11111125afebp-7);
  q = FMA(q, r, 0x1.5555555588d52p-5);
  q = FMA(q, r, 0x1.55555555507e5p-3);
  q = FMA(q, r, 0x1.ffffffffffed4p-2);
  return scaled(1.0 + FMA(q, r * r, r), n);
}
// erfc for a >= 0: e^(-a^2) / (1 + 2 a) and a polynomial of (a - 4) / (a + 4).
INLINE double complement(double a) {
  const bool vanishes = a > 27.23;
  const double x = vanishes ? 1.0 : a;
  const double sum = x + 4.0, scale = FMA(2.0, x, 1.0);
  const double both = 1.0 / (sum * scale);
  const double q = (x - 4.0) * scale * both;
  double p = FMA(-0x1.bc0bae1417223p-30, q, -0x1.c2ea3b9f3cd66p-27);
  p = FMA(p, q, -0x1.107b71e000d67p-27);
  p = FMA(p, q, 0x1.e84b1cf1d755p-24);
  p = FMA(p, q, 0x1.0b36d1bc7415bp-24);
  p = FMA(p, q, -0x1.bf3a55cb80e84p-21);
  p = FMA(p, q, 0x1.44d89e6d8f30dp-22);
  p = FMA(p, q, 0x1.7f9e6d794519fp-18);
  p = FMA(p, q, -0x1.78ad91b08a967p-17);
  p = FMA(p, q, -0x1.9967fec93a742p-16);
  p = FMA(p, q, 0x1.3be1002e0194ep-13);
  p = FMA(p, q, -0x1.a1de94aede522p-13);
  p = FMA(p, q, -0x1.8d4aa3b0058ebp-11);
  p = FMA(p, q, 0x1.49c671a979043p-8);
  p = FMA(p, q, -0x1.0962387a632d9p-6);
  p = FMA(p, q, 0x1.3079edf9aa46bp-5);
  p = FMA(p, q, -0x1.0fb06dfe87795p-4);
  p = FMA(p, q, 0x1.7fee004df8e99p-4);
  p = FMA(p, q, -0x1.9ddb23c3e596ep-4);
  p = FMA(p, q, 0x1.16ecefcfa5f55p-4);
  p = FMA(p, q, 0x1.f7f5df66fcb71p-7);
  p = FMA(p, q, -0x1.1df1ad154a29bp-3);
  p = FMA(p, q, 0x1.3ba5916e9fd7fp+0);
  const Pair square = exact_product(x, x);
  const Exponential e = reduced_exponential((Pair){-square.hi, -square.lo});
  const double y = scaled((1.0 + e.fraction) * (p * sum) * both, e.n);
  return vanishes ? 0.0 : y;
}
double __weft_own_erf_double(double x) {
  const double a = ABS(x), far = 1.0 - error_left(clamped(a, 0.0, 6.0));
  return a < 1.0 ? error_near_zero(x) : COPYSIGN(far, x);
}
double __weft_own_erfc_double(double x) {
  const double y = complement(ABS(x));
  return x < 0.0 ? 2.0 - y : y;
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
