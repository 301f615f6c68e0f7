// OpenCL C 6.15.4 and 6.15.5 for half (cl_khr_fp16): common and geometric functions.
#include "half.def"

HALF1(degrees) HALF1(radians) HALF1(sign)
HALF2_SCALAR(max) HALF2_SCALAR(min)
HALF2(step)
HALF3(clamp) HALF3(mix) HALF3(smoothstep)

#define DEFINE_COMMON_SCALAR(n, V, unused)                                                      \
  PURE half##n clamp(half##n x, half low, half high) {                                          \
    return clamp(x, (half##n)(low), (half##n)(high));                                           \
  }                                                                                             \
  PURE half##n mix(half##n x, half##n y, half a) { return mix(x, y, (half##n)(a)); }            \
  PURE half##n step(half edge, half##n x) { return step((half##n)(edge), x); }                  \
  PURE half##n smoothstep(half edge0, half edge1, half##n x) {                                  \
    return smoothstep((half##n)(edge0), (half##n)(edge1), x);                                   \
  }
VECTOR_WIDTHS(DEFINE_COMMON_SCALAR, )

DEFINE_HALF2(3, , cross)
DEFINE_HALF2(4, , cross)
#define DEFINE_GEOMETRIC(n)                                                                     \
  PURE float dot(float##n, float##n);                                                           \
  PURE float distance(float##n, float##n);                                                      \
  PURE float length(float##n);                                                                  \
  PURE float##n normalize(float##n);                                                            \
  PURE half dot(half##n x, half##n y) { return (half)dot(TO_FLOAT(n, x), TO_FLOAT(n, y)); }     \
  PURE half distance(half##n x, half##n y) {                                                    \
    return (half)distance(TO_FLOAT(n, x), TO_FLOAT(n, y));                                      \
  }                                                                                             \
  PURE half length(half##n x) { return (half)length(TO_FLOAT(n, x)); }                          \
  PURE half##n normalize(half##n x) { return TO_HALF(n, normalize(TO_FLOAT(n, x))); }
DEFINE_GEOMETRIC()
DEFINE_GEOMETRIC(2)
DEFINE_GEOMETRIC(3)
DEFINE_GEOMETRIC(4)
