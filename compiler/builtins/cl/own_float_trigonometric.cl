// The trigonometric functions of float, in float. Largest errors in ULP: sin and cos 1.6, tan 3.3 with
// an approximate reciprocal.
#include "own_float.def"

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
  return (Reduced){AS(float, AS(uint, r) ^ (sign & 0x80000000u)), x < 0.0f ? 0u - quadrant : quadrant};
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
  const float y = quadrant & 1 ? cosine(v.r) : sine(v.r);
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
  const float y = FMA(p, z * v.r, v.r);
  return x == 0.0f ? x : v.quadrant & 1 ? 1.0f / -y : y;
}
