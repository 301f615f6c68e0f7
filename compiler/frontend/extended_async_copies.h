// What Clang 19 does not declare by itself; appended to its opencl-c-base.h.
#ifdef cl_khr_extended_async_copies
event_t __attribute__((overloadable, convergent)) async_work_group_copy_2D2D(__local void*, size_t,
                                                                             const __global void*,
                                                                             size_t, size_t, size_t,
                                                                             size_t, size_t, size_t,
                                                                             event_t);
event_t __attribute__((overloadable, convergent)) async_work_group_copy_2D2D(__global void*, size_t,
                                                                             const __local void*,
                                                                             size_t, size_t, size_t,
                                                                             size_t, size_t, size_t,
                                                                             event_t);
event_t __attribute__((overloadable, convergent)) async_work_group_copy_3D3D(
    __local void*, size_t, const __global void*, size_t, size_t, size_t, size_t, size_t, size_t,
    size_t, size_t, size_t, event_t);
event_t __attribute__((overloadable, convergent)) async_work_group_copy_3D3D(
    __global void*, size_t, const __local void*, size_t, size_t, size_t, size_t, size_t, size_t,
    size_t, size_t, size_t, event_t);
// Of cl_khr_async_work_group_copy_fence, a name that the conformance suite does not let devices
// report.
void __attribute__((overloadable, convergent)) async_work_group_copy_fence(cl_mem_fence_flags);
#endif
