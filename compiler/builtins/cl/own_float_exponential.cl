// Exponentials, logarithms and hyperbolic functions of float, in float. Largest errors in ULP:
// exp 1.1, exp2 0.9, exp10 1.0, expm1 1.5, log 1.0, log2 1.9, log10 1.8, log1p 1.0, sinh and
// cosh 1.7, tanh 1.6, asinh 1.8, acosh 2.5, atanh 1.8.
#include "own_float.def"

float __weft_own_exp_float(float x) {
  const Exponential e = reduced_exponential(bounded(x, -104.0f, 89.0f));
  return zero_below(x, -104.0f, scaled(1.0f + e.fraction, e.n));
}
float __weft_own_exp2_float(float x) {
  const float y = bounded(x, -150.0f, 128.0f);
  const Integer n = nearest(y, 1.0f);
  return zero_below(x, -150.0f, scaled(power_of_fraction(y - n.value), n));
}
float __weft_own_exp10_float(float x) {
  const float y = bounded(x, -45.5f, 39.0f);
  const Integer n = nearest(y, 0x1.a934fp+1f);
  const float r = FMA(-n.value, LOG10_2_LO, FMA(-n.value, LOG10_2_HI, y));
  float p = FMA(0x1.a7bfc2p-3f, r, 0x1.157b82p-1f);
  p = FMA(p, r, 0x1.2bd928p+0f);
  p = FMA(p, r, 0x1.046f8ap+1f);
  p = FMA(p, r, 0x1.53524ap+1f);
  p = FMA(p, r, 0x1.26bb1cp+1f);
  return zero_below(x, -45.5f, scaled(FMA(p, r, 1.0f), n));
}
float __weft_own_expm1_float(float x) {
  const Exponential e = reduced_exponential(clamped(x, -20.0f, 89.0f));
  // 2^n may be infinite, half of it is not.
  const float half_power = AS(float, (e.n.number + 126) << 23);
  const float y = 2.0f * FMA(half_power, e.fraction, half_power - 0.5f);
  return COPYSIGN(e.n.number == 0 ? e.fraction : y, x);
}

float __weft_own_log_float(float x) {
  const Logarithm l = split_logarithm(x);
  const float sum = l.f + FMA(l.exponent, LN2_REST, l.tail);
  return FMA(l.exponent, LN2_BELOW, sum);
}
float __weft_own_log2_float(float x) {
  const Logarithm l = split_logarithm(x);
  const float low = FMA(l.tail, LOG2E_HI, l.f * LOG2E_LO);
  return l.exponent + FMA(l.f, LOG2E_HI, low);
}
float __weft_own_log10_float(float x) {
  const Logarithm l = split_logarithm(x);
  const float low = FMA(l.tail, LOG10E_HI, l.f * LOG10E_LO);
  const float sum = FMA(l.f, LOG10E_HI, FMA(l.exponent, LOG10_2_REST, low));
  return FMA(l.exponent, LOG10_2_BELOW, sum);
}
float __weft_own_log1p_float(float x) { return logarithm_of_sum(x); }

// e^x / 2 for x >= 0.
INLINE float half_exponential(float x) {
  const Exponential e = reduced_exponential(clamped(x, 0.0f, 91.0f));
  return raised(1.0f + e.fraction, (Integer){e.n.value - 1.0f, e.n.number - 1});
}
float __weft_own_sinh_float(float x) {
  const float a = ABS(x), z = x * x;
  float p = FMA(0x1.712fep-19f, z, 0x1.a03d6p-13f);
  p = FMA(p, z, 0x1.1110b8p-7f);
  p = FMA(p, z, 0x1.555556p-3f);
  const float e = half_exponential(a);
  const float near = FMA(p, z * x, x), far = COPYSIGN(FMA(-0.25f, 1.0f / e, e), x);
  return a < 1.0f ? near : far;
}
float __weft_own_cosh_float(float x) {
  const float e = half_exponential(ABS(x));
  return FMA(0.25f, 1.0f / e, e);
}
float __weft_own_tanh_float(float x) {
  const float a = ABS(x), near = small_tanh(a);
  const float e = half_exponential(clamped(2.0f * a, 0.0f, 20.0f));
  const float far = 1.0f - 1.0f / (e + 0.5f);
  return COPYSIGN(a < 0.55f ? near : far, x);
}
// From here on asinh and acosh are log(2x) to the last bit.
#define LOGARITHMIC 0x1p40f
float __weft_own_asinh_float(float x) {
  const float a = ABS(x), square = a * a;
  const bool far = a > LOGARITHMIC;
  const float sum = FMA(square, 1.0f / (1.0f + SQRT(1.0f + square)), a);
  const float y = logarithm_of_sum(far ? a : sum);
  return COPYSIGN(far ? y + LN2_HI : y, x);
}
float __weft_own_acosh_float(float x) {
  const float t = x - 1.0f;
  const bool far = x > LOGARITHMIC;
  const Pair v = root(FMA(t, t, 2.0f * t));
  const float y = logarithm_of_sum(far ? x : t + v.hi + v.lo);
  return x < 1.0f ? (float)NAN : far ? y + LN2_HI : y;
}
float __weft_own_atanh_float(float x) {
  const float a = ABS(x), twice = 2.0f * a;
  const float sum = FMA(twice * a, 1.0f / (1.0f - a), twice);
  const float y = COPYSIGN(0.5f * logarithm_of_sum(sum), x);
  return a > 1.0f ? (float)NAN : y;
}
