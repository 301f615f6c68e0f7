// Roots and error functions of float, in float. Largest errors in ULP: cbrt 0.8, hypot 2 with an
// approximate root, erf 5.5, erfc 6.
#include "own_float.def"

float __weft_own_cbrt_float(float x) {
  const float a = ABS(x);
  const bool small = a < FLT_MIN;
  const float m = small ? a * 0x1p24f : a;
  // Of 1 / cbrt(m): h is at most 0.103 at first, and less than h^4 / 2 after a step.
  float r = AS(float, 0x54a1f000u - AS(uint, m) / 3);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float h = FMA(-(m * r) * r, r, 1.0f);
    r = FMA(r * h, FMA(h, FMA(h, 0x1.61f9aep-3f, 0x1.c71c72p-3f), 0x1.555556p-2f), r);
  }
  const float y = m * r * r;
  const Pair square = exact_product(y, y);
  const float rest = FMA(-square.hi, y, m) - square.lo * y;
  const float root = FMA(rest * r, r * 0x1.555556p-2f, y);
  return a > 0.0f && a < INF ? COPYSIGN(small ? root * 0x1p-8f : root, x) : x;
}
float __weft_own_hypot_float(float x, float y) {
  const float p = ABS(x), q = ABS(y);
  const float a = p > q ? p : q, b = p > q ? q : p;
  const float up = a > 0x1p60f ? 0x1p-70f : a < 0x1p-40f ? 0x1p80f : 1.0f;
  const float back = a > 0x1p60f ? 0x1p70f : a < 0x1p-40f ? 0x1p-80f : 1.0f;
  const float c = a * up, d = b * up;
  const float z = SQRT(FMA(c, c, d * d)) * back;
  return p == INF || q == INF ? INF : x != x || y != y ? x + y : z;
}

// erf for |x| <= 1.
INLINE float error_near_zero(float x) {
  const float z = x * x;
  float p = FMA(0x1.4771fep-14f, z, -0x1.a3515ep-11f);
  p = FMA(p, z, 0x1.53f224p-8f);
  p = FMA(p, z, -0x1.b7f71ap-6f);
  p = FMA(p, z, 0x1.ce2ce6p-4f);
  p = FMA(p, z, -0x1.81273ep-2f);
  p = FMA(p, z, 0x1.06eba8p-3f);
  return FMA(p, x, x);
}
// erfc for a >= 1/2: e^(-a^2) / (a + 2) and a polynomial of (a - 2) / (a + 2).
INLINE float complement(float a) {
  const float x = clamped(a, 0.5f, 11.0f);
  const float inverse = 1.0f / (x + 2.0f), q = (x - 2.0f) * inverse;
  float p = FMA(-0x1.dba414p-12f, q, -0x1.a550dep-11f);
  p = FMA(p, q, 0x1.870214p-9f);
  p = FMA(p, q, 0x1.a82a5ep-8f);
  p = FMA(p, q, -0x1.6011c4p-6f);
  p = FMA(p, q, -0x1.2a8862p-5f);
  p = FMA(p, q, 0x1.1e2d86p-2f);
  p = FMA(p, q, -0x1.5fd386p-1f);
  p = FMA(p, q, 0x1.058672p+0f);
  const Pair square = exact_product(x, x);
  const Exponential e = reduced_exponential(-square.hi);
  const float bell = 1.0f + e.fraction;
  return scaled(p * inverse * FMA(-square.lo, bell, bell), e.n);
}
// One polynomial, of x * x as far as erf is less than 1, times x.
float __weft_own_erf_float(float x) {
  const float y = clamped(x, -0x1.f70a3ep+1f, 0x1.f70a3ep+1f), t = FMA(y * y, 0x1.093368p-3f, -1.0f);
  float p = FMA(0x1.04abeap-9f, t, -0x1.32ac5ep-8f);
  p = FMA(p, t, 0x1.57168ep-9f);
  p = FMA(p, t, -0x1.92db86p-9f);
  p = FMA(p, t, 0x1.bdde68p-7f);
  p = FMA(p, t, -0x1.8689b8p-6f);
  p = FMA(p, t, 0x1.f51906p-6f);
  p = FMA(p, t, -0x1.5abbd4p-5f);
  p = FMA(p, t, 0x1.dea96ap-5f);
  p = FMA(p, t, -0x1.30cabp-4f);
  p = FMA(p, t, 0x1.730c08p-4f);
  p = FMA(p, t, -0x1.be5c18p-4f);
  p = FMA(p, t, 0x1.11fb4p-3f);
  p = FMA(p, t, -0x1.6ff218p-3f);
  p = FMA(p, t, 0x1.7074b6p-2f);
  return clamped(p * y, -1.0f, 1.0f);
}
float __weft_own_erfc_float(float x) {
  const float a = ABS(x), near = 1.0f - error_near_zero(x), far = complement(a);
  const float y = x < 0.0f ? 2.0f - far : far;
  return a < 0.5f ? near : y;
}
