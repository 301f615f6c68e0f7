// OpenCL C 6.15.2: pow, powr, pown, rootn (16 ULP in the full profile).
#include "sleef.def"

#define DEFINE_POW(n, V, T, U, I, B)                                                         \
  /* SLEEF rounds the largest finite value to infinity even for y = 1. */                    \
  PURE T##n pow(T##n x, T##n y) {                                                            \
    return y == (T##n)(1) ? x : __weft_sleef_pow_u10_##T##n(x, y);                           \
  }                                                                                          \
  /* powr is exp2(y * log2(x)): undefined where that is, though pow is not. */               \
  PURE T##n powr(T##n x, T##n y) {                                                           \
    const T##n infinite = (T##n)((T)INFINITY);                                               \
    const T##n zero = (T##n)(0);                                                             \
    const I##n undefined = (x < zero) | (x != x) | (y != y) | ((x == zero) & (y == zero)) |  \
                           ((x == infinite) & (y == zero)) |                                 \
                           ((x == (T##n)(1)) & (ABS(y) == infinite));                        \
    return undefined != (I##n)0 ? (T##n)((T)NAN) : pow(ABS(x), y);                           \
  }
FLOAT_TYPES(WIDTHS, DEFINE_POW)

// An int exponent needs more bits than float has: float goes through double.
#define DEFINE_INTEGER_POWER(n, V, unused)                                                        \
  PURE double##n pown(double##n x, int##n y) { return pow(x, CAST_##n(double, y)); }              \
  PURE float##n pown(float##n x, int##n y) {                                                      \
    return CAST_##n(float, pow(CAST_##n(double, x), CAST_##n(double, y)));                        \
  }                                                                                               \
  /* 1/y rounded costs x^(1/y) up to |log(x) / y| ULP: the rest of 1/y makes up for it. */        \
  PURE double##n rootn(double##n x, int##n y) {                                                   \
    const double##n one = (double##n)(1.0), zero = (double##n)(0.0);                              \
    const double##n degree = CAST_##n(double, y);                                                 \
    const double##n inverse = one / degree;                                                       \
    const double##n rest = __builtin_elementwise_fma(-inverse, degree, one) * inverse;            \
    const double##n magnitude = ABS(x);                                                           \
    const double##n root = pow(magnitude, inverse);                                               \
    const double##n correction = root * (rest * __weft_sleef_log_u10_double##n(magnitude));       \
    const long##n regular = (magnitude > zero) & (magnitude < (double##n)((double)INFINITY)) &    \
                            (degree != zero);                                                     \
    const double##n refined = regular != (long##n)0 ? root + correction : root;                   \
    const double##n half_degree = degree * (double##n)(0.5);                                      \
    const long##n odd = half_degree != __builtin_elementwise_trunc(half_degree);                  \
    const double##n with_sign = odd != (long##n)0 ? COPYSIGN(refined, x) : refined;               \
    const long##n undefined = ((odd == (long##n)0) & (x < zero)) | (degree == zero) | (x != x);   \
    return undefined != (long##n)0 ? (double##n)((double)NAN) : with_sign;                        \
  }                                                                                               \
  PURE float##n rootn(float##n x, int##n y) {                                                     \
    return CAST_##n(float, rootn(CAST_##n(double, x), y));                                        \
  }
WIDTHS(DEFINE_INTEGER_POWER, )
