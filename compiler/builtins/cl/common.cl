// OpenCL C 6.15.4, common functions.
#include "types.def"

#define DEFINE_COMMON(n, V, T, U, I, B)                                                          \
  PURE T##n clamp(T##n x, T##n low, T##n high) {                                                 \
    return __builtin_elementwise_min(__builtin_elementwise_max(x, low), high);                   \
  }                                                                                              \
  PURE T##n degrees(T##n x) { return x * (T##n)((T)57.295779513082320876798154814105); }         \
  PURE T##n radians(T##n x) { return x * (T##n)((T)0.017453292519943295769236907684886); }       \
  PURE T##n max(T##n x, T##n y) { return x < y ? y : x; }                                        \
  PURE T##n min(T##n x, T##n y) { return y < x ? y : x; }                                        \
  PURE T##n mix(T##n x, T##n y, T##n a) { return x + (y - x) * a; }                              \
  PURE T##n step(T##n edge, T##n x) { return x < edge ? (T##n)(0) : (T##n)(1); }                 \
  PURE T##n smoothstep(T##n edge0, T##n edge1, T##n x) {                                         \
    const T##n t = clamp((x - edge0) / (edge1 - edge0), (T##n)(0), (T##n)(1));                   \
    return t * t * ((T##n)(3) - (T##n)(2) * t);                                                  \
  }                                                                                              \
  PURE T##n sign(T##n x) {                                                                       \
    const T##n unit = __builtin_elementwise_copysign((T##n)(1), x);                              \
    return x == x ? (x == (T##n)(0) ? x : unit) : (T##n)(0);                                     \
  }
FLOAT_TYPES(WIDTHS, DEFINE_COMMON)

#define DEFINE_COMMON_SCALAR(n, V, T, U, I, B)                                                   \
  PURE T##n clamp(T##n x, T low, T high) { return clamp(x, (T##n)(low), (T##n)(high)); }         \
  PURE T##n max(T##n x, T y) { return max(x, (T##n)(y)); }                                       \
  PURE T##n min(T##n x, T y) { return min(x, (T##n)(y)); }                                       \
  PURE T##n mix(T##n x, T##n y, T a) { return mix(x, y, (T##n)(a)); }                            \
  PURE T##n step(T edge, T##n x) { return step((T##n)(edge), x); }                               \
  PURE T##n smoothstep(T edge0, T edge1, T##n x) {                                               \
    return smoothstep((T##n)(edge0), (T##n)(edge1), x);                                          \
  }
FLOAT_TYPES(VECTOR_WIDTHS, DEFINE_COMMON_SCALAR)
