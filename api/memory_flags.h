// cl_mem_flags as given to the functions that make memory objects.
// Specification 5.2.1, 5.2.3, 5.3.1.
#pragma once

#include "core/context.h"

namespace weft::api {

inline constexpr cl_mem_flags access_flags =
    CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
inline constexpr cl_mem_flags host_ptr_flags =
    CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
inline constexpr cl_mem_flags host_access_flags =
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

// "CL_INVALID_VALUE if values specified in flags are not valid."
void checkFlags(cl_mem_flags flags);
// "CL_INVALID_HOST_PTR if host_ptr is NULL and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR are set
// in flags or if host_ptr is not NULL but CL_MEM_COPY_HOST_PTR or CL_MEM_USE_HOST_PTR are not set."
// Nor is a device's own memory any of the host's.
void checkHostPtr(const Context& context, cl_mem_flags flags, const void* host_ptr);
// Memory that is used in place does not reach beyond the SVM allocation that it begins in.
bool fitsSvm(const Context& context, cl_mem_flags flags, const void* host_ptr, size_t size);
// The flags of an object made from another one: those given, and those that it inherits. Throws
// CL_INVALID_VALUE when they ask for more than the parent's allow.
cl_mem_flags inheritFlags(cl_mem_flags parent, cl_mem_flags flags);

}  // namespace weft::api
