// The trigonometric functions of float and their inverses, in float. Largest errors in ULP, with an
// approximate reciprocal: sin and cos 1.5, tan 3.3, sinpi 1.1, atan 1.9, atan2 3, asin 1.6,
// acos 1.2.
#include "own_float.def"

#define PI_HI 0x1.921fb6p+1f
#define PI_LO -0x1.777a5cp-24f
#define PI2_1 0x1.921fb6p+0f
#define PI2_2 -0x1.777a5cp-25f
#define PI2_3 -0x1.ee59dap-50f
// Up to here the first product with these is exact.
#define LARGEST_REDUCED 0x1p17f

// 2/pi, the first bit behind the point being the first of the second word.
__constant static const uint two_over_pi[] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                              0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

// x - quadrant * pi/2, from -pi/4 to pi/4, but for rounding.
typedef struct {
  float r;
  uint quadrant;
} Reduced;

// Of the product of x and 2/pi only what lies between 4 and 2^-70 is computed.
INLINE Reduced reduce_large(float x) {
  const uint bits = AS(uint, ABS(x));
  const ulong m = (bits & 0x7fffffu) | 0x800000u;
  const int first = (int)(bits >> 23) - 150 - 2 + 32;  // of the bits that count
  const int word = first >> 5, shift = first & 31;
  const ulong w01 = (ulong)two_over_pi[word] << 32 | two_over_pi[word + 1];
  const ulong w23 = (ulong)two_over_pi[word + 2] << 32 | two_over_pi[word + 3];
  const ulong w12 = w01 << 32 | w23 >> 32;
  const ulong low = m * (uint)(w23 << shift >> 32);
  const ulong middle = m * (uint)(w12 << shift >> 32) + (low >> 32);
  const uint high = (uint)m * (uint)(w01 << shift >> 32) + (uint)(middle >> 32);
  const ulong product = (ulong)high << 32 | (uint)middle;
  const long fraction = (long)(product << 2 | (uint)low >> 30);
  const uint negative = (uint)(fraction < 0);
  const ulong size = (ulong)(fraction < 0 ? -fraction : fraction);
  // In two parts, of 24 bits and of 32.
  const float upper = (float)(uint)(size >> 40) * 0x1p-24f;
  const float lower = (float)(uint)(size >> 8) * 0x1p-56f;
  const float r = FMA(upper, PI2_1, FMA(upper, PI2_2, lower * PI2_1));
  const uint quadrant = (high >> 30) + negative;
  const uint sign = AS(uint, x) ^ negative << 31;
  return (Reduced){AS(float, AS(uint, r) ^ (sign & 0x80000000u)),
                   x < 0.0f ? 0u - quadrant : quadrant};
}
INLINE Reduced reduce(float x) {
  if (__builtin_expect(ABS(x) > LARGEST_REDUCED, 0)) {
    const Reduced large = reduce_large(x);
    return (Reduced){ABS(x) < INF ? large.r : (float)NAN, large.quadrant};
  }
  const Integer n = nearest(x, 0x1.45f306p-1f);
  const float r = FMA(-n.value, PI2_3, FMA(-n.value, PI2_2, FMA(-n.value, PI2_1, x)));
  return (Reduced){r, (uint)n.number};
}

INLINE float sine(float r) {
  const float z = r * r;
  float p = FMA(0x1.7c242ep-19f, z, -0x1.a05944p-13f);
  p = FMA(p, z, 0x1.111174p-7f);
  p = FMA(p, z, -0x1.555556p-3f);
  return FMA(p, z * r, r);
}
INLINE float cosine(float r) {
  const float z = r * r;
  float p = FMA(0x1.99e61cp-16f, z, -0x1.6c0c24p-10f);
  p = FMA(p, z, 0x1.55554ap-5f);
  return FMA(FMA(p, z, -0.5f), z, 1.0f);
}
// The sine of what was reduced, negative in the upper quadrants.
INLINE float sine_of(Reduced v, uint quadrant) {
  const float s = sine(v.r), c = cosine(v.r), y = quadrant & 1 ? c : s;
  return AS(float, AS(uint, y) ^ (quadrant & 2) << 30);
}
float __weft_own_sin_float(float x) {
  const Reduced v = reduce(x);
  const float y = sine_of(v, v.quadrant);
  return x == 0.0f ? x : y;
}
float __weft_own_cos_float(float x) {
  const Reduced v = reduce(x);
  return sine_of(v, v.quadrant + 1);
}
float __weft_own_tan_float(float x) {
  const Reduced v = reduce(x);
  const float z = v.r * v.r;
  float p = FMA(0x1.146fe6p-8f, z, 0x1.dad0ccp-12f);
  p = FMA(p, z, 0x1.58456ep-7f);
  p = FMA(p, z, 0x1.5f2186p-6f);
  p = FMA(p, z, 0x1.ba92bp-5f);
  p = FMA(p, z, 0x1.110f98p-3f);
  p = FMA(p, z, 0x1.555556p-2f);
  const float y = FMA(p, z * v.r, v.r), inverse = 1.0f / -y;
  return x == 0.0f ? x : v.quadrant & 1 ? inverse : y;
}

// One reduction for both.
INLINE OVERLOAD float both_of(float x, float* cosine) {
  const Reduced v = reduce(x);
  const float y = sine_of(v, v.quadrant);
  *cosine = sine_of(v, v.quadrant + 1);
  return x == 0.0f ? x : y;
}
#define DEFINE_BOTH(n, half)                                       \
  INLINE OVERLOAD float##n both_of(float##n x, float##n* cosine) { \
    float##half first, second;                                     \
    float##n y;                                                    \
    y.lo = both_of(x.lo, &first);                                  \
    y.hi = both_of(x.hi, &second);                                 \
    cosine->lo = first;                                            \
    cosine->hi = second;                                           \
    return y;                                                      \
  }
DEFINE_BOTH(2, )
DEFINE_BOTH(4, 2)
DEFINE_BOTH(8, 4)
DEFINE_BOTH(16, 8)
INLINE OVERLOAD float3 both_of(float3 x, float3* cosine) {
  float2 first;
  float second;
  float3 y;
  y.xy = both_of(x.xy, &first);
  y.z = both_of(x.z, &second);
  *cosine = (float3)(first, second);
  return y;
}
#define DEFINE_SINCOS(space, n)                                             \
  OVERLOAD float##n __weft_own_sincos(float##n x, space float##n* cosine) { \
    float##n other;                                                         \
    const float##n y = both_of(x, &other);                                  \
    *cosine = other;                                                        \
    return y;                                                               \
  }
#define DEFINE_ALL_SINCOS(n, V, unused) STORABLE_SPACES(DEFINE_SINCOS, n)
WIDTHS(DEFINE_ALL_SINCOS, )

// |x| <= 1/2. The polynomials are for the sine and the cosine of pi * f.
float __weft_own_sinpi_float(float x) {
  const float a = ABS(x);
  const bool large = a > 0.25f;
  const float f = large ? 0.5f - a : a, z = f * f;
  float s = FMA(0x1.443bdep-4f, z, -0x1.32adacp-1f);
  s = FMA(s, z, 0x1.466b78p+1f);
  s = FMA(s, z, -0x1.4abbcep+2f);
  s = FMA(f, PI_HI, f * FMA(s, z, PI_LO));
  float c = FMA(0x1.cf81a4p-3f, z, -0x1.55a18p+0f);
  c = FMA(c, z, 0x1.03c196p+2f);
  c = FMA(c, z, -0x1.3bd3ccp+2f);
  c = FMA(c, z, 1.0f);
  return COPYSIGN(large ? c : s, x);
}

// For 0 <= t <= 1.
INLINE float arc_tangent(float t) {
  const float z = t * t;
  float p = FMA(-0x1.051e66p-9f, z, 0x1.83d37cp-7f);
  p = FMA(p, z, -0x1.0e0e7p-5f);
  p = FMA(p, z, 0x1.ea36aep-5f);
  p = FMA(p, z, -0x1.5cf8fcp-4f);
  p = FMA(p, z, 0x1.c258eap-4f);
  p = FMA(p, z, -0x1.245018p-3f);
  p = FMA(p, z, 0x1.9996d4p-3f);
  p = FMA(p, z, -0x1.555556p-2f);
  return FMA(p, z * t, t);
}
float __weft_own_atan_float(float x) {
  const float a = ABS(x);
  const bool inverted = a > 1.0f;
  const float y = arc_tangent(inverted ? 1.0f / a : a);
  return COPYSIGN(inverted ? PI2_1 + (PI2_2 - y) : y, x);
}
float __weft_own_atan2_float(float y, float x) {
  const float a = ABS(x), b = ABS(y);
  const bool steep = b > a, left = AS(int, x) < 0;
  const float small = steep ? a : b, large = steep ? b : a;
  // Equal also where there is no quotient: both are zero or infinite.
  float t = small == large ? 1.0f : small / large;
  t = large == 0.0f ? 0.0f : t;
  // What atan2pi says of infinities and of zeros is exact: of 1 this has to be the nearest number.
  const float v = t == 1.0f ? 0.5f * PI2_1 : arc_tangent(t);
  const float turned = steep != left ? -v : v;
  const float high = steep ? PI2_1 : left ? PI_HI : 0.0f;
  const float low = steep ? PI2_2 : left ? PI_LO : 0.0f;
  return x != x || y != y ? x + y : COPYSIGN(high + (low + turned), y);
}

// (asin(v) - v) / v for z = v^2 up to 1/4.
INLINE float arc_sine_tail(float z) {
  float p = FMA(0x1.34c5eap-5f, z, 0x1.d52272p-7f);
  p = FMA(p, z, 0x1.04d2e8p-5f);
  p = FMA(p, z, 0x1.6ca754p-5f);
  p = FMA(p, z, 0x1.3338acp-4f);
  return z * FMA(p, z, 0x1.55554cp-3f);
}
// Near 1 it is the arc sine of a small root that is doubled and taken from a right angle.
typedef struct {
  bool large;
  float root, rest;  // the sum is the arc sine of |x| or of the root
} ArcSine;
INLINE ArcSine arc_sine(float x) {
  const float a = ABS(x);
  const bool large = a > 0.5f;
  const Pair v = root(FMA(a, -0.5f, 0.5f));
  const float z = large ? FMA(a, -0.5f, 0.5f) : a * a;
  const float base = large ? v.hi : a;
  return (ArcSine){large, base, FMA(base, arc_sine_tail(z), large ? v.lo : 0.0f)};
}
float __weft_own_asin_float(float x) {
  const ArcSine v = arc_sine(x);
  const float near_one = FMA(-2.0f, v.root, PI2_1) + FMA(-2.0f, v.rest, PI2_2);
  return COPYSIGN(v.large ? near_one : v.root + v.rest, x);
}
float __weft_own_acos_float(float x) {
  const ArcSine v = arc_sine(x);
  const float from = x < 0.0f ? -1.0f : 1.0f;
  const float middle = FMA(-from, v.root, PI2_1) + FMA(-from, v.rest, PI2_2);
  const float left = FMA(-2.0f, v.root, PI_HI) + FMA(-2.0f, v.rest, PI_LO);
  const float right = 2.0f * (v.root + v.rest), near_one = x < 0.0f ? left : right;
  return v.large ? near_one : middle;
}
