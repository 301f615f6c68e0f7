// Conversions to one type T, from every type; SATURATED where T is an integer.
#include "arrays.def"

#define CONVERT(n, N, S, mode) \
  CONVERT_(n, N, convert_##S##mode, JOIN(JOIN(convert_, JOIN(T, n)), mode), S)
#define CONVERT_(n, N, name, f, S) APPLY1(n, N, name, f, T, S)
#define MODES(S, sat)                \
  SOME_WIDTHS(CONVERT, S, sat)       \
  SOME_WIDTHS(CONVERT, S, sat##_rte) \
  SOME_WIDTHS(CONVERT, S, sat##_rtz) \
  SOME_WIDTHS(CONVERT, S, sat##_rtp) \
  SOME_WIDTHS(CONVERT, S, sat##_rtn)
#define SOURCES(sat)                                                                 \
  MODES(char, sat) MODES(uchar, sat) MODES(short, sat) MODES(ushort, sat) MODES(int, sat) \
  MODES(uint, sat) MODES(long, sat) MODES(ulong, sat) MODES(float, sat) MODES(double, sat)
SOURCES()
#ifdef SATURATED
SOURCES(_sat)
#endif
