// OpenCL C 6.15.11, async copies where a group's work-items run side by side: neighbours copy
// neighbouring elements. One end of a copy is in local memory, so 32 bits count them.
#define NAMED(f) __weft_own_##f
#define EACH(i, count)                                                                         \
  for (uint i = get_local_linear_id(),                                                         \
            step_##i = get_local_size(0) * get_local_size(1) * get_local_size(2);              \
       i < (uint)(count); i += step_##i)
#include "async_copy.def"

// cl_khr_async_work_group_copy_fence: what was copied before it was copied by others.
OVERLOAD void __weft_own_async_work_group_copy_fence(cl_mem_fence_flags flags) {
  (void)flags;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
