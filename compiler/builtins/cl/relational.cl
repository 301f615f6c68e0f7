// OpenCL C 6.15.6, relational functions: 1 or 0 for scalars, -1 or 0 for vectors.
#include "relational.def"

#define SMALLEST_float 0x1p-126f
#define SMALLEST_double 0x1p-1022

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

// The casts undo the promotion of narrow scalars.
#define DEFINE_BITSELECT_INTEGER(n, V, T, U, I, B)                                         \
  PURE T##n bitselect(T##n a, T##n b, T##n c) { return (a & ~c) | (b & c); }
INTEGER_TYPES(WIDTHS, DEFINE_BITSELECT_INTEGER)
FLOAT_TYPES(WIDTHS, DEFINE_BITSELECT)

INTEGER_TYPES(VECTOR_WIDTHS, DEFINE_SELECT_VECTOR)
FLOAT_TYPES(VECTOR_WIDTHS, DEFINE_SELECT_VECTOR)
INTEGER_TYPES(DEFINE_SELECT_SCALAR, )
FLOAT_TYPES(DEFINE_SELECT_SCALAR, )
