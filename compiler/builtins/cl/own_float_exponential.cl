// Exponentials, logarithms and powers of float, in float. Largest errors in ULP: exp 1.1, exp2 0.9,
// exp10 1.0, expm1 1.5, log 1.0, log2 1.2, log10 1.0, log1p 1.5, pow 2.5.
#include "own_float.def"

float __weft_own_exp_float(float x) {
  const Exponential e = reduced_exponential(clamped(x, -105.0f, 89.0f));
  return scaled(1.0f + e.fraction, e.n);
}
float __weft_own_exp2_float(float x) {
  const float y = clamped(x, -151.0f, 128.0f);
  const Integer n = nearest(y, 1.0f);
  return scaled(power_of_fraction(y - n.value), n.number);
}
float __weft_own_exp10_float(float x) {
  const float y = clamped(x, -46.0f, 39.0f);
  const Integer n = nearest(y, 0x1.a934fp+1f);
  const float r = FMA(-n.value, LOG10_2_LO, FMA(-n.value, LOG10_2_HI, y));
  float p = FMA(0x1.a7bfc2p-3f, r, 0x1.157b82p-1f);
  p = FMA(p, r, 0x1.2bd928p+0f);
  p = FMA(p, r, 0x1.046f8ap+1f);
  p = FMA(p, r, 0x1.53524ap+1f);
  p = FMA(p, r, 0x1.26bb1cp+1f);
  return scaled(FMA(p, r, 1.0f), n.number);
}
float __weft_own_expm1_float(float x) {
  const Exponential e = reduced_exponential(clamped(x, -20.0f, 89.0f));
  // 2^n may be infinite, half of it is not.
  const float half_power = AS(float, (e.n + 126) << 23);
  const float y = 2.0f * FMA(half_power, e.fraction, half_power - 0.5f);
  return COPYSIGN(e.n == 0 ? e.fraction : y, x);
}

float __weft_own_log_float(float x) {
  const Logarithm l = split_logarithm(x);
  const float sum = l.f + FMA(l.exponent, LN2_LO, l.tail);
  return with_ends(x, FMA(l.exponent, LN2_HI, sum));
}
float __weft_own_log2_float(float x) {
  const Logarithm l = split_logarithm(x);
  const float low = FMA(l.tail, LOG2E_HI, l.f * LOG2E_LO);
  return with_ends(x, l.exponent + FMA(l.f, LOG2E_HI, low));
}
float __weft_own_log10_float(float x) {
  const Logarithm l = split_logarithm(x);
  const float low = FMA(l.tail, LOG10E_HI, l.f * LOG10E_LO);
  const float sum = FMA(l.f, LOG10E_HI, FMA(l.exponent, LOG10_2_LO, low));
  return with_ends(x, FMA(l.exponent, LOG10_2_HI, sum));
}
float __weft_own_log1p_float(float x) {
  const float sum = 1.0f + x;
  const int exponent = (AS(int, sum) - AS(int, ROOT_OF_HALF)) >> 23;
  // 1 + f = (1 + x) / 2^exponent, by four at first, because that is a normal number.
  const float factor = AS(float, (129 - exponent) << 23);
  const float f = exponent == 0 ? x : FMA(0.25f * x, factor, FMA(0.25f, factor, -1.0f));
  const float e = float_of(exponent);
  const float y = FMA(e, LN2_HI, f + FMA(e, LN2_LO, logarithm_tail(f)));
  return COPYSIGN(with_ends(sum, y), x);
}

// log2(x) of a finite positive number, right to some 2^-34 of it.
INLINE Pair binary_logarithm(float x) {
  const bool small = x < FLT_MIN;
  const int least = AS(int, ROOT_OF_HALF);
  const int bits = AS(int, small ? x * 0x1p25f : x) - least;
  const float exponent = float_of((bits >> 23) - (small ? 25 : 0));
  // log(m) = 2 atanh(s), s = f / (2 + f).
  const float f = AS(float, (bits & 0x7fffff) + least) - 1.0f;
  const float base = 2.0f + f, base_rest = f - (base - 2.0f);
  const float inverse = 1.0f / base;
  const float s = f * inverse;
  const float s_rest = inverse * FMA(-s, base_rest, FMA(-s, base, f));
  const float z = s * s;
  float p = FMA(0x1.549d62p-2f, z, 0x1.a60036p-2f);
  p = FMA(p, z, 0x1.27769ap-1f);
  p = FMA(p, z, 0x1.ec709ep-1f);
  Pair y = exact_product(s, 2.0f * LOG2E_HI);
  y.lo += FMA(s * z, p, FMA(s, 2.0f * LOG2E_LO, s_rest * FMA(z, 2.0f * LOG2E_HI, 2.0f * LOG2E_HI)));
  const Pair sum = ordered_sum(exponent, y.hi);
  return ordered_sum(sum.hi, sum.lo + y.lo);
}
// 2^(x * y) for x from binary_logarithm or infinite.
INLINE float power_of_two(Pair x, float y) {
  Pair product = exact_product(x.hi, y);
  product.lo = FMA(x.lo, y, product.lo);
  const bool inside = ABS(product.hi) < 160.0f;  // else the low part may be NaN
  const float high = clamped(product.hi, -160.0f, 160.0f);
  const Integer n = nearest(high, 1.0f);
  const float fraction = (high - n.value) + (inside ? product.lo : 0.0f);
  return scaled(power_of_fraction(fraction), n.number);
}
float __weft_own_pow_float(float x, float y) {
  const float magnitude = ABS(x);
  Pair logarithm = binary_logarithm(magnitude);
  logarithm.hi = magnitude == 0.0f ? -INF : magnitude == INF ? INF : logarithm.hi;
  const float power = power_of_two(logarithm, y);
  const bool integral = y == __builtin_elementwise_trunc(y);
  const float halved = y * 0.5f;
  const bool odd = integral && halved != __builtin_elementwise_trunc(halved);
  float result = odd ? COPYSIGN(power, x) : power;
  result = x < 0.0f && !integral && magnitude < INF ? (float)NAN : result;
  // -1 to an infinite power is 1.
  result = magnitude == 1.0f && ABS(y) == INF ? 1.0f : result;
  result = x != x || y != y ? x + y : result;
  return x == 1.0f || y == 0.0f ? 1.0f : result;
}
