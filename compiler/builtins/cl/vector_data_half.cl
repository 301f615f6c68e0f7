// OpenCL C 6.15.7 for half (cl_khr_fp16): vload and vstore of half vectors as they are.
#include "vector_data.def"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

DECLARE_UNALIGNED(half)
DEFINE_LOADS_OF(half)
DEFINE_STORES_OF(half)
