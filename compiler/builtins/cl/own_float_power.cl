// Powers and roots of float, in float. Largest errors in ULP: pow and powr 4.6, pown 3, rootn 1.
#include "own_float.def"

// log2(x) of a finite positive number, right to some 2^-34 of it.
INLINE Pair binary_logarithm(float x) {
  const float m = __weft_part_mantissa_float(x), exponent = __weft_part_exponent_float(x, m);
  const float f = m - 1.0f;
  return binary_logarithm_of(exponent, f, 1.0f / (2.0f + f));
}
// 2^x, infinite or zero where x.hi is far out, whatever x.lo is then.
INLINE float power_of_two(Pair x) {
  const bool inside = ABS(x.hi) < 160.0f;
  const float high = bounded(x.hi, -151.0f, 160.0f);
  const Integer n = nearest(high, 1.0f);
  const float fraction = (high - n.value) + (inside ? x.lo : 0.0f);
  return zero_below(x.hi, -151.0f, scaled(power_of_fraction(fraction), n));
}
// Of the magnitude of any x, with infinities.
INLINE Pair whole_logarithm(float x) {
  const float magnitude = ABS(x);
  Pair y = binary_logarithm(magnitude);
  y.hi = magnitude == 0.0f ? -INF : magnitude == INF ? INF : y.hi;
  return y;
}

float __weft_own_pow_float(float x, float y) {
  const Pair logarithm = whole_logarithm(x);
  Pair product = exact_product(logarithm.hi, y);
  product.lo = FMA(logarithm.lo, y, product.lo);
  const float power = power_of_two(product), magnitude = ABS(x);
  const bool integral = y == __builtin_elementwise_trunc(y);
  const float halved = y * 0.5f;
  const bool odd = integral && halved != __builtin_elementwise_trunc(halved);
  float result = odd ? COPYSIGN(power, x) : power;
  result = x < 0.0f && !integral && magnitude < INF ? (float)NAN : result;
  // -1 to an infinite power is 1.
  result = magnitude == 1.0f && ABS(y) == INF ? 1.0f : result;
  result = x != x || y != y ? x + y : result;
  result = y == 1.0f ? x : result;
  return x == 1.0f || y == 0.0f ? 1.0f : result;
}
// Undefined where y * log(x) is, though pow is not.
float __weft_own_powr_float(float x, float y) {
  const bool is_end = x == 0.0f || x == INF;
  const bool undefined = !(x >= 0.0f) || y != y || (is_end && y == 0.0f) ||
                         (x == 1.0f && ABS(y) == INF);
  return undefined ? (float)NAN : __weft_own_pow_float(ABS(x), y);
}
// As those of double (own_fast.cl).
typedef struct {
  float value;
  bool is_normal;  // else it is none
} Power;
INLINE Power normal_power(float x, float y) {
  const Pair logarithm = binary_logarithm(x);
  Pair product = exact_product(logarithm.hi, y);
  product.lo = FMA(logarithm.lo, y, product.lo);
  const Integer n = nearest(product.hi, 1.0f);
  const float power = raised(power_of_fraction((product.hi - n.value) + product.lo), n);
  const bool is_zero = AS(uint, x) == 0;
  const float value = is_zero ? 0.0f : power;
  return (Power){y == 1.0f ? x : value, ((x > 0.0f) & (x < INF) & (ABS(product.hi) < 125.0f)) |
                                            (is_zero & (y > 0.0f))};
}
float __weft_own_fast_pow_float(float x, float y) {
  const Power power = normal_power(x, y);
  return __builtin_expect(power.is_normal, 1) ? power.value : __weft_own_pow_float(x, y);
}
float __weft_own_fast_powr_float(float x, float y) {
  const Power power = normal_power(x, y);
  return __builtin_expect(power.is_normal, 1) ? power.value : __weft_own_powr_float(x, y);
}

// The exponent in two parts, of which float holds the first.
float __weft_own_pown_float(float x, int y) {
  const int high = y > -0x1000000 && y < 0x1000000 ? y : y & ~0xff;
  const float first = (float)high, second = (float)(y - high);
  const Pair logarithm = whole_logarithm(x);
  Pair product = exact_product(logarithm.hi, first);
  product.lo = FMA(logarithm.hi, second, FMA(logarithm.lo, first, product.lo));
  const float power = power_of_two(product);
  const float result = (y & 1) != 0 ? COPYSIGN(power, x) : power;
  return y == 0 ? 1.0f : x != x ? x : result;
}
float __weft_own_rootn_float(float x, int n) {
  const Pair logarithm = whole_logarithm(x);
  const float degree = (float)n, inverse = 1.0f / degree;
  Pair quotient = {logarithm.hi * inverse, 0.0f};
  quotient.lo = inverse * (FMA(-quotient.hi, degree, logarithm.hi) + logarithm.lo);
  const float power = power_of_two(quotient);
  const bool odd = (n & 1) != 0;
  const float result = odd ? COPYSIGN(power, x) : power;
  return n == 0 || x != x || (x < 0.0f && !odd) ? (float)NAN : result;
}
