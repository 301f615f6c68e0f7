#include "arrays.def"

#define TWO(f, R, T) WIDTHS(APPLY2, f##_##T, f, R, T, T)
#define THREE(f, R, T) WIDTHS(APPLY3, f##_##T, f, R, T, T, T)

WIDTHS(APPLY2, upsample_char, upsample, short, char, uchar)
WIDTHS(APPLY2, upsample_uchar, upsample, ushort, uchar, uchar)
WIDTHS(APPLY2, upsample_short, upsample, int, short, ushort)
WIDTHS(APPLY2, upsample_ushort, upsample, uint, ushort, ushort)
WIDTHS(APPLY2, upsample_int, upsample, long, int, uint)
WIDTHS(APPLY2, upsample_uint, upsample, ulong, uint, uint)
TWO(mul24, int, int)
TWO(mul24, uint, uint)
THREE(mad24, int, int)
THREE(mad24, uint, uint)
