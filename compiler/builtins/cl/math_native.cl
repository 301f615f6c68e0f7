// OpenCL C 6.15.2: half_ (8192 ULP) and native_ (implementation-defined) functions, float only.
#include "sleef.def"

#define DEFINE1(n, V, name, f) \
  PURE float##n name(float##n x) { return __weft_sleef_##f##_float##n(x); }
#define FAST1(name, f) WIDTHS(DEFINE1, half_##name, f) WIDTHS(DEFINE1, native_##name, f)
FAST1(cos, cos_u35)
FAST1(exp, exp_u10)
FAST1(exp2, exp2_u35)
FAST1(exp10, exp10_u35)
FAST1(log, log_u35)
FAST1(log2, log2_u35)
FAST1(log10, log10_u10)
FAST1(sin, sin_u35)
FAST1(tan, tan_u35)

#define DEFINE_FAST(n, V, prefix)                                                              \
  PURE float##n prefix##_divide(float##n x, float##n y) { return x / y; }                      \
  PURE float##n prefix##_recip(float##n x) { return (float##n)(1.0f) / x; }                    \
  PURE float##n prefix##_sqrt(float##n x) { return __builtin_elementwise_sqrt(x); }            \
  PURE float##n prefix##_rsqrt(float##n x) {                                                   \
    return (float##n)(1.0f) / __builtin_elementwise_sqrt(x);                                   \
  }
WIDTHS(DEFINE_FAST, half)
WIDTHS(DEFINE_FAST, native)

// Large errors are allowed, not another domain.
#define DEFINE_POWR(n, V, unused)                                                      \
  PURE float##n half_powr(float##n x, float##n y) { return powr(x, y); }               \
  PURE float##n native_powr(float##n x, float##n y) {                                  \
    return __weft_sleef_pow_u10_float##n(x, y);                                        \
  }
WIDTHS(DEFINE_POWR, )
