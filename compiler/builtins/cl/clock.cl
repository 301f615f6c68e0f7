// cl_khr_kernel_clock. The processor's counter of time is one for all its cores, and so for every
// scope.
#include "types.def"

#define DEFINE_CLOCK(scope)                                                        \
  OVERLOAD ulong clock_read_##scope(void) { return __builtin_readcyclecounter(); } \
  OVERLOAD uint2 clock_read_hilo_##scope(void) {                                   \
    return AS(uint2, (ulong)__builtin_readcyclecounter());                         \
  }
DEFINE_CLOCK(device)
DEFINE_CLOCK(work_group)
DEFINE_CLOCK(sub_group)
