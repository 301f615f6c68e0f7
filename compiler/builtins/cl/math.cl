// OpenCL C 6.15.2, math functions that SLEEF answers, alone or with its domain completed. Bounds in
// the comments are those of the full profile, in ULP of float. Where the bound is 4 or more, SLEEF's
// 3.5 are enough, at half the time of its 1.0.
#include "sleef.def"

#define PI 3.14159265358979323846264338327950288
#define LN2 0.693147180559945309417232121458176568

#define DEFINE_PLAIN1(n, V, T, name, f) \
  PURE T##n name(T##n x) { return __weft_sleef_##f##_##T##n(x); }
#define DEFINE_PLAIN2(n, V, T, name, f) \
  PURE T##n name(T##n x, T##n y) { return __weft_sleef_##f##_##T##n(x, y); }
#define PLAIN1(name, f) WIDTHS(DEFINE_PLAIN1, float, name, f) WIDTHS(DEFINE_PLAIN1, double, name, f)
#define PLAIN2(name, f) WIDTHS(DEFINE_PLAIN2, float, name, f) WIDTHS(DEFINE_PLAIN2, double, name, f)
PLAIN1(acos, acos_u35)
PLAIN1(asin, asin_u35)
PLAIN1(atan, atan_u35)
PLAIN1(atanh, atanh_u10)
PLAIN1(cbrt, cbrt_u10)
PLAIN1(cos, cos_u35)
PLAIN1(erf, erf_u10)
PLAIN1(erfc, erfc_u15)
PLAIN1(exp2, exp2_u10)
PLAIN1(exp10, exp10_u10)
PLAIN1(expm1, expm1_u10)
PLAIN1(log, log_u10)
PLAIN1(log2, log2_u10)
PLAIN1(log10, log10_u10)
PLAIN1(sin, sin_u35)
PLAIN1(tan, tan_u35)
PLAIN1(tanh, tanh_u35)
PLAIN2(atan2, atan2_u35)
PLAIN2(hypot, hypot_u05)

WIDTHS(DEFINE_PLAIN1, float, exp, exp_u10)

// SLEEF's double form ends 2e-6 before the function does: from 709 on it is squared.
#define DEFINE_EXP_DOUBLE(n, V, unused)                                                     \
  PURE double##n exp(double##n x) {                                                         \
    const long##n large = x > (double##n)(709.0);                                           \
    const double##n root =                                                                  \
        __weft_sleef_exp_u10_double##n(large != (long##n)0 ? x * (double##n)(0.5) : x);     \
    return large != (long##n)0 ? root * root : root;                                        \
  }
WIDTHS(DEFINE_EXP_DOUBLE, )

// SLEEF's sinh and cosh end where exp overflows, the functions themselves only after 2 e^x does.
#define HYPERBOLIC_LIMIT_float 88.0f
#define HYPERBOLIC_LIMIT_double 709.0
// From here on asinh, acosh and log1p are logarithms to the last bit.
#define LOGARITHMIC_float 0x1p30f
#define LOGARITHMIC_double 0x1p60
#define DEFINE_COMPLETED(n, V, T, U, I, B)                                                        \
  PURE T##n sinh(T##n x) {                                                                        \
    const T##n half_root = __weft_sleef_exp_u10_##T##n(ABS(x) * (T##n)((T)0.5));                  \
    const T##n far = COPYSIGN((T##n)((T)0.5) * half_root * half_root, x);                         \
    return ABS(x) > (T##n)(HYPERBOLIC_LIMIT_##T) ? far : __weft_sleef_sinh_u35_##T##n(x);         \
  }                                                                                               \
  PURE T##n cosh(T##n x) {                                                                        \
    const T##n half_root = __weft_sleef_exp_u10_##T##n(ABS(x) * (T##n)((T)0.5));                  \
    const T##n far = (T##n)((T)0.5) * half_root * half_root;                                      \
    return ABS(x) > (T##n)(HYPERBOLIC_LIMIT_##T) ? far : __weft_sleef_cosh_u35_##T##n(x);         \
  }                                                                                               \
  PURE T##n asinh(T##n x) {                                                                       \
    const T##n far = COPYSIGN(__weft_sleef_log_u10_##T##n(ABS(x)) + (T##n)((T)LN2), x);           \
    return ABS(x) > (T##n)(LOGARITHMIC_##T) ? far : __weft_sleef_asinh_u10_##T##n(x);             \
  }                                                                                               \
  PURE T##n acosh(T##n x) {                                                                       \
    const T##n far = __weft_sleef_log_u10_##T##n(x) + (T##n)((T)LN2);                             \
    return x > (T##n)(LOGARITHMIC_##T) ? far : __weft_sleef_acosh_u10_##T##n(x);                  \
  }                                                                                               \
  PURE T##n log1p(T##n x) {                                                                       \
    const T##n far = __weft_sleef_log_u10_##T##n(x);                                              \
    return x > (T##n)(LOGARITHMIC_##T) ? far : __weft_sleef_log1p_u10_##T##n(x);                  \
  }                                                                                               \
  PURE T##n asinpi(T##n x) { return __weft_sleef_asin_u10_##T##n(x) * (T##n)((T)(1 / PI)); }      \
  PURE T##n acospi(T##n x) { return __weft_sleef_acos_u10_##T##n(x) * (T##n)((T)(1 / PI)); }      \
  PURE T##n atanpi(T##n x) { return __weft_sleef_atan_u10_##T##n(x) * (T##n)((T)(1 / PI)); }      \
  PURE T##n atan2pi(T##n y, T##n x) {                                                             \
    return __weft_sleef_atan2_u10_##T##n(y, x) * (T##n)((T)(1 / PI));                             \
  }                                                                                               \
  /* The turns are removed exactly, so any argument ends in [-1/2, 1/2]. */                       \
  PURE T##n sinpi(T##n x) {                                                                       \
    const T##n turn = x - (T##n)(2) * __builtin_elementwise_rint(x * (T##n)((T)0.5));             \
    const T##n folded = ABS(turn) > (T##n)((T)0.5) ? COPYSIGN((T##n)(1), turn) - turn : turn;     \
    return folded == (T##n)(0) ? COPYSIGN((T##n)(0), x) : __weft_sleef_sinpi_u05_##T##n(folded);  \
  }                                                                                               \
  PURE T##n cospi(T##n x) {                                                                       \
    const T##n turn = ABS(x - (T##n)(2) * __builtin_elementwise_rint(x * (T##n)((T)0.5)));        \
    return __weft_sleef_sinpi_u05_##T##n((T##n)((T)0.5) - turn);                                  \
  }                                                                                               \
  /* tanpi(n) is copysign(0, n) for even n and copysign(0, -n) for odd n; tanpi(n + 1/2) is       \
     positive for even n and negative for odd n: the signs of the sine's and cosine's zeros. */   \
  PURE T##n tanpi(T##n x) {                                                                       \
    const T##n half_turn = x - __builtin_elementwise_rint(x);                                     \
    const T##n pole = COPYSIGN((T##n)((T)INFINITY), sinpi(x));                                    \
    const T##n cosine = cospi(x);                                                                 \
    const T##n value = sinpi(x) / cosine;                                                         \
    return ABS(half_turn) == (T##n)((T)0.5) ? pole : value;                                       \
  }
FLOAT_TYPES(WIDTHS, DEFINE_COMPLETED)

// Float goes through double: SLEEF's float forms lose the denormal and the largest results. SLEEF's
// double tgamma loses its accuracy below -170, where parts of it are denormal: gamma(x) is
// gamma(x + 16) / (x (x + 1) ... (x + 15)) there, and each of those sums is exact.
#define PAIR(x, i) ((x) + (i)) * ((x) + ((i) + 1))
#define QUAD(x, i) ((PAIR(x, i)) * (PAIR(x, (i) + 2)))
#define DEFINE_GAMMA(n, V, unused)                                                             \
  PURE float##n tgamma(float##n x) {                                                           \
    return CAST_##n(float, __weft_sleef_tgamma_u10_double##n(CAST_##n(double, x)));            \
  }                                                                                            \
  PURE double##n tgamma(double##n x) {                                                         \
    const long##n low = x < (double##n)(-170.0);                                               \
    const double##n moved =                                                                    \
        __weft_sleef_tgamma_u10_double##n(low != (long##n)0 ? x + (double##n)(16.0) : x);      \
    const double##n steps = (QUAD(x, 0.0) * QUAD(x, 4.0)) * (QUAD(x, 8.0) * QUAD(x, 12.0));    \
    return low != (long##n)0 ? moved / steps : moved;                                          \
  }                                                                                            \
  PURE float##n lgamma(float##n x) {                                                           \
    return CAST_##n(float, __weft_sleef_lgamma_u10_double##n(CAST_##n(double, x)));            \
  }                                                                                            \
  PURE double##n lgamma(double##n x) { return __weft_sleef_lgamma_u10_double##n(x); }
WIDTHS(DEFINE_GAMMA, )

#define DEFINE_SINCOS(space, n, T, I)                     \
  OVERLOAD T##n sincos(T##n x, space T##n* cosine) {      \
    *cosine = __weft_sleef_cos_u35_##T##n(x);             \
    return __weft_sleef_sin_u35_##T##n(x);                \
  }
#define DEFINE_WITH_POINTER(n, V, T, U, I, B) \
  STORABLE_SPACES(DEFINE_SINCOS, n, T, I)
FLOAT_TYPES(WIDTHS, DEFINE_WITH_POINTER)
