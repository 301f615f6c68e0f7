// Numbers put together and taken apart, as exponentials end and logarithms begin, in any vectors;
// AVX-512 has instructions for it (number_parts.h), whose results these are.
#include "types.def"

#define PART __attribute__((const, always_inline))

#define BITS_float 23
#define BIAS_float 127
#define ROUNDER_float 0x1.8p23f
#define LEAST_NORMAL_float 0x1p-126f
#define BITS_double 52
#define BIAS_double 1023
#define ROUNDER_double 0x1.8p52
#define LEAST_NORMAL_double 0x1p-1022

// `n` is `number`, for instructions that take it so. In two steps: neither overflows or rounds unless
// the result does.
#define DEFINE_SCALED(n_, V, T, U, I, B)                                                          \
  PART T __weft_part_scaled_##T(T x, T n, I number) {                                             \
    (void)n;                                                                                      \
    const I half_way = number >> 1, bias = BIAS_##T;                                              \
    return x * AS(T, (half_way + bias) << BITS_##T) *                                             \
           AS(T, (number - half_way + bias) << BITS_##T);                                         \
  }
// From 3/4 to 3/2, NaN of what is negative, 1 of zero and infinity.
#define DEFINE_PARTS(n_, V, T, U, I, B)                                                           \
  INLINE OVERLOAD T normal_of(T x) {                                                              \
    return x < LEAST_NORMAL_##T ? x * (T)(1l << (BITS_##T + 2)) : x;                              \
  }                                                                                               \
  PART T __weft_part_mantissa_##T(T x) {                                                          \
    const I least = AS(I, (T)0.75), bits = AS(I, normal_of(x)) - least;                           \
    const T m = AS(T, (bits & (((I)1 << BITS_##T) - 1)) + least);                                 \
    return x >= (T)0.0 ? m : (T)NAN;                                                              \
  }                                                                                               \
  /* Infinite of zero and infinity. */                                                            \
  PART T __weft_part_exponent_##T(T x, T mantissa) {                                              \
    const I n = (AS(I, normal_of(x)) - AS(I, mantissa)) >> BITS_##T;                              \
    T e = AS(T, AS(I, ROUNDER_##T) + n) - ROUNDER_##T;                                            \
    e = x < LEAST_NORMAL_##T ? e - (T)(BITS_##T + 2) : e;                                         \
    e = x == (T)0.0 ? -(T)INFINITY : e;                                                           \
    return x < (T)INFINITY ? e : x;                                                               \
  }
#define ALONE(F, ...) F(, "", __VA_ARGS__)
FLOAT_TYPES(ALONE, DEFINE_SCALED)
FLOAT_TYPES(ALONE, DEFINE_PARTS)
