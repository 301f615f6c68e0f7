// OpenCL C 6.15.11, async copies and prefetch. The first work-item copies, in one piece; as all of a
// work-group's items meet each copy, and wait_group_events is a barrier, nobody sees less than all.
#include "types.def"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// For the code of `prefetch` there is nothing to do that the hardware would not do sooner.
#define DEFINE_COPIES(to, from, T)                                                              \
  OVERLOAD event_t async_work_group_copy(to T* destination, const from T* source, size_t count, \
                                         event_t event) {                                       \
    if (get_local_linear_id() == 0)                                                             \
      for (size_t i = 0; i < count; ++i) destination[i] = source[i];                            \
    return event;                                                                               \
  }
#define DEFINE_ASYNC(n, V, T)                                                                   \
  DEFINE_COPIES(__local, __global, T##n)                                                        \
  DEFINE_COPIES(__global, __local, T##n)                                                        \
  OVERLOAD event_t async_work_group_strided_copy(__local T##n* destination,                     \
                                                 const __global T##n* source, size_t count,     \
                                                 size_t source_stride, event_t event) {         \
    if (get_local_linear_id() == 0)                                                             \
      for (size_t i = 0; i < count; ++i) destination[i] = source[i * source_stride];            \
    return event;                                                                               \
  }                                                                                             \
  OVERLOAD event_t async_work_group_strided_copy(__global T##n* destination,                    \
                                                 const __local T##n* source, size_t count,      \
                                                 size_t destination_stride, event_t event) {    \
    if (get_local_linear_id() == 0)                                                             \
      for (size_t i = 0; i < count; ++i) destination[i * destination_stride] = source[i];       \
    return event;                                                                               \
  }                                                                                             \
  OVERLOAD void prefetch(const __global T##n* p, size_t count) {                                \
    (void)p;                                                                                    \
    (void)count;                                                                                \
  }
WIDTHS(DEFINE_ASYNC, char)
WIDTHS(DEFINE_ASYNC, uchar)
WIDTHS(DEFINE_ASYNC, short)
WIDTHS(DEFINE_ASYNC, ushort)
WIDTHS(DEFINE_ASYNC, int)
WIDTHS(DEFINE_ASYNC, uint)
WIDTHS(DEFINE_ASYNC, long)
WIDTHS(DEFINE_ASYNC, ulong)
WIDTHS(DEFINE_ASYNC, half)
WIDTHS(DEFINE_ASYNC, float)
WIDTHS(DEFINE_ASYNC, double)

#define DEFINE_WAIT(space, unused)                                       \
  OVERLOAD void wait_group_events(int count, space event_t* events) {    \
    (void)count;                                                         \
    (void)events;                                                        \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                 \
  }
STORABLE_SPACES(DEFINE_WAIT, )
