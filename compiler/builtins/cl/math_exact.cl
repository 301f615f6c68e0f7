// OpenCL C 6.15.2, math functions with exact or correctly rounded results: bit patterns and LLVM's
// own operations, no library.
#include "types.def"

#define EXPONENT_BIAS_float 127
#define EXPONENT_BIAS_double 1023
#define MANTISSA_BITS_float 23
#define MANTISSA_BITS_double 52
#define SMALLEST_float 0x1p-126f
#define SMALLEST_double 0x1p-1022
// Below 1 by one ULP: the largest result of fract.
#define BELOW_ONE_float 0x1.fffffep-1f
#define BELOW_ONE_double 0x1.fffffffffffffp-1

#define DEFINE_DIRECT(n, V, T, U, I, B)                                                           \
  __attribute__((const)) T##n llvm_fmuladd_##T##n(T##n, T##n, T##n)                               \
      __asm("llvm.fmuladd." V "f" #B);                                                            \
  PURE T##n ceil(T##n x) { return __builtin_elementwise_ceil(x); }                                \
  PURE T##n floor(T##n x) { return __builtin_elementwise_floor(x); }                              \
  PURE T##n rint(T##n x) { return __builtin_elementwise_rint(x); }                                \
  PURE T##n round(T##n x) { return __builtin_elementwise_round(x); }                              \
  PURE T##n trunc(T##n x) { return __builtin_elementwise_trunc(x); }                              \
  PURE T##n fabs(T##n x) { return ABS(x); }                                                       \
  PURE T##n sqrt(T##n x) { return __builtin_elementwise_sqrt(x); }                                \
  PURE T##n rsqrt(T##n x) { return (T##n)(1) / __builtin_elementwise_sqrt(x); }                   \
  PURE T##n copysign(T##n x, T##n y) { return COPYSIGN(x, y); }                                   \
  PURE T##n fma(T##n x, T##n y, T##n z) { return __builtin_elementwise_fma(x, y, z); }            \
  PURE T##n mad(T##n x, T##n y, T##n z) { return llvm_fmuladd_##T##n(x, y, z); }                  \
  PURE T##n fmax(T##n x, T##n y) { return __builtin_elementwise_max(x, y); }                      \
  PURE T##n fmin(T##n x, T##n y) { return __builtin_elementwise_min(x, y); }                      \
  PURE T##n fdim(T##n x, T##n y) { return x <= y ? (T##n)(0) : x - y; }                           \
  PURE T##n maxmag(T##n x, T##n y) {                                                              \
    const T##n larger = ABS(y) > ABS(x) ? y : fmax(x, y);                                         \
    return ABS(x) > ABS(y) ? x : larger;                                                          \
  }                                                                                               \
  PURE T##n minmag(T##n x, T##n y) {                                                              \
    const T##n smaller = ABS(y) < ABS(x) ? y : fmin(x, y);                                        \
    return ABS(x) < ABS(y) ? x : smaller;                                                         \
  }                                                                                               \
  PURE T##n nan(U##n code) {                                                                      \
    const U##n quiet = (U##n)AS(U, (T)NAN);                                                       \
    return AS(T##n, quiet | (code & (((U##n)1 << (U##n)(MANTISSA_BITS_##T - 1)) - (U##n)1)));     \
  }                                                                                               \
  /* Bit patterns of one sign are ordered like their values. */                                   \
  PURE T##n nextafter(T##n x, T##n y) {                                                           \
    const I##n zero = (I##n)0, one = (I##n)1;                                                     \
    const I##n bits = AS(I##n, x);                                                                \
    const T##n away = AS(T##n, bits + one), back = AS(T##n, bits - one);                          \
    const T##n moved = ((y > x) == (x > (T##n)(0))) != zero ? away : back;                        \
    const T##n from_zero = COPYSIGN(AS(T##n, one), y);                                            \
    const T##n next = x == (T##n)(0) ? from_zero : moved;                                         \
    const T##n result = x == y ? y : next;                                                        \
    return ((x != x) | (y != y)) != zero ? x + y : result;                                        \
  }                                                                                               \
  /* x is normal after the lift; zero, infinity and NaN are filtered by the callers. */           \
  INLINE I##n unbiasedExponent_##T##n(T##n x) {                                                   \
    const T##n lift = (T##n)((T)0x1p64);                                                          \
    const T##n normal = ABS(x) < (T##n)(SMALLEST_##T) ? x * lift : x;                             \
    const I##n lifted = ABS(x) < (T##n)(SMALLEST_##T) ? (I##n)64 : (I##n)0;                       \
    const I##n biased = (AS(I##n, normal) >> (I##n)MANTISSA_BITS_##T) &                           \
                        (I##n)(2 * EXPONENT_BIAS_##T + 1);                                        \
    return biased - (I##n)EXPONENT_BIAS_##T - lifted;                                             \
  }                                                                                               \
  PURE int##n ilogb(T##n x) {                                                                     \
    const I##n exponent = unbiasedExponent_##T##n(x);                                             \
    const I##n finite = x == (T##n)(0) ? (I##n)FP_ILOGB0 : exponent;                              \
    const I##n number = ABS(x) == (T##n)((T)INFINITY) ? (I##n)INT_MAX : finite;                   \
    return CAST_##n(int, (x != x ? (I##n)FP_ILOGBNAN : number));                                  \
  }                                                                                               \
  PURE T##n logb(T##n x) {                                                                        \
    const T##n exponent = CAST_##n(T, unbiasedExponent_##T##n(x));                                \
    const T##n finite = x == (T##n)(0) ? (T##n)(-(T)INFINITY) : exponent;                         \
    return ABS(x) < (T##n)((T)INFINITY) ? finite : x * x;                                         \
  }
FLOAT_TYPES(WIDTHS, DEFINE_DIRECT)

#define DEFINE_DIRECT_SCALAR(n, V, T, U, I, B)                        \
  PURE T##n fmax(T##n x, T y) { return fmax(x, (T##n)(y)); }          \
  PURE T##n fmin(T##n x, T y) { return fmin(x, (T##n)(y)); }
FLOAT_TYPES(VECTOR_WIDTHS, DEFINE_DIRECT_SCALAR)

// Only the last product rounds: float goes through double, double in steps that stay normal as long
// as anything is left of the value.
#define POWER_OF_TWO(n, k) AS(double##n, ((k) + (long##n)1023) << (long##n)52)
#define CLAMP(n, k, low, high) \
  __builtin_elementwise_min(__builtin_elementwise_max(k, (long##n)(low)), (long##n)(high))
#define DEFINE_LDEXP(n, V, unused)                                                               \
  INLINE long##n ldexpStep##n(long##n e) {                                                       \
    const long##n down = e < (long##n)-1022 ? (long##n)-969 : (long##n)0;                        \
    return e > (long##n)1023 ? (long##n)1023 : down;                                             \
  }                                                                                              \
  PURE double##n ldexp(double##n x, int##n k) {                                                  \
    const long##n e = CAST_##n(long, k);                                                         \
    const long##n first = ldexpStep##n(e);                                                       \
    const long##n second = ldexpStep##n(e - first);                                              \
    const long##n third = CLAMP(n, e - first - second, -1022, 1023);                             \
    return x * POWER_OF_TWO(n, first) * POWER_OF_TWO(n, second) * POWER_OF_TWO(n, third);        \
  }                                                                                              \
  PURE float##n ldexp(float##n x, int##n k) {                                                    \
    const long##n e = CLAMP(n, CAST_##n(long, k), -330, 330);                                    \
    return CAST_##n(float, CAST_##n(double, x) * POWER_OF_TWO(n, e));                            \
  }
WIDTHS(DEFINE_LDEXP, )
#define DEFINE_LDEXP_SCALAR(n, V, T, U, I, B) \
  PURE T##n ldexp(T##n x, int k) { return ldexp(x, (int##n)(k)); }
FLOAT_TYPES(VECTOR_WIDTHS, DEFINE_LDEXP_SCALAR)

#define DEFINE_SPLIT(space, n, T, I)                                                              \
  OVERLOAD T##n fract(T##n x, space T##n* whole) {                                                \
    const T##n down = __builtin_elementwise_floor(x);                                             \
    const T##n rest = x - down;                                                                   \
    const T##n below_one = rest > (T##n)(BELOW_ONE_##T) ? (T##n)(BELOW_ONE_##T) : rest;           \
    *whole = down;                                                                                \
    const T##n zero = COPYSIGN((T##n)(0), x);                                                     \
    const I##n nothing = (x == (T##n)(0)) | (ABS(x) == (T##n)((T)INFINITY));                      \
    return nothing != (I##n)0 ? zero : below_one;                                                 \
  }                                                                                               \
  OVERLOAD T##n modf(T##n x, space T##n* whole) {                                                 \
    const T##n part = __builtin_elementwise_trunc(x);                                             \
    *whole = part;                                                                                \
    return COPYSIGN(ABS(x) == (T##n)((T)INFINITY) ? (T##n)(0) : x - part, x);                     \
  }                                                                                               \
  OVERLOAD T##n frexp(T##n x, space int##n* exponent) {                                           \
    const T##n lift = (T##n)((T)0x1p64);                                                          \
    const T##n normal = ABS(x) < (T##n)(SMALLEST_##T) ? x * lift : x;                             \
    const I##n field = (I##n)(2 * EXPONENT_BIAS_##T + 1) << (I##n)MANTISSA_BITS_##T;              \
    const I##n half_bits = (I##n)(EXPONENT_BIAS_##T - 1) << (I##n)MANTISSA_BITS_##T;              \
    const T##n mantissa = AS(T##n, (AS(I##n, normal) & ~field) | half_bits);                      \
    const I##n regular = (x != (T##n)(0)) & (ABS(x) < (T##n)((T)INFINITY));                       \
    *exponent = CAST_##n(int, (regular != (I##n)0 ? unbiasedExponent_##T##n(x) + (I##n)1          \
                                                  : (I##n)0));                                    \
    return regular != (I##n)0 ? mantissa : x;                                                     \
  }
#define DEFINE_SPLIT_ALL(n, V, T, U, I, B) STORABLE_SPACES(DEFINE_SPLIT, n, T, I)
FLOAT_TYPES(WIDTHS, DEFINE_SPLIT_ALL)
