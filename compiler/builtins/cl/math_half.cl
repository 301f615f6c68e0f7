// OpenCL C 6.15.2 for half (cl_khr_fp16). Float results, rounded once, are within half's bounds: float
// holds every half, has more than twice its bits, and reaches far beyond its range.
#include "half.def"

HALF1(acos) HALF1(acosh) HALF1(acospi) HALF1(asin) HALF1(asinh) HALF1(asinpi) HALF1(atan)
HALF1(atanh) HALF1(atanpi) HALF1(cbrt) HALF1(cos) HALF1(cosh) HALF1(cospi) HALF1(erf) HALF1(erfc)
HALF1(exp) HALF1(exp2) HALF1(exp10) HALF1(expm1) HALF1(lgamma) HALF1(log) HALF1(log2) HALF1(log10)
HALF1(log1p) HALF1(logb) HALF1(rsqrt) HALF1(sin) HALF1(sinh) HALF1(sinpi) HALF1(tan) HALF1(tanh)
HALF1(tanpi) HALF1(tgamma)
HALF2(atan2) HALF2(atan2pi) HALF2(hypot) HALF2(pow) HALF2(powr)
// Exact in float, and so in half.
HALF1(ceil) HALF1(floor) HALF1(rint) HALF1(round) HALF1(trunc)
HALF2(fmod) HALF2(maxmag) HALF2(minmag) HALF2(remainder)
// Two roundings are as good as one where the result is that of one operation.
HALF1(sqrt)
HALF2(fdim)
HALF2_SCALAR(fmax) HALF2_SCALAR(fmin)

#define DEFINE_INTEGERS(n, V, unused)                                                          \
  PURE float##n pown(float##n, int##n);                                                        \
  PURE float##n rootn(float##n, int##n);                                                       \
  PURE float##n ldexp(float##n, int##n);                                                       \
  PURE int##n ilogb(float##n);                                                                 \
  PURE half##n pown(half##n x, int##n y) { return TO_HALF(n, pown(TO_FLOAT(n, x), y)); }       \
  PURE half##n rootn(half##n x, int##n y) { return TO_HALF(n, rootn(TO_FLOAT(n, x), y)); }     \
  PURE half##n ldexp(half##n x, int##n k) { return TO_HALF(n, ldexp(TO_FLOAT(n, x), k)); }     \
  PURE int##n ilogb(half##n x) { return ilogb(TO_FLOAT(n, x)); }
WIDTHS(DEFINE_INTEGERS, )
#define DEFINE_LDEXP_SCALAR(n, V, unused) \
  PURE half##n ldexp(half##n x, int k) { return ldexp(x, (int##n)(k)); }
VECTOR_WIDTHS(DEFINE_LDEXP_SCALAR, )

// The product is exact in float. Rounding the sum to odd keeps what the second rounding needs.
#define DEFINE_FMA(n, V, unused)                                                               \
  PURE half##n fma(half##n x, half##n y, half##n z) {                                          \
    const float##n product = TO_FLOAT(n, x) * TO_FLOAT(n, y), addend = TO_FLOAT(n, z);         \
    const float##n sum = product + addend;                                                     \
    const float##n part = sum - product;                                                       \
    const float##n error = (product - (sum - part)) + (addend - part);                         \
    const int##n bits = AS(int##n, sum);                                                       \
    const int##n above = (error < (float##n)(0.0f)) == (sum > (float##n)(0.0f)) ? (int##n)1    \
                                                                                : (int##n)0;   \
    const int##n odd = (bits - above) | (int##n)1;                                             \
    const int##n inexact = (error < (float##n)(0.0f)) | (error > (float##n)(0.0f));            \
    return TO_HALF(n, AS(float##n, inexact != (int##n)0 ? odd : bits));                        \
  }                                                                                            \
  PURE half##n mad(half##n x, half##n y, half##n z) { return x * y + z; }
WIDTHS(DEFINE_FMA, )

#define SIGN_BIT 0x8000
#define QUIET_NAN 0x7e00
// Bit patterns of one sign are ordered like their values.
#define DEFINE_BITS(n, V, unused)                                                              \
  PURE half##n fabs(half##n x) { return ABS(x); }                                              \
  PURE half##n copysign(half##n x, half##n y) { return COPYSIGN(x, y); }                       \
  PURE half##n nan(ushort##n code) {                                                           \
    return AS(half##n, (ushort##n)((code & (ushort##n)0x1ff) | (ushort##n)QUIET_NAN));         \
  }                                                                                            \
  PURE half##n nextafter(half##n x, half##n y) {                                               \
    const short##n bits = AS(short##n, x);                                                     \
    const short##n away = (short##n)(bits + (short##n)1);                                      \
    const short##n back = (short##n)(bits - (short##n)1);                                      \
    const short##n moved = ((y > x) == (x > (half##n)(0))) != (short##n)0 ? away : back;       \
    const half##n from_zero = COPYSIGN(AS(half##n, (short##n)1), y);                           \
    const half##n next = x == (half##n)(0) ? from_zero : AS(half##n, moved);                   \
    const half##n result = x == y ? y : next;                                                  \
    return ((x != x) | (y != y)) != (short##n)0 ? x + y : result;                              \
  }
WIDTHS(DEFINE_BITS, )

#define DEFINE_SPLIT(space, n)                                                                 \
  OVERLOAD float##n fract(float##n, __private float##n*);                                      \
  OVERLOAD float##n modf(float##n, __private float##n*);                                       \
  OVERLOAD float##n sincos(float##n, __private float##n*);                                     \
  OVERLOAD float##n frexp(float##n, space int##n*);                                            \
  OVERLOAD float##n lgamma_r(float##n, space int##n*);                                         \
  OVERLOAD float##n remquo(float##n, float##n, space int##n*);                                 \
  /* "fmin(x - floor(x), 0x1.ffcp-1h)" */                                                      \
  OVERLOAD half##n fract(half##n x, space half##n* whole) {                                    \
    float##n down;                                                                             \
    const half##n rest = TO_HALF(n, fract(TO_FLOAT(n, x), &down));                             \
    *whole = TO_HALF(n, down);                                                                 \
    return rest == (half##n)(1) ? (half##n)((half)0x1.ffcp-1f) : rest;                         \
  }                                                                                            \
  OVERLOAD half##n modf(half##n x, space half##n* whole) {                                     \
    float##n part;                                                                             \
    const half##n rest = TO_HALF(n, modf(TO_FLOAT(n, x), &part));                              \
    *whole = TO_HALF(n, part);                                                                 \
    return rest;                                                                               \
  }                                                                                            \
  OVERLOAD half##n sincos(half##n x, space half##n* cosine) {                                  \
    float##n part;                                                                             \
    const half##n sine = TO_HALF(n, sincos(TO_FLOAT(n, x), &part));                            \
    *cosine = TO_HALF(n, part);                                                                \
    return sine;                                                                               \
  }                                                                                            \
  OVERLOAD half##n frexp(half##n x, space int##n* exponent) {                                  \
    return TO_HALF(n, frexp(TO_FLOAT(n, x), exponent));                                        \
  }                                                                                            \
  OVERLOAD half##n lgamma_r(half##n x, space int##n* sign) {                                   \
    return TO_HALF(n, lgamma_r(TO_FLOAT(n, x), sign));                                         \
  }                                                                                            \
  OVERLOAD half##n remquo(half##n x, half##n y, space int##n* quotient) {                      \
    return TO_HALF(n, remquo(TO_FLOAT(n, x), TO_FLOAT(n, y), quotient));                       \
  }
#define DEFINE_SPLIT_ALL(n, V, unused) STORABLE_SPACES(DEFINE_SPLIT, n)
WIDTHS(DEFINE_SPLIT_ALL, )
