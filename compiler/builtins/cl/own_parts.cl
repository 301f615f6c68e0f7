// Parts of single numbers (parts.def), as functions of their own: they become instructions where
// numbers become vectors.
#include "types.def"

#include "parts.def"

#define ALONE(F, ...) F(, "", __VA_ARGS__)
FLOAT_TYPES(ALONE, DEFINE_NUMBER_PARTS)

#define PART __attribute__((const, always_inline))
#define DEFINE_PARTS(n_, V, T, U, I, B)                                                           \
  PART T __weft_part_scaled_##T(T x, T n, I number) {                                             \
    return scaled_by(x, n, number);                                                               \
  }                                                                                               \
  PART T __weft_part_mantissa_##T(T x) { return mantissa_of(x); }                                 \
  PART T __weft_part_exponent_##T(T x, T mantissa) { return exponent_of(x, mantissa); }
FLOAT_TYPES(ALONE, DEFINE_PARTS)

// Of a power x, at the least of which it is so small that the result, y, is rounded to zero.
PART float __weft_part_bounded_float(float x, float least, float most) {
  return bounded_by(x, least, most);
}
PART float __weft_part_vanishing_float(float x, float least, float y) {
  return zero_where_below(x, least, y);
}
// As it is scaled, where the result is not denormal.
PART float __weft_part_raised_float(float x, float n, int number) {
  return scaled_by(x, n, number);
}
