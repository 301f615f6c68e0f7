// OpenCL C 6.15.11, async copies and prefetch, where a group's work-items run one after the other. The
// first one copies, in one piece; as all meet each copy, and wait_group_events is a barrier, nobody
// sees less than all.
#define NAMED(f) f
#define EACH(i, count)              \
  if (get_local_linear_id() == 0)   \
    for (size_t i = 0; i < (count); ++i)
#include "async_copy.def"

// There is nothing to do that the hardware would not do sooner.
#define DEFINE_PREFETCH(n, V, T)                                \
  OVERLOAD void prefetch(const __global T##n* p, size_t count) { \
    (void)p;                                                    \
    (void)count;                                                \
  }
WIDTHS(DEFINE_PREFETCH, char)
WIDTHS(DEFINE_PREFETCH, uchar)
WIDTHS(DEFINE_PREFETCH, short)
WIDTHS(DEFINE_PREFETCH, ushort)
WIDTHS(DEFINE_PREFETCH, int)
WIDTHS(DEFINE_PREFETCH, uint)
WIDTHS(DEFINE_PREFETCH, long)
WIDTHS(DEFINE_PREFETCH, ulong)
WIDTHS(DEFINE_PREFETCH, half)
WIDTHS(DEFINE_PREFETCH, float)
WIDTHS(DEFINE_PREFETCH, double)

#define DEFINE_WAIT(space, unused)                                       \
  OVERLOAD void wait_group_events(int count, space event_t* events) {    \
    (void)count;                                                         \
    (void)events;                                                        \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                 \
  }
STORABLE_SPACES(DEFINE_WAIT, )

// cl_khr_async_work_group_copy_fence: one work-item does all copies, in their order.
OVERLOAD void async_work_group_copy_fence(cl_mem_fence_flags flags) { (void)flags; }
