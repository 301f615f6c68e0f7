// Functions of float, and of double, by instructions of NVIDIA's GPUs: __weft_nvidia_<function>_<type>
// stands for OpenCL C's function there, and __weft_machine_<instruction> for the instruction
// (compiler/gpu/native_math.h), of which exp2, log2 and rcp are right to some 2^-22. Largest errors in
// ULP: tanh 2.1, cbrt 0.9, log 1.0, log2 1.9, log10 1.8, pow and powr 3.6, hypot 1.6, rsqrt of double 1.5.
#include "own_float.def"

float __weft_machine_exp2(float x);
float __weft_machine_small_exp2(float x);  // denormal, too
float __weft_machine_log2(float x);
float __weft_machine_rcp(float x);
float __weft_machine_sqrt(float x);  // zero of what is denormal
double __weft_machine_rsqrt(double x);  // of some 20 bits, and infinite for subnormal numbers

float __weft_nvidia_tanh_float(float x) {
  const float a = ABS(x), near = small_tanh(a);
  const float e = __weft_machine_exp2(a * (2.0f * LOG2E_HI));
  const float far = FMA(-2.0f, __weft_machine_rcp(1.0f + e), 1.0f);
  return COPYSIGN(a < 0.55f ? near : far, x);
}

float __weft_nvidia_cbrt_float(float x) {
  const float a = ABS(x);
  const bool small = a < FLT_MIN;
  const float m = small ? a * 0x1p24f : a;
  // Of 1 / cbrt(m), to 2^-19.
  const float r = __weft_machine_exp2(__weft_machine_log2(m) * -0x1.555556p-2f);
  const float square = r * r, y = m * square, rest = FMA(-y * y, y, m);
  const float root = FMA(rest, square * 0x1.555556p-2f, y) * (small ? 0x1p-8f : 1.0f);
  return AS(uint, a) - 1u < 0x7f7fffffu ? COPYSIGN(root, x) : x;
}

// By a power of two, so that the larger one is about 1.
float __weft_nvidia_hypot_float(float x, float y) {
  const float larger = __builtin_elementwise_max(ABS(x), ABS(y));  // of NaN the other
  const uint exponent = __builtin_elementwise_min(AS(uint, larger) & 0x7f800000u, 0x7e800000u);
  const float up = AS(float, 0x7f000000u - exponent);
  const float back = AS(float, __builtin_elementwise_max(exponent, 0x00400000u));  // at least 2^-127
  const float c = x * up, d = y * up;
  const float root = __weft_machine_sqrt(FMA(c, c, d * d)) * back;
  return larger == INF ? INF : root;
}

// x = 2^exponent * m of what is positive and finite, for m from `least`, by its bits, to its double.
typedef struct {
  float m, exponent;
} Parts;
INLINE Parts parts_of(float x, uint least) {
  const bool small = x < FLT_MIN;
  const uint bits = AS(uint, small ? x * 0x1p24f : x);
  const uint exponent = (bits - least) & 0xff800000u;
  const float n = FMA((float)AS(int, exponent), 0x1p-23f, small ? -24.0f : 0.0f);
  return (Parts){AS(float, bits - exponent), n};
}
#define LEAST_OF_LOGARITHMS 0x3f400000u  // 3/4
#define LEAST_OF_POWERS 0x3f3504f3u      // sqrt(1/2)

INLINE float logarithm_of(float m) {  // from 3/4 to 3/2
  const float f = m - 1.0f;
  return FMA(f * f, logarithm_factor(f), f);
}
INLINE float logarithm_with_ends(float x, float y) {
  const float beyond = FMA(x, INF, INF);  // NaN of what is negative
  const float result = AS(uint, x) < 0x7f800000u ? y : beyond;
  return x == 0.0f ? -INF : result;
}
float __weft_nvidia_log_float(float x) {
  const Parts p = parts_of(x, LEAST_OF_LOGARITHMS);
  return logarithm_with_ends(x, FMA(p.exponent, LN2_HI, logarithm_of(p.m)));
}
float __weft_nvidia_log2_float(float x) {
  const Parts p = parts_of(x, LEAST_OF_LOGARITHMS);
  return logarithm_with_ends(x, FMA(logarithm_of(p.m), LOG2E_HI, p.exponent));
}
float __weft_nvidia_log10_float(float x) {
  const Parts p = parts_of(x, LEAST_OF_LOGARITHMS);
  const float f = p.m - 1.0f, low = FMA(logarithm_tail(f), LOG10E_HI, f * LOG10E_LO);
  const float sum = FMA(f, LOG10E_HI, FMA(p.exponent, LOG10_2_LO, low));
  return logarithm_with_ends(x, FMA(p.exponent, LOG10_2_HI, sum));
}

// log2(x) of a finite positive number, right to some 2^-34 of it.
INLINE Pair binary_logarithm(float x) {
  const Parts parts = parts_of(x, LEAST_OF_POWERS);
  const float f = parts.m - 1.0f;
  return binary_logarithm_of(parts.exponent, f, __weft_machine_rcp(2.0f + f));
}
// x to the power of y, where |x| to it is `power` unless one of them has an end of its range.
INLINE float power_at_ends(float x, float y, float power) {
  const float magnitude = ABS(x);
  const bool grows = (magnitude > 1.0f) == (y > 0.0f);
  const bool has_limit = magnitude == 0.0f || magnitude == INF || ABS(y) == INF;
  const float size = !has_limit ? power : magnitude == 1.0f ? 1.0f : grows ? INF : 0.0f;
  const bool integral = y == __builtin_elementwise_trunc(y);
  const float halved = y * 0.5f;
  const bool odd = integral && halved != __builtin_elementwise_trunc(halved);
  float result = odd ? COPYSIGN(size, x) : size;
  result = x < 0.0f && !integral && magnitude < INF ? (float)NAN : result;
  result = x != x || y != y ? x + y : result;
  return x == 1.0f || y == 0.0f ? 1.0f : result;
}
float __weft_nvidia_pow_float(float x, float y) {
  const Pair logarithm = binary_logarithm(ABS(x));
  const Pair product = exact_product(logarithm.hi, y);
  const float low = FMA(logarithm.lo, y, product.lo);
  // What goes beyond the largest power that is finite belongs to the correction, which may be below.
  const float most = 0x1.fffffep+6f;
  const float high = __weft_machine_small_exp2(__builtin_elementwise_min(product.hi, most));
  const float beyond = __builtin_elementwise_max(product.hi - most, 0.0f);
  const float rest = (ABS(product.hi) < 160.0f ? low : 0.0f) + beyond;
  const float power = FMA(high, rest * LN2_HI, high);
  const bool is_ordinary = AS(uint, x) - 1u < 0x7f7fffffu && ABS(y) < INF;
  const float result = __builtin_expect(is_ordinary, 1) ? power : power_at_ends(x, y, power);
  return y == 1.0f ? x : result;
}
// Undefined where y * log(x) is, though pow is not.
float __weft_nvidia_powr_float(float x, float y) {
  const bool is_end = x == 0.0f || x == INF;
  const bool undefined = !(x >= 0.0f) || y != y || (is_end && y == 0.0f) ||
                         (x == 1.0f && ABS(y) == INF);
  const float power = __weft_nvidia_pow_float(ABS(x), y);
  return undefined ? (float)NAN : power;
}

double __weft_nvidia_rsqrt_double(double x) {
  const double y = __weft_machine_rsqrt(x), h = FMA(-x * y, y, 1.0);
  const double result = FMA(y * h, FMA(0.375, h, 0.5), y);
  const bool is_normal = x >= 0x1p-1022 && x < (double)INFINITY;
  return __builtin_expect(is_normal, 1) ? result : 1.0 / __builtin_elementwise_sqrt(x);
}
