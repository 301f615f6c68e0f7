// OpenCL C 6.15.2: lgamma_r, apart from lgamma, which is the target's own on some.
#include "types.def"

// The sign of gamma(x): negative where floor(x) is odd and negative.
#define DEFINE_LGAMMA_R(space, n, T, I)                                                           \
  OVERLOAD T##n lgamma_r(T##n x, space int##n* sign) {                                            \
    const T##n down = __builtin_elementwise_floor(x);                                             \
    const T##n half_down = down * (T##n)((T)0.5);                                                 \
    const I##n negative = (x < (T##n)(0)) & (half_down != __builtin_elementwise_floor(half_down)); \
    *sign = CAST_##n(int, negative) != (int##n)0 ? (int##n)-1 : (int##n)1;                        \
    return lgamma(x);                                                                             \
  }
#define DEFINE_WITH_POINTER(n, V, T, U, I, B) STORABLE_SPACES(DEFINE_LGAMMA_R, n, T, I)
FLOAT_TYPES(WIDTHS, DEFINE_WITH_POINTER)
