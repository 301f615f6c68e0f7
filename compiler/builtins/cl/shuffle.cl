// OpenCL C 6.15.13, shuffle and shuffle2. Only the low bits of each mask element count.
#include "types.def"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define SHUFFLE_WIDTHS(F, ...) F(2, __VA_ARGS__) F(4, __VA_ARGS__) F(8, __VA_ARGS__) F(16, __VA_ARGS__)
#define SHUFFLE_WIDTHS_INNER(F, ...) F(2, __VA_ARGS__) F(4, __VA_ARGS__) F(8, __VA_ARGS__) F(16, __VA_ARGS__)
#define SHUFFLE_TYPES(F)                                                                   \
  F(char, uchar) F(uchar, uchar) F(short, ushort) F(ushort, ushort) F(int, uint) F(uint, uint) \
  F(long, ulong) F(ulong, ulong) F(float, uint) F(double, ulong) F(half, ushort)

#define DEFINE_SHUFFLE(m, n, T, U)                                               \
  PURE T##n shuffle(T##m x, U##n mask) {                                         \
    T##n result;                                                                 \
    for (int i = 0; i < n; ++i) result[i] = x[mask[i] & (m - 1)];                \
    return result;                                                               \
  }                                                                              \
  PURE T##n shuffle2(T##m x, T##m y, U##n mask) {                                \
    T##n result;                                                                 \
    for (int i = 0; i < n; ++i) {                                                \
      const U index = mask[i] & (2 * m - 1);                                     \
      result[i] = index < m ? x[index] : y[index & (m - 1)];                     \
    }                                                                            \
    return result;                                                               \
  }
#define DEFINE_SHUFFLE_TO(n, T, U) SHUFFLE_WIDTHS_INNER(DEFINE_SHUFFLE, n, T, U)
#define DEFINE_SHUFFLE_TYPE(T, U) SHUFFLE_WIDTHS(DEFINE_SHUFFLE_TO, T, U)
SHUFFLE_TYPES(DEFINE_SHUFFLE_TYPE)
