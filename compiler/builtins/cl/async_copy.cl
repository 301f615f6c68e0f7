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

// cl_khr_extended_async_copies. Offsets, lengths and areas count elements.
#define DEFINE_RECT_COPIES(to, from)                                                             \
  OVERLOAD event_t async_work_group_copy_3D3D(                                                   \
      to void* destination, size_t destination_offset, const from void* source,                  \
      size_t source_offset, size_t element_bytes, size_t line_elements, size_t lines,            \
      size_t planes, size_t source_line, size_t source_plane, size_t destination_line,           \
      size_t destination_plane, event_t event) {                                                 \
    if (get_local_linear_id() != 0) return event;                                                \
    for (size_t z = 0; z < planes; ++z)                                                          \
      for (size_t y = 0; y < lines; ++y) {                                                       \
        const size_t to_at = destination_offset + z * destination_plane + y * destination_line;  \
        const size_t from_at = source_offset + z * source_plane + y * source_line;               \
        to uchar* d = (to uchar*)destination + to_at * element_bytes;                            \
        const from uchar* s = (const from uchar*)source + from_at * element_bytes;               \
        for (size_t i = 0; i < line_elements * element_bytes; ++i) d[i] = s[i];                  \
      }                                                                                          \
    return event;                                                                                \
  }                                                                                              \
  OVERLOAD event_t async_work_group_copy_2D2D(                                                   \
      to void* destination, size_t destination_offset, const from void* source,                  \
      size_t source_offset, size_t element_bytes, size_t line_elements, size_t lines,            \
      size_t source_line, size_t destination_line, event_t event) {                              \
    return async_work_group_copy_3D3D(destination, destination_offset, source, source_offset,    \
                                      element_bytes, line_elements, lines, 1, source_line, 0,    \
                                      destination_line, 0, event);                               \
  }
DEFINE_RECT_COPIES(__local, __global)
DEFINE_RECT_COPIES(__global, __local)

// cl_khr_async_work_group_copy_fence: one work-item does all copies, in their order.
OVERLOAD void async_work_group_copy_fence(cl_mem_fence_flags flags) { (void)flags; }
