// OpenCL C 6.15.2: pow, powr, pown, rootn (16 ULP in the full profile).
#include "sleef.def"

// SLEEF rounds the largest finite values to infinity: its float form only them, its double form
// everything in the last 2e-9 of the range. Where an upper bound of y * log2|x| comes near, double
// squares x^(y/2) instead; the sign and the domain are then those of x and y.
#define DEFINE_POW_TYPES(n, V, unused)                                                        \
  PURE float##n pow(float##n x, float##n y) {                                                 \
    return y == (float##n)(1.0f) ? x : __weft_sleef_pow_u10_float##n(x, y);                   \
  }                                                                                           \
  PURE double##n pow(double##n x, double##n y) {                                              \
    const double##n one = (double##n)(1.0), zero = (double##n)(0.0), half_one = (double##n)(0.5); \
    const double##n magnitude = ABS(x);                                                       \
    const long##n biased = AS(long##n, magnitude) >> (long##n)52;                             \
    const double##n exponent = CAST_##n(double, (biased - (long##n)1023));                    \
    const long##n large = __builtin_elementwise_max(y * exponent, y * (exponent + one)) >     \
                          (double##n)(1020.0);                                                \
    const double##n power = __weft_sleef_pow_u10_double##n(                                   \
        large != (long##n)0 ? magnitude : x, large != (long##n)0 ? y * half_one : y);         \
    const double##n halved = y * half_one;                                                    \
    const long##n integral = y == __builtin_elementwise_trunc(y);                             \
    const long##n odd = integral & (halved != __builtin_elementwise_trunc(halved));           \
    const double##n square = power * power;                                                   \
    const double##n with_sign = odd != (long##n)0 ? COPYSIGN(square, x) : square;             \
    const long##n undefined =                                                                 \
        (x < zero) & (magnitude < (double##n)((double)INFINITY)) & (integral == (long##n)0);  \
    const double##n far = undefined != (long##n)0 ? (double##n)((double)NAN) : with_sign;     \
    const double##n result = large != (long##n)0 ? far : power;                               \
    return y == one ? x : result;                                                             \
  }
WIDTHS(DEFINE_POW_TYPES, )

#define DEFINE_POWR(n, V, T, U, I, B)                                                        \
  /* powr is exp2(y * log2(x)): undefined where that is, though pow is not. */               \
  PURE T##n powr(T##n x, T##n y) {                                                           \
    const T##n infinite = (T##n)((T)INFINITY);                                               \
    const T##n zero = (T##n)(0);                                                             \
    const I##n undefined = (x < zero) | (x != x) | (y != y) | ((x == zero) & (y == zero)) |  \
                           ((x == infinite) & (y == zero)) |                                 \
                           ((x == (T##n)(1)) & (ABS(y) == infinite));                        \
    return undefined != (I##n)0 ? (T##n)((T)NAN) : pow(ABS(x), y);                           \
  }
FLOAT_TYPES(WIDTHS, DEFINE_POWR)

// x^n by squaring, each product half an ULP of double off.
INLINE double product_of(double x, uint n) {
  double product = 1.0;
  for (; n != 0; n >>= 1) {
    product = (n & 1) != 0 ? product * x : product;
    x *= x;
  }
  return product;
}
INLINE uint magnitude_of(int n) { return n < 0 ? 0u - (uint)n : (uint)n; }
// With the reciprocal's error, which the products multiply, at most 15 ULP.
INLINE double pown_of_double(double x, int n) {
  if (magnitude_of(n) > 8) return pow(x, (double)n);
  return product_of(n < 0 ? 1.0 / x : x, magnitude_of(n));
}
// An int exponent needs more bits than float has: float goes through double.
INLINE float pown_of_float(float x, int n) {
  if (magnitude_of(n) > 31) return (float)pow((double)x, (double)n);
  const double product = product_of(x, magnitude_of(n));
  return (float)(n < 0 ? 1.0 / product : product);
}

#define DEFINE_INTEGER_POWER(n, V, unused)                                                        \
  PURE double##n pown(double##n x, int##n y) { return MAP2(n, double, pown_of_double, x, y); }    \
  PURE float##n pown(float##n x, int##n y) { return MAP2(n, float, pown_of_float, x, y); }        \
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
                            (root < (double##n)((double)INFINITY)) & (degree != zero);            \
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
