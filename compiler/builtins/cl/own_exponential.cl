// Exponentials, logarithms, powers and the hyperbolic functions.
#include "own_math.def"

double __weft_own_exp_double(double x) { return exponential((Pair){x, 0.0}); }
double __weft_own_exp2_double(double x) {
  if (!(__builtin_elementwise_abs(x) < 1100.0)) return exponential((Pair){x, 0.0});
  const double n = RINT(x);
  const Exponential e = reduced_exponential(times((Pair){x - n, 0.0}, LN2_HI, LN2_LO));
  return scaled(1.0 + e.fraction, (int)n + e.n);
}
double __weft_own_exp10_double(double x) {
  if (!(__builtin_elementwise_abs(x) < 400.0)) return exponential((Pair){x * 2.0, 0.0});
  return exponential(times((Pair){x, 0.0}, LN10_HI, LN10_LO));
}
double __weft_own_expm1_double(double x) {
  if (x != x || __builtin_elementwise_abs(x) < 0x1p-54) return x;
  if (x > 710.0) return (double)INFINITY;
  if (x < -50.0) return -1.0;
  const Exponential e = reduced_exponential((Pair){x, 0.0});
  if (e.n == 0) return e.fraction;
  if (e.n > 60) return scaled(1.0 + e.fraction, e.n);
  return (power_of_two(e.n) - 1.0) + scaled(e.fraction, e.n);
}

double __weft_own_log_double(double x) {
  if (outside_logarithm(x)) return logarithm_outside(x);
  const Pair l = logarithm(x);
  return l.hi + l.lo;
}
double __weft_own_log2_double(double x) {
  if (outside_logarithm(x)) return logarithm_outside(x);
  const Logarithm l = split_logarithm(x);
  const Pair sum = sum_of((Pair){l.exponent, 0.0}, times(l.mantissa, LOG2E_HI, LOG2E_LO));
  return sum.hi + sum.lo;
}
double __weft_own_log10_double(double x) {
  if (outside_logarithm(x)) return logarithm_outside(x);
  const Logarithm l = split_logarithm(x);
  const Pair sum = sum_of(times((Pair){l.exponent, 0.0}, LOG10_2_HI, LOG10_2_LO),
                          times(l.mantissa, LOG10E_HI, LOG10E_LO));
  return sum.hi + sum.lo;
}
double __weft_own_log1p_double(double x) {
  if (__builtin_elementwise_abs(x) < 0x1p-54) return x;
  const Pair one_more = exact_sum(1.0, x);
  if (outside_logarithm(one_more.hi)) return logarithm_outside(one_more.hi);
  const Pair l = logarithm(one_more.hi);
  return l.hi + (l.lo + one_more.lo / one_more.hi);
}

// x is not negative; y * log(x) decides alone.
INLINE double power_of_magnitude(double x, double y) {
  if (x == 0.0) return y < 0.0 ? (double)INFINITY : 0.0;
  if (x == (double)INFINITY) return y < 0.0 ? 0.0 : x;
  const Pair l = logarithm(x);
  const double estimate = l.hi * y;
  if (!(__builtin_elementwise_abs(estimate) < 1000.0))
    return estimate > 0.0 ? (double)INFINITY : 0.0;
  Pair product = exact_product(l.hi, y);
  product.lo += l.lo * y;
  return exponential(ordered_sum(product.hi, product.lo));
}
double __weft_own_pow_double(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return x + y;
  const double magnitude = ABS(x);
  if (ABS(y) == (double)INFINITY) {
    if (magnitude == 1.0) return 1.0;
    return (magnitude > 1.0) == (y > 0.0) ? (double)INFINITY : 0.0;
  }
  const bool integral = y == __builtin_elementwise_trunc(y);
  const double halved = y * 0.5;
  const bool odd = integral && halved != __builtin_elementwise_trunc(halved);
  if (x < 0.0 && magnitude < (double)INFINITY && !integral) return (double)NAN;
  const double power = power_of_magnitude(magnitude, y);
  return odd ? COPYSIGN(power, x) : power;
}

double __weft_own_sinh_double(double x) {
  const double a = ABS(x);
  const double root = __weft_own_exp_double(0.5 * a);
  const double t = __weft_own_expm1_double(a);
  return COPYSIGN(a < 22.0 ? 0.5 * (t + t / (t + 1.0)) : 0.5 * root * root, x);
}
double __weft_own_cosh_double(double x) {
  const double a = ABS(x);
  const double root = __weft_own_exp_double(0.5 * a);
  const double e = __weft_own_exp_double(a);
  return a < 22.0 ? 0.5 * e + 0.5 / e : 0.5 * root * root;
}
double __weft_own_tanh_double(double x) {
  const double t = __weft_own_expm1_double(2.0 * ABS(x));
  return COPYSIGN(ABS(x) > 22.0 ? 1.0 : t / (t + 2.0), x);
}
double __weft_own_asinh_double(double x) {
  const double a = ABS(x), square = a * a;
  if (!(a < 0x1p28)) return COPYSIGN(__weft_own_log_double(a) + LN2_HI, x);
  return COPYSIGN(__weft_own_log1p_double(a + square / (1.0 + SQRT(1.0 + square))), x);
}
double __weft_own_acosh_double(double x) {
  if (x < 1.0) return (double)NAN;
  if (!(x < 0x1p28)) return __weft_own_log_double(x) + LN2_HI;
  const double t = x - 1.0;
  return __weft_own_log1p_double(t + SQRT(2.0 * t + t * t));
}
double __weft_own_atanh_double(double x) {
  const double a = ABS(x);
  return COPYSIGN(0.5 * __weft_own_log1p_double(2.0 * a / (1.0 - a)), x);
}
