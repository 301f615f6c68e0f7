// OpenCL C 6.15.5, geometric functions. Lengths neither overflow nor underflow on the way: float
// goes through double, double is scaled by its largest element.
#include "types.def"

#define CROSS3(T, x, y) \
  ((x).yzx * (y).zxy - (x).zxy * (y).yzx)
#define DEFINE_CROSS(T)                                               \
  PURE T##3 cross(T##3 x, T##3 y) { return CROSS3(T, x, y); }         \
  PURE T##4 cross(T##4 x, T##4 y) { return (T##4)(CROSS3(T, x.xyz, y.xyz), (T)0); }
DEFINE_CROSS(float)
DEFINE_CROSS(double)

#define SUM_(x) (x)
#define SUM_2(x) ((x).s0 + (x).s1)
#define SUM_3(x) ((x).s0 + (x).s1 + (x).s2)
#define SUM_4(x) (((x).s0 + (x).s1) + ((x).s2 + (x).s3))
#define LARGEST_(x) (x)
#define LARGEST_2(x) __builtin_elementwise_max((x).s0, (x).s1)
#define LARGEST_3(x) __builtin_elementwise_max(LARGEST_2(x), (x).s2)
#define LARGEST_4(x) __builtin_elementwise_max(LARGEST_2((x).lo), LARGEST_2((x).hi))
#define GEOMETRIC_WIDTHS(F) F() F(2) F(3) F(4)
#define WIDEN_(x) ((double)(x))
#define WIDEN_2(x) __builtin_convertvector(x, double2)
#define WIDEN_3(x) __builtin_convertvector(x, double3)
#define WIDEN_4(x) __builtin_convertvector(x, double4)
#define NARROW_(x) ((float)(x))
#define NARROW_2(x) __builtin_convertvector(x, float2)
#define NARROW_3(x) __builtin_convertvector(x, float3)
#define NARROW_4(x) __builtin_convertvector(x, float4)

// Products and sums in one step where the target has it, in the same order everywhere.
#define DOT_(x, y) ((x) * (y))
#define DOT_2(x, y) mad((x).s0, (y).s0, (x).s1 * (y).s1)
#define DOT_3(x, y) mad((x).s0, (y).s0, DOT_2((x).yz, (y).yz))
#define DOT_4(x, y) mad((x).s0, (y).s0, DOT_3((x).yzw, (y).yzw))
#define DEFINE_DOT(n)                                                     \
  PURE float dot(float##n x, float##n y) { return DOT_##n(x, y); }        \
  PURE double dot(double##n x, double##n y) { return DOT_##n(x, y); }
GEOMETRIC_WIDTHS(DEFINE_DOT)

// Powers of two that keep the square of `largest` in range: of little, and of much.
INLINE double liftFor(double largest) { return largest < 0x1p-400 ? 0x1p600 : 1.0; }
INLINE double lowerFor(double largest) { return largest > 0x1p500 ? 0x1p-600 : 1.0; }
// What undoes both.
INLINE double restoreFor(double largest) {
  return largest > 0x1p500 ? 0x1p600 : largest < 0x1p-400 ? 0x1p-600 : 1.0;
}

#define DEFINE_LENGTH(n)                                                                         \
  PURE float length(float##n x) {                                                                \
    const double##n wide = WIDEN_##n(x);                                                         \
    return (float)__builtin_elementwise_sqrt((double)DOT_##n(wide, wide));                      \
  }                                                                                              \
  PURE double length(double##n x) {                                                              \
    const double largest = LARGEST_##n(__builtin_elementwise_abs(x));                            \
    const double##n scaled = x * liftFor(largest) * lowerFor(largest);                           \
    const double root = __builtin_elementwise_sqrt((double)DOT_##n(scaled, scaled));            \
    return largest == (double)INFINITY ? (double)INFINITY : root * restoreFor(largest);          \
  }                                                                                              \
  PURE float distance(float##n x, float##n y) {                                                  \
    const double##n wide = WIDEN_##n(x) - WIDEN_##n(y);                                          \
    return (float)__builtin_elementwise_sqrt((double)DOT_##n(wide, wide));                      \
  }                                                                                              \
  PURE double distance(double##n x, double##n y) { return length(x - y); }                       \
  PURE float fast_length(float##n x) {                                                           \
    return __builtin_elementwise_sqrt((float)DOT_##n(x, x));                                     \
  }                                                                                              \
  PURE float fast_distance(float##n x, float##n y) { return fast_length(x - y); }                \
  PURE float##n fast_normalize(float##n x) {                                                     \
    const float square = DOT_##n(x, x);                                                          \
    return square == 0.0f ? x : x * (1.0f / __builtin_elementwise_sqrt(square));                 \
  }
GEOMETRIC_WIDTHS(DEFINE_LENGTH)

// "normalize: if any element is +-INF, the infinite ones count as +-1 and the others as 0."
#define UNIT_INFINITIES(T, n, x)                                                           \
  (__builtin_elementwise_abs(x) == (T##n)((T)INFINITY)                                     \
       ? __builtin_elementwise_copysign((T##n)(1), (x))                                    \
       : __builtin_elementwise_copysign((T##n)(0), (x)))
#define NAN_OR_ZERO(T, n, x) SUM_##n((x) == (x) ? (T##n)(0) : (x))
#define DEFINE_NORMALIZE(n)                                                                      \
  PURE float##n normalize(float##n x) {                                                          \
    const float largest = LARGEST_##n(__builtin_elementwise_abs(x));                             \
    const float##n y = largest == INFINITY ? UNIT_INFINITIES(float, n, x) : x;                   \
    const double##n wide = WIDEN_##n(y);                                                         \
    const double square = DOT_##n(wide, wide);                                                   \
    const float##n unit = NARROW_##n(wide * (1.0 / __builtin_elementwise_sqrt(square)));         \
    return (square == 0.0 ? x : unit) + NAN_OR_ZERO(float, n, x);                                \
  }                                                                                              \
  PURE double##n normalize(double##n x) {                                                        \
    const double largest = LARGEST_##n(__builtin_elementwise_abs(x));                            \
    const double##n y = largest == (double)INFINITY ? UNIT_INFINITIES(double, n, x) : x;         \
    const double size = LARGEST_##n(__builtin_elementwise_abs(y));                               \
    const double##n lifted = y * liftFor(size), scaled = lifted * lowerFor(size);                \
    const double square = DOT_##n(scaled, scaled);                                               \
    const double##n unit = lifted * (1.0 / __builtin_elementwise_sqrt(square)) * lowerFor(size); \
    return (square == 0.0 ? x : unit) + NAN_OR_ZERO(double, n, x);                               \
  }
GEOMETRIC_WIDTHS(DEFINE_NORMALIZE)
