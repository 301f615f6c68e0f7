// OpenCL C 6.4.3 for half (cl_khr_fp16): explicit conversions from and to half. All go through float,
// which holds every half.
#include "half.def"
#include "half_rounding.def"

#define FROM_HALF_MODE(n, T, mode)                                                            \
  PURE T##n convert_##T##n##mode(float##n);                                                   \
  PURE T##n convert_##T##n##mode(half##n x) { return convert_##T##n##mode(TO_FLOAT(n, x)); }
#define FROM_HALF(n, V, T)     \
  FROM_HALF_MODE(n, T, )       \
  FROM_HALF_MODE(n, T, _rte)   \
  FROM_HALF_MODE(n, T, _rtz)   \
  FROM_HALF_MODE(n, T, _rtp)   \
  FROM_HALF_MODE(n, T, _rtn)
#define FROM_HALF_SATURATED(n, V, T)     \
  FROM_HALF_MODE(n, T, _sat)             \
  FROM_HALF_MODE(n, T, _sat_rte)         \
  FROM_HALF_MODE(n, T, _sat_rtz)         \
  FROM_HALF_MODE(n, T, _sat_rtp)         \
  FROM_HALF_MODE(n, T, _sat_rtn)

// Two roundings in one direction are one. To nearest they are as well from integers: those that
// float has to round are beyond half's range.
#define TO_HALF_DIRECTED(n, S, mode)                                                          \
  PURE float##n convert_float##n##mode(S##n);                                                 \
  PURE half##n convert_half##n##mode(S##n x) {                                                \
    const float##n wide = convert_float##n##mode(x);                                          \
    return AS(half##n, MAP1(n, ushort, bits_float##mode, wide));                              \
  }
#define TO_HALF_MODES(n, V, S)                                                                \
  PURE half##n convert_half##n(S##n x) { return TO_HALF(n, TO_FLOAT(n, x)); }                 \
  PURE half##n convert_half##n##_rte(S##n x) { return TO_HALF(n, TO_FLOAT(n, x)); }           \
  TO_HALF_DIRECTED(n, S, _rtz)                                                                \
  TO_HALF_DIRECTED(n, S, _rtp)                                                                \
  TO_HALF_DIRECTED(n, S, _rtn)

#define INTEGER_AND_HALF(T)       \
  WIDTHS(FROM_HALF, T)            \
  WIDTHS(FROM_HALF_SATURATED, T)  \
  WIDTHS(TO_HALF_MODES, T)
INTEGER_AND_HALF(char)
INTEGER_AND_HALF(uchar)
INTEGER_AND_HALF(short)
INTEGER_AND_HALF(ushort)
INTEGER_AND_HALF(int)
INTEGER_AND_HALF(uint)
INTEGER_AND_HALF(long)
INTEGER_AND_HALF(ulong)
WIDTHS(FROM_HALF, float)
WIDTHS(FROM_HALF, double)
WIDTHS(TO_HALF_MODES, float)

// From double, rounding to odd on the way.
#define TO_HALF_DOUBLE(n, V, unused)                                                          \
  PURE half##n convert_half##n(double##n x) {                                                 \
    return TO_HALF(n, MAP1(n, float, oddFloat, x));                                           \
  }                                                                                           \
  PURE half##n convert_half##n##_rte(double##n x) { return convert_half##n(x); }              \
  TO_HALF_DIRECTED(n, double, _rtz)                                                           \
  TO_HALF_DIRECTED(n, double, _rtp)                                                           \
  TO_HALF_DIRECTED(n, double, _rtn)
WIDTHS(TO_HALF_DOUBLE, )

#define SAME(n, V, unused)                                          \
  PURE half##n convert_half##n(half##n x) { return x; }             \
  PURE half##n convert_half##n##_rte(half##n x) { return x; }       \
  PURE half##n convert_half##n##_rtz(half##n x) { return x; }       \
  PURE half##n convert_half##n##_rtp(half##n x) { return x; }       \
  PURE half##n convert_half##n##_rtn(half##n x) { return x; }
WIDTHS(SAME, )
