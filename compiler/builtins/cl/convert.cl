// OpenCL C 6.4.3, explicit conversions: every pair of types, saturation and rounding mode.
#include "types.def"

#define MIN_char CHAR_MIN
#define MAX_char CHAR_MAX
#define MIN_uchar 0
#define MAX_uchar UCHAR_MAX
#define MIN_short SHRT_MIN
#define MAX_short SHRT_MAX
#define MIN_ushort 0
#define MAX_ushort USHRT_MAX
#define MIN_int INT_MIN
#define MAX_int INT_MAX
#define MIN_uint 0
#define MAX_uint UINT_MAX
#define MIN_long LONG_MIN
#define MAX_long LONG_MAX
#define MIN_ulong 0
#define MAX_ulong ULONG_MAX

// The values of S that T holds too, as constants of S.
#define HIGH(T, S) ((S)((ulong)MAX_##T < (ulong)MAX_##S ? (ulong)MAX_##T : (ulong)MAX_##S))
#define LOW(T, S) ((S)((long)MIN_##T > (long)MIN_##S ? (long)MIN_##T : (long)MIN_##S))

#define DEFINE_MODES(F, n, T, S, ...) \
  F(n, T, S, , __VA_ARGS__)           \
  F(n, T, S, _rte, __VA_ARGS__)       \
  F(n, T, S, _rtz, __VA_ARGS__)       \
  F(n, T, S, _rtp, __VA_ARGS__)       \
  F(n, T, S, _rtn, __VA_ARGS__)

#define INTEGER_TO_INTEGER(n, T, S, mode, unused)                                        \
  PURE T##n convert_##T##n##mode(S##n x) { return CAST_##n(T, x); }                      \
  PURE T##n convert_##T##n##_sat##mode(S##n x) {                                         \
    const S##n above = x < (S##n)LOW(T, S) ? (S##n)LOW(T, S) : x;                        \
    const S##n within = above > (S##n)HIGH(T, S) ? (S##n)HIGH(T, S) : above;             \
    return CAST_##n(T, within);                                                          \
  }

// Conversions to integers truncate unless the mode says otherwise.
#define ROUND(x) __builtin_elementwise_trunc(x)
#define ROUND_rtz(x) __builtin_elementwise_trunc(x)
#define ROUND_rte(x) __builtin_elementwise_rint(x)
#define ROUND_rtp(x) __builtin_elementwise_ceil(x)
#define ROUND_rtn(x) __builtin_elementwise_floor(x)

#define FLOAT_TO_INTEGER(n, T, S, mode, unused)                                          \
  PURE T##n convert_##T##n##mode(S##n x) { return CAST_##n(T, ROUND##mode(x)); }         \
  PURE T##n convert_##T##n##_sat##mode(S##n x) {                                         \
    return weft_saturate_##T##n(ROUND##mode(x));                                         \
  }
// "NaN converts to 0" is the intrinsic's rule as well.
#define DECLARE_SATURATE(n, V, T, U, I, B, S, FB, s)                                     \
  __attribute__((overloadable, const)) T##n weft_saturate_##T##n(S##n)                   \
      __asm("llvm.fpto" s "i.sat." V "i" #B "." V "f" #FB);

// Conversions to floating point, one scalar function for each inexact pair and mode: rounded to
// nearest first, one step corrects it where the mode wants the other neighbour. Nothing is made of
// a magnitude: NVIDIA's driver gives that of the least int the wrong sign (abs.s32, cvt.rn.f32.u32).

// Whether the nearest number is above x (1) or below it (-1).
#define DEFINE_DIRECTED_MODES(T, TI, S, LIMIT)                                           \
  INLINE TI off_##T##_##S(S x, T nearest) {                                              \
    const bool past = nearest >= LIMIT;                                                  \
    const S back = past ? (S)0 : (S)nearest;                                             \
    return past || back > x ? 1 : back < x ? -1 : 0;                                     \
  }                                                                                      \
  INLINE T round_##T##_##S##_rtz(S x) {                                                  \
    const T r = (T)x;                                                                    \
    return AS(T, AS(TI, r) - (off_##T##_##S(x, r) == (x < 0 ? -1 : 1) ? 1 : 0));         \
  }                                                                                      \
  INLINE T round_##T##_##S##_rtp(S x) {                                                  \
    const T r = (T)x;                                                                    \
    return AS(T, AS(TI, r) + (off_##T##_##S(x, r) < 0 ? (x < 0 ? -1 : 1) : 0));          \
  }                                                                                      \
  INLINE T round_##T##_##S##_rtn(S x) {                                                  \
    const T r = (T)x;                                                                    \
    return AS(T, AS(TI, r) - (off_##T##_##S(x, r) > 0 ? (x < 0 ? -1 : 1) : 0));          \
  }
DEFINE_DIRECTED_MODES(float, int, uint, 0x1p32f)
DEFINE_DIRECTED_MODES(float, int, int, 0x1p31f)
DEFINE_DIRECTED_MODES(float, int, ulong, 0x1p64f)
DEFINE_DIRECTED_MODES(float, int, long, 0x1p63f)
DEFINE_DIRECTED_MODES(double, long, ulong, 0x1p64)
DEFINE_DIRECTED_MODES(double, long, long, 0x1p63)

// One step away from zero is +1 on the bits, towards zero -1, whatever the sign.
INLINE float step_float(float x, bool away) { return as_float(as_int(x) + (away ? 1 : -1)); }
INLINE float round_float_double_rtz(double x) {
  const float r = (float)x;
  return __builtin_elementwise_abs((double)r) > __builtin_elementwise_abs(x) ? step_float(r, false) : r;
}
INLINE float round_float_double_rtp(double x) {
  const float r = (float)x;
  return (double)r < x ? step_float(r, x > 0.0) : r;
}
INLINE float round_float_double_rtn(double x) {
  const float r = (float)x;
  return (double)r > x ? step_float(r, x < 0.0) : r;
}

#define EXACT_TO_FLOAT(n, T, S, mode, unused) \
  PURE T##n convert_##T##n##mode(S##n x) { return CAST_##n(T, x); }
#define INEXACT_TO_FLOAT(n, V, T, S)                                                                \
  PURE T##n convert_##T##n(S##n x) { return CAST_##n(T, x); }                                       \
  PURE T##n convert_##T##n##_rte(S##n x) { return CAST_##n(T, x); }                                 \
  PURE T##n convert_##T##n##_rtz(S##n x) { return MAP1(n, T, round_##T##_##S##_rtz, x); }           \
  PURE T##n convert_##T##n##_rtp(S##n x) { return MAP1(n, T, round_##T##_##S##_rtp, x); }           \
  PURE T##n convert_##T##n##_rtn(S##n x) { return MAP1(n, T, round_##T##_##S##_rtn, x); }

#define PAIR_II(n, V, T, S) DEFINE_MODES(INTEGER_TO_INTEGER, n, T, S, )
#define PAIR_FI(n, V, T, S) DEFINE_MODES(FLOAT_TO_INTEGER, n, T, S, )
#define PAIR_EXACT(n, V, T, S) DEFINE_MODES(EXACT_TO_FLOAT, n, T, S, )

#define TO_INTEGER(T, B, s)                             \
  WIDTHS(PAIR_II, T, char)                              \
  WIDTHS(PAIR_II, T, uchar)                             \
  WIDTHS(PAIR_II, T, short)                             \
  WIDTHS(PAIR_II, T, ushort)                            \
  WIDTHS(PAIR_II, T, int)                               \
  WIDTHS(PAIR_II, T, uint)                              \
  WIDTHS(PAIR_II, T, long)                              \
  WIDTHS(PAIR_II, T, ulong)                             \
  WIDTHS(DECLARE_SATURATE, T, , , B, float, 32, s)      \
  WIDTHS(DECLARE_SATURATE, T, , , B, double, 64, s)     \
  WIDTHS(PAIR_FI, T, float)                             \
  WIDTHS(PAIR_FI, T, double)
TO_INTEGER(char, 8, "s")
TO_INTEGER(uchar, 8, "u")
TO_INTEGER(short, 16, "s")
TO_INTEGER(ushort, 16, "u")
TO_INTEGER(int, 32, "s")
TO_INTEGER(uint, 32, "u")
TO_INTEGER(long, 64, "s")
TO_INTEGER(ulong, 64, "u")

WIDTHS(PAIR_EXACT, float, char)
WIDTHS(PAIR_EXACT, float, uchar)
WIDTHS(PAIR_EXACT, float, short)
WIDTHS(PAIR_EXACT, float, ushort)
WIDTHS(PAIR_EXACT, float, float)
WIDTHS(INEXACT_TO_FLOAT, float, int)
WIDTHS(INEXACT_TO_FLOAT, float, uint)
WIDTHS(INEXACT_TO_FLOAT, float, long)
WIDTHS(INEXACT_TO_FLOAT, float, ulong)
WIDTHS(INEXACT_TO_FLOAT, float, double)
WIDTHS(PAIR_EXACT, double, char)
WIDTHS(PAIR_EXACT, double, uchar)
WIDTHS(PAIR_EXACT, double, short)
WIDTHS(PAIR_EXACT, double, ushort)
WIDTHS(PAIR_EXACT, double, int)
WIDTHS(PAIR_EXACT, double, uint)
WIDTHS(PAIR_EXACT, double, float)
WIDTHS(PAIR_EXACT, double, double)
WIDTHS(INEXACT_TO_FLOAT, double, long)
WIDTHS(INEXACT_TO_FLOAT, double, ulong)
