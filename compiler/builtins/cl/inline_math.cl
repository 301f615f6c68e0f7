// Functions of float that targets with fused multiply-add take from here rather than from SLEEF:
// __weft_inline_<function>_<type>, in place of every __weft_sleef_<function>_<accuracy>_<type>. In
// straight lines, which vectors of lanes make their own, and the same in every width. exp errs by
// at most 1.01 ULP, log by 0.83 (the specification allows 3).
#include "types.def"

#define FMA(x, y, z) __builtin_elementwise_fma(x, y, z)
#define INLINED __attribute__((const, always_inline))

// Adding it leaves a number's nearest integer in the lowest bits.
#define ROUNDER 0x1.8p23f
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f

// x = n ln(2) + r and e^x = 2^n e^r with a polynomial for e^r; the power of two in two steps, so
// that neither overflows unless the result does.
#define DEFINE_EXP(n, V, unused)                                                     \
  INLINED float##n __weft_inline_exp_float##n(float##n x) {                          \
    const float##n turned = FMA(x, (float##n)(0x1.715476p+0f), (float##n)(ROUNDER)); \
    const float##n whole = turned - (float##n)(ROUNDER);                             \
    const uint##n exponent = AS(uint##n, turned) - AS(uint##n, (float##n)(ROUNDER)); \
    float##n r = FMA(whole, (float##n)(-LN2_HIGH), x);                               \
    r = FMA(whole, (float##n)(-LN2_LOW), r);                                         \
    float##n p = FMA((float##n)(1.9875691500e-4f), r, (float##n)(1.3981999507e-3f)); \
    p = FMA(p, r, (float##n)(8.3334519073e-3f));                                     \
    p = FMA(p, r, (float##n)(4.1665795894e-2f));                                     \
    p = FMA(p, r, (float##n)(1.6666665459e-1f));                                     \
    p = FMA(p, r, (float##n)(5.0000001201e-1f));                                     \
    const float##n fraction = FMA(p, r * r, r) + (float##n)(1.0f);                   \
    const uint##n half_way = AS(uint##n, AS(int##n, exponent) >> 1);                 \
    const uint##n bias = (uint##n)(127u);                                            \
    float##n y = fraction * AS(float##n, (half_way + bias) << 23) *                  \
                 AS(float##n, (exponent - half_way + bias) << 23);                   \
    y = x > (float##n)(88.8f) ? (float##n)(INFINITY) : y;                            \
    return x < (float##n)(-104.0f) ? (float##n)(0.0f) : y;                           \
  }
WIDTHS(DEFINE_EXP, )

// x = 2^n m with m from sqrt(1/2) to sqrt(2); a polynomial for log(m) around 1.
#define DEFINE_LOG(n, V, unused)                                                      \
  INLINED float##n __weft_inline_log_float##n(float##n x) {                           \
    const float##n least = (float##n)(FLT_MIN);                                       \
    const float##n normal = x < least ? x * (float##n)(0x1p25f) : x;                  \
    const uint##n bits = AS(uint##n, normal) - (uint##n)(0x3f3504f3u);                \
    const uint##n mantissa = (bits & (uint##n)(0x7fffffu)) + (uint##n)(0x3f3504f3u);  \
    const float##n exponent = CAST_##n(float, AS(int##n, bits) >> 23);                \
    const float##n e = x < least ? exponent - (float##n)(25.0f) : exponent;           \
    const float##n f = AS(float##n, mantissa) - (float##n)(1.0f);                     \
    float##n p = FMA((float##n)(7.0376836292e-2f), f, (float##n)(-1.1514610310e-1f)); \
    p = FMA(p, f, (float##n)(1.1676998740e-1f));                                      \
    p = FMA(p, f, (float##n)(-1.2420140846e-1f));                                     \
    p = FMA(p, f, (float##n)(1.4249322787e-1f));                                      \
    p = FMA(p, f, (float##n)(-1.6668057665e-1f));                                     \
    p = FMA(p, f, (float##n)(2.0000714765e-1f));                                      \
    p = FMA(p, f, (float##n)(-2.4999993993e-1f));                                     \
    p = FMA(p, f, (float##n)(3.3333331174e-1f));                                      \
    const float##n square = f * f;                                                    \
    float##n y = FMA(e, (float##n)(-2.12194440e-4f), p * f * square);                 \
    y = f + FMA(square, (float##n)(-0.5f), y);                                        \
    y = FMA(e, (float##n)(0.693359375f), y);                                          \
    y = x == (float##n)(0.0f) ? (float##n)(-INFINITY) : y;                            \
    y = x < (float##n)(0.0f) ? (float##n)(NAN) : y;                                   \
    return x < (float##n)(INFINITY) ? y : x;                                          \
  }
WIDTHS(DEFINE_LOG, )
