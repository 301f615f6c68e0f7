// OpenCL C 6.15.2: fmod, remainder, remquo, all exact. Mantissas are divided as integers, as many
// quotient bits at a time as fit beside a mantissa in 64 bits.
#include "types.def"

#define MANTISSA_BITS_float 23
#define MANTISSA_BITS_double 52
#define STEP_float 40
#define STEP_double 11

typedef struct {
  ulong rest;      // |x| mod |y| in units of the last place of y
  ulong quotient;  // its low bits
  int exponent;    // of that unit
} Division;

#define DEFINE_DIVIDE(T, U)                                                                     \
  INLINE ulong mantissa_##T(T x, int* exponent) {                                               \
    const U bits = AS(U, x);                                                                    \
    const int field = (int)(bits >> MANTISSA_BITS_##T);                                         \
    const ulong fraction = bits & (((U)1 << MANTISSA_BITS_##T) - 1);                            \
    if (field != 0) {                                                                           \
      *exponent = field;                                                                        \
      return fraction | 1ul << MANTISSA_BITS_##T;                                               \
    }                                                                                           \
    const int shift = (int)__builtin_clzl(fraction) - (63 - MANTISSA_BITS_##T);                 \
    *exponent = 1 - shift;                                                                      \
    return fraction << shift;                                                                   \
  }                                                                                             \
  /* x >= y > 0, both finite. */                                                                \
  INLINE Division divide_##T(T x, T y) {                                                        \
    int ex, ey;                                                                                 \
    const ulong mx = mantissa_##T(x, &ex);                                                      \
    const ulong my = mantissa_##T(y, &ey);                                                      \
    Division d = {mx % my, mx / my, ey};                                                        \
    for (int left = ex - ey; left > 0;) {                                                       \
      const int step = left < STEP_##T ? left : STEP_##T;                                       \
      const ulong dividend = d.rest << step;                                                    \
      d.quotient = (d.quotient << step) + dividend / my;                                        \
      d.rest = dividend % my;                                                                   \
      left -= step;                                                                             \
    }                                                                                           \
    return d;                                                                                   \
  }                                                                                             \
  /* rest * 2^exponent, which T holds exactly. */                                               \
  INLINE T assemble_##T(Division d) {                                                           \
    if (d.rest == 0) return 0;                                                                  \
    const int shift = (int)__builtin_clzl(d.rest) - (63 - MANTISSA_BITS_##T);                   \
    const int field = d.exponent - shift;                                                       \
    if (field > 0)                                                                              \
      return AS(T, ((U)field << MANTISSA_BITS_##T) +                                            \
                       ((U)(d.rest << shift) - ((U)1 << MANTISSA_BITS_##T)));                   \
    return AS(T, (U)(d.rest << shift >> (1 - field)));                                          \
  }                                                                                             \
  INLINE bool undefined_##T(T x, T y) {                                                         \
    return !(ABS(x) < (T)INFINITY) || y != y || y == 0;                                         \
  }                                                                                             \
  INLINE T fmod1_##T(T x, T y) {                                                                \
    if (undefined_##T(x, y)) return (T)NAN;                                                     \
    const T ax = ABS(x), ay = ABS(y);                                                           \
    if (ax < ay) return x;                                                                      \
    return __builtin_elementwise_copysign(assemble_##T(divide_##T(ax, ay)), x);                 \
  }                                                                                             \
  /* Rounds the quotient to nearest, ties to even; its low 7 bits with its sign go to *q. */    \
  INLINE T remquo1_##T(T x, T y, int* q) {                                                      \
    *q = 0;                                                                                     \
    if (undefined_##T(x, y)) return (T)NAN;                                                     \
    const T ax = ABS(x), ay = ABS(y);                                                           \
    T rest = ax;                                                                                \
    ulong quotient = 0;                                                                         \
    if (ax >= ay && ay < (T)INFINITY) {                                                         \
      const Division d = divide_##T(ax, ay);                                                    \
      rest = assemble_##T(d);                                                                   \
      quotient = d.quotient;                                                                    \
    }                                                                                           \
    /* Exact wherever the comparison is close. */                                               \
    const T other = ay - rest;                                                                  \
    if (rest > other || (rest == other && (quotient & 1) != 0)) {                               \
      rest = -other;                                                                            \
      ++quotient;                                                                               \
    }                                                                                           \
    const int low = (int)(quotient & 0x7f);                                                     \
    *q = (AS(U, x) ^ AS(U, y)) >> (sizeof(T) * 8 - 1) ? -low : low;                             \
    /* A zero keeps the sign of x. */                                                           \
    if (rest == 0) return __builtin_elementwise_copysign(rest, x);                              \
    return AS(U, x) >> (sizeof(T) * 8 - 1) ? -rest : rest;                                      \
  }
DEFINE_DIVIDE(float, uint)
DEFINE_DIVIDE(double, ulong)

#define NAMED(f) f
#include "remainder.def"
