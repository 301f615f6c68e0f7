// OpenCL C 6.15.6, relational functions: 1 or 0 for scalars, -1 or 0 for vectors.
#include "types.def"

#define SMALLEST_float 0x1p-126f
#define SMALLEST_double 0x1p-1022

// R: int for scalars, the signed integer of the element's size for vectors.
#define DEFINE_RELATIONAL(n, T, I, R, TRUE)                                                       \
  PURE R isequal(T##n x, T##n y) { return x == y; }                                               \
  PURE R isnotequal(T##n x, T##n y) { return x != y; }                                            \
  PURE R isgreater(T##n x, T##n y) { return x > y; }                                              \
  PURE R isgreaterequal(T##n x, T##n y) { return x >= y; }                                        \
  PURE R isless(T##n x, T##n y) { return x < y; }                                                 \
  PURE R islessequal(T##n x, T##n y) { return x <= y; }                                           \
  PURE R islessgreater(T##n x, T##n y) { return (x < y) | (x > y); }                              \
  PURE R isfinite(T##n x) { return ABS(x) < (T##n)((T)INFINITY); }                                \
  PURE R isinf(T##n x) { return ABS(x) == (T##n)((T)INFINITY); }                                  \
  PURE R isnan(T##n x) { return x != x; }                                                         \
  PURE R isnormal(T##n x) {                                                                       \
    return (ABS(x) < (T##n)((T)INFINITY)) & (ABS(x) >= (T##n)(SMALLEST_##T));                     \
  }                                                                                               \
  PURE R isordered(T##n x, T##n y) { return (x == x) & (y == y); }                                \
  PURE R isunordered(T##n x, T##n y) { return (x != x) | (y != y); }                              \
  PURE R signbit(T##n x) { return AS(I##n, x) < (I##n)0; }
#define DEFINE_RELATIONAL_VECTOR(n, V, T, U, I, B) DEFINE_RELATIONAL(n, T, I, I##n, -1)
DEFINE_RELATIONAL(, float, int, int, 1)
DEFINE_RELATIONAL(, double, long, int, 1)
FLOAT_TYPES(VECTOR_WIDTHS, DEFINE_RELATIONAL_VECTOR)

#define OR_(x) (x)
#define OR_2(x) ((x).s0 | (x).s1)
#define OR_3(x) ((x).s0 | (x).s1 | (x).s2)
#define OR_4(x) OR_2((x).lo | (x).hi)
#define OR_8(x) OR_4((x).lo | (x).hi)
#define OR_16(x) OR_8((x).lo | (x).hi)
#define DEFINE_ANY_ALL(n, V, T, U, I, B)             \
  PURE int any(T##n x) { return (OR_##n(x)) < 0; }   \
  PURE int all(T##n x) { return !((OR_##n(~x)) < 0); }
SIGNED_TYPES(WIDTHS, DEFINE_ANY_ALL)

#define DEFINE_BITSELECT(n, V, T, U, I, B)                                                 \
  PURE T##n bitselect(T##n a, T##n b, T##n c) {                                            \
    return AS(T##n, (AS(U##n, a) & ~AS(U##n, c)) | (AS(U##n, b) & AS(U##n, c)));           \
  }
// The casts undo the promotion of narrow scalars.
#define DEFINE_BITSELECT_INTEGER(n, V, T, U, I, B)                                         \
  PURE T##n bitselect(T##n a, T##n b, T##n c) { return (a & ~c) | (b & c); }
INTEGER_TYPES(WIDTHS, DEFINE_BITSELECT_INTEGER)
FLOAT_TYPES(WIDTHS, DEFINE_BITSELECT)

// Scalars choose by value, vectors by the top bit of each element.
#define DEFINE_SELECT_VECTOR(n, V, T, U, I, B)                                             \
  PURE T##n select(T##n a, T##n b, I##n c) { return c < (I##n)0 ? b : a; }                 \
  PURE T##n select(T##n a, T##n b, U##n c) { return AS(I##n, c) < (I##n)0 ? b : a; }
#define DEFINE_SELECT_SCALAR(F, T, U, I, B)                                                \
  PURE T select(T a, T b, I c) { return c ? b : a; }                                       \
  PURE T select(T a, T b, U c) { return c ? b : a; }
INTEGER_TYPES(VECTOR_WIDTHS, DEFINE_SELECT_VECTOR)
FLOAT_TYPES(VECTOR_WIDTHS, DEFINE_SELECT_VECTOR)
INTEGER_TYPES(DEFINE_SELECT_SCALAR, )
FLOAT_TYPES(DEFINE_SELECT_SCALAR, )
