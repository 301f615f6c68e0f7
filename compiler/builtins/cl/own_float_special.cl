// Roots, error functions and the gamma function of float, in float. Largest errors in ULP: cbrt 0.8,
// hypot 2 with an approximate root, erf 5.5, erfc 6, tgamma 2.9, and 5 with
// an approximate quotient, lgamma of what is not negative 2.5: OpenCL C gives it no bound.
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
  // By a power of two, so that the larger one is about 1.
  const uint exponent = AS(uint, a) & 0x7f800000u;
  const uint bounded = exponent < 0x7e800000u ? exponent : 0x7e800000u;
  const float up = AS(float, 0x7f000000u - bounded);
  const float back = AS(float, bounded > 0 ? bounded : 0x00400000u);  // 2^-127 for zero's exponent
  const float c = a * up, d = b * up;
  const float z = SQRT(FMA(c, c, d * d)) * back;
  return p == INF || q == INF ? INF : z;
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
  const bool vanishes = a > 10.06f;
  const float x = vanishes ? 1.0f : a < 0.5f ? 0.5f : a;
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
  const float y = scaled(p * inverse * FMA(-square.lo, bell, bell), e.n);
  return vanishes ? 0.0f : y;
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

float __weft_own_log_float(float x);
double __weft_own_lgamma_double(double x);

// gamma(3/2 + s) for |s| <= 1/2.
INLINE float gamma_around(float s) {
  float p = FMA(0x1.13aaccp-6f, s, -0x1.84678cp-6f);
  p = FMA(p, s, 0x1.8a91b8p-6f);
  p = FMA(p, s, -0x1.29391cp-5f);
  p = FMA(p, s, 0x1.e24552p-5f);
  p = FMA(p, s, -0x1.3e52dap-4f);
  p = FMA(p, s, 0x1.2832aap-3f);
  p = FMA(p, s, -0x1.b771aap-4f);
  p = FMA(p, s, 0x1.a8c4f8p-2f);
  p = FMA(p, s, 0x1.08ea4ep-5f);
  return FMA(p, s, 0x1.c5bf8ap-1f);
}
INLINE Pair grown(Pair product, float factor) {
  const float high = product.hi * factor;
  return (Pair){high, FMA(product.lo, factor, FMA(product.hi, factor, -high))};
}
// From 1 to 2 the function itself; x (x + 1) (x + 2)... leads there from below, and back from above.
float __weft_own_tgamma_float(float x) {
  const float y = clamped(x, -42.5f, 35.5f);
  const bool below = y < 1.0f, is_far = ABS(y) > 20.0f;
  // So that neither overflows before the result does, or its inverse vanishes.
  Pair product = {is_far ? (below ? 0x1p-60f : 0.5f) : 1.0f, 0.0f};
  float t = y;
  while (t >= 2.0f) {
    t -= 1.0f;
    product = grown(product, t);
  }
  for (; t < 1.0f; t += 1.0f) product = grown(product, t);
  const float p = gamma_around(t - 1.5f);
  const float quotient = p / (product.hi + product.lo);
  const float grown_up = FMA(p, product.hi, p * product.lo);
  const float value = below ? (is_far ? quotient * 0x1p-60f : quotient)
                            : (is_far ? grown_up * 2.0f : grown_up);
  const float whole = __builtin_elementwise_floor(x), half_of_it = 0.5f * whole;
  const float vanished = half_of_it == __builtin_elementwise_floor(half_of_it) ? 0.0f : -0.0f;
  const float finite = x > 0x1.18521ep+5f ? INF : x < -42.5f ? vanished : value;
  return x == 0.0f ? COPYSIGN(INF, x) : x < 0.0f && x == whole ? (float)NAN : finite;
}

// log(gamma(1 + u)) / u for |u| <= 1/2, and log(gamma(2 + u)) / u.
INLINE float log_gamma_by_one(float u) {
  float p = FMA(0x1.4177dep-3f, u, -0x1.6c54f4p-3f);
  p = FMA(p, u, 0x1.b17c1ap-5f);
  p = FMA(p, u, -0x1.9cdb14p-5f);
  p = FMA(p, u, 0x1.acc256p-4f);
  p = FMA(p, u, -0x1.e68dap-4f);
  p = FMA(p, u, 0x1.007cd2p-3f);
  p = FMA(p, u, -0x1.259eb4p-3f);
  p = FMA(p, u, 0x1.5b40ep-3f);
  p = FMA(p, u, -0x1.a8c904p-3f);
  p = FMA(p, u, 0x1.15134p-2f);
  p = FMA(p, u, -0x1.9a4d36p-2f);
  p = FMA(p, u, 0x1.a51a66p-1f);
  return FMA(p, u, -0x1.2788dp-1f);
}
INLINE float log_gamma_by_two(float u) {
  float p = FMA(-0x1.1af50ap-12f, u, 0x1.2ac02cp-11f);
  p = FMA(p, u, -0x1.34c3b8p-10f);
  p = FMA(p, u, 0x1.795d1cp-9f);
  p = FMA(p, u, -0x1.e42476p-8f);
  p = FMA(p, u, 0x1.51357ep-6f);
  p = FMA(p, u, -0x1.13dfecp-4f);
  p = FMA(p, u, 0x1.4a34ccp-2f);
  return FMA(p, u, 0x1.b0ee6p-2f);
}
float __weft_own_lgamma_float(float x) {
  if (x < 0.0f) return (float)__weft_own_lgamma_double((double)x);
  const float log_x = __weft_own_log_float(x);
  if (x >= 8.0f) {  // Stirling's series
    const float w = 1.0f / x, z = w * w;
    const float p = FMA(FMA(z, 1.0f / 1260.0f, -1.0f / 360.0f), z, 1.0f / 12.0f);
    return FMA(x - 0.5f, log_x - 1.0f, FMA(p, w, 0x1.acfe4p-2f));
  }
  const bool is_small = x < 0.5f;
  float t = is_small ? x + 1.0f : x, product = 1.0f;
  while (t >= 2.5f) {
    t -= 1.0f;
    product *= t;
  }
  const float u = t < 1.5f ? t - 1.0f : t - 2.0f;
  const float near = u * (t < 1.5f ? log_gamma_by_one(u) : log_gamma_by_two(u));
  if (is_small) return near - log_x;
  return x < 2.5f ? near : near + __weft_own_log_float(product);
}
