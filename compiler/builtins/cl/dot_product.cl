// cl_khr_integer_dot_product. The products' sum always fits 32 bits; only adding to it saturates.
#include "types.def"

#define DEFINE_DOT(R, X, Y)                                                        \
  PURE R dot(X##4 x, Y##4 y) {                                                     \
    return (R)x.s0 * (R)y.s0 + (R)x.s1 * (R)y.s1 + (R)x.s2 * (R)y.s2 + (R)x.s3 * (R)y.s3; \
  }                                                                                \
  PURE R dot_acc_sat(X##4 x, Y##4 y, R sum) { return add_sat(dot(x, y), sum); }
DEFINE_DOT(uint, uchar, uchar)
DEFINE_DOT(int, char, char)
DEFINE_DOT(int, uchar, char)
DEFINE_DOT(int, char, uchar)

#define DEFINE_PACKED(R, X, Y, suffix)                                             \
  PURE R dot_4x8packed_##suffix(uint x, uint y) { return dot(AS(X##4, x), AS(Y##4, y)); } \
  PURE R dot_acc_sat_4x8packed_##suffix(uint x, uint y, R sum) {                   \
    return dot_acc_sat(AS(X##4, x), AS(Y##4, y), sum);                             \
  }
DEFINE_PACKED(uint, uchar, uchar, uu_uint)
DEFINE_PACKED(int, char, char, ss_int)
DEFINE_PACKED(int, uchar, char, us_int)
DEFINE_PACKED(int, char, uchar, su_int)
