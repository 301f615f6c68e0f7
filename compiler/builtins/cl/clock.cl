// cl_khr_kernel_clock. Which counter each of the two is on a target, retarget() says.
#include "types.def"

#define DEFINE_CLOCK(scope, counter)                                                               \
  OVERLOAD ulong clock_read_##scope(void) { return counter(); }                                    \
  OVERLOAD uint2 clock_read_hilo_##scope(void) { return AS(uint2, (ulong)counter()); }
DEFINE_CLOCK(device, __builtin_readsteadycounter)
DEFINE_CLOCK(work_group, __builtin_readcyclecounter)
DEFINE_CLOCK(sub_group, __builtin_readcyclecounter)
