// OpenCL C 6.15.2: fmod, remainder, remquo of processors with fused multiply-add, all exact.
//
// With the quotient of a division, rounded to an integer, the fused difference is exact: a multiple
// of the divisor's last place, and no larger than the divisor. Where the quotient has more bits than
// its type, the difference is exact all the same, and the next turn takes off as many bits again.
// So a quotient need not be the nearest one: a GPU's may be approximate where it has few bits, and
// is corrected where it has more.
#include "types.def"

#define FMA(x, y, z) __builtin_elementwise_fma(x, y, z)
#define RINT(x) __builtin_elementwise_rint(x)

// No quotient by the largest of y, y * LIFT and y * LIFT * LIFT that is at most x overflows.
#define LIFT_float 0x1p100f
#define LIFT_double 0x1p1000
// What it is added to and taken from is an integer after that, if it is smaller.
#define ROUNDER_float 0x1.8p23f
#define ROUNDER_double 0x1.8p52

#define DEFINE_OWN_REMAINDERS(T)                                                             \
  typedef struct {                                                                           \
    T rest;     /* |x| - n |y| for an integer n, at most |y| in size */                      \
    T quotient; /* n up to a multiple of 128 */                                              \
  } Division_##T;                                                                            \
  /* For d.rest / divisor below infinity. */                                                 \
  INLINE Division_##T reduce_##T(Division_##T d, T divisor, T y) {                           \
    const T near = d.rest / divisor;                                                         \
    const T quotient = RINT(near + FMA(-near, divisor, d.rest) / divisor);                   \
    const T low = FMA((T)-128, RINT(quotient * (T)(1.0 / 128)), quotient);                   \
    const T counted = divisor == y ? low : 0;                                                \
    return (Division_##T){FMA(-quotient, divisor, d.rest), d.quotient + counted};            \
  }                                                                                          \
  /* Ends for all x and y, but says something only where is_defined does. */                 \
  INLINE Division_##T divide_##T(T x, T y) {                                                 \
    const T quotient = x < y ? 0 : (x / y + ROUNDER_##T) - ROUNDER_##T;                      \
    const T low = FMA((T)-128, RINT(quotient * (T)(1.0 / 128)), quotient);                   \
    const Division_##T first = {FMA(-quotient, y, x), low};                                  \
    if (__builtin_expect(ABS(first.rest) <= y, 1)) return first;                             \
    Division_##T d = {x, 0};                                                                 \
    while (ABS(d.rest) > y) {                                                                \
      const T size = ABS(d.rest);                                                            \
      const T lifted = size >= y * LIFT_##T ? y * LIFT_##T : y;                              \
      d = reduce_##T(d, size >= lifted * LIFT_##T ? lifted * LIFT_##T : lifted, y);          \
    }                                                                                        \
    return d;                                                                                \
  }                                                                                          \
  INLINE bool is_defined_##T(T x, T y) { return (ABS(x) < (T)INFINITY) & (ABS(y) > 0); }     \
  INLINE T with_sign_##T(T rest, T x) { return rest * COPYSIGN((T)1, x); }                   \
  INLINE T fmod1_##T(T x, T y) {                                                             \
    const T size = ABS(y);                                                                   \
    const T rest = divide_##T(ABS(x), size).rest;                                            \
    const T positive = rest < 0 ? rest + size : rest;                                        \
    const T result = with_sign_##T(positive == size ? 0 : positive, x);                      \
    return is_defined_##T(x, y) ? result : (T)NAN;                                           \
  }                                                                                          \
  /* Rounds the quotient to nearest, ties to even; its low 7 bits with its sign go to *q. */ \
  INLINE T remquo1_##T(T x, T y, int* q) {                                                   \
    const T size = ABS(y);                                                                   \
    const Division_##T d = divide_##T(ABS(x), size);                                         \
    const T rest = ABS(d.rest), other = size - rest;                                         \
    const bool is_odd = RINT(d.quotient * (T)0.5) != d.quotient * (T)0.5;                    \
    const bool is_far = (rest > other) | ((rest == other) & is_odd);                         \
    const T next = COPYSIGN((T)1, d.rest);                                                   \
    const T nearest = is_far ? FMA(-size, next, d.rest) : d.rest;                            \
    const int quotient = (int)(is_far ? d.quotient + next : d.quotient) & 0x7f;              \
    *q = !is_defined_##T(x, y) ? 0 : (x < 0) != (y < 0) ? -quotient : quotient;              \
    return is_defined_##T(x, y) ? with_sign_##T(nearest, x) : (T)NAN;                        \
  }
DEFINE_OWN_REMAINDERS(float)
DEFINE_OWN_REMAINDERS(double)

#define NAMED(f) __weft_own_##f
#include "remainder.def"
