// OpenCL C 6.15.6 for half (cl_khr_fp16).
#include "relational.def"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define SMALLEST_half ((half)0x1p-14f)
#define HALF_TYPE(W, F) W(F, half, ushort, short, 16)

#define DEFINE_RELATIONAL_VECTOR(n, V, T, U, I, B) DEFINE_RELATIONAL(n, T, I, I##n, -1)
DEFINE_RELATIONAL(, half, short, int, 1)
HALF_TYPE(VECTOR_WIDTHS, DEFINE_RELATIONAL_VECTOR)
HALF_TYPE(WIDTHS, DEFINE_BITSELECT)
HALF_TYPE(VECTOR_WIDTHS, DEFINE_SELECT_VECTOR)
HALF_TYPE(DEFINE_SELECT_SCALAR, )
