// Powers and roots of float, in float. Largest errors in ULP: pow and pown 2.5, rootn 1.
#include "own_float.def"

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
// 2^x, infinite or zero where x.hi is far out, whatever x.lo is then.
INLINE float power_of_two(Pair x) {
  const bool inside = ABS(x.hi) < 160.0f;
  const float high = clamped(x.hi, -160.0f, 160.0f);
  const Integer n = nearest(high, 1.0f);
  const float fraction = (high - n.value) + (inside ? x.lo : 0.0f);
  return scaled(power_of_fraction(fraction), n.number);
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
