#include "api/memory_flags.h"

#include <bit>

#include "core/error.h"
#include "core/svm.h"

namespace weft::api {

// "Mutually exclusive": at most one of each group, and the host's memory is used or else allocated
// or copied.
void checkFlags(cl_mem_flags flags) {
  require((flags & ~(access_flags | host_ptr_flags | host_access_flags)) == 0, CL_INVALID_VALUE,
          "unknown memory flag");
  require(std::popcount(flags & access_flags) <= 1, CL_INVALID_VALUE, "access flags exclude");
  require(std::popcount(flags & host_access_flags) <= 1, CL_INVALID_VALUE,
          "host access flags exclude");
  require(
      !(flags & CL_MEM_USE_HOST_PTR) || !(flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)),
      CL_INVALID_VALUE, "CL_MEM_USE_HOST_PTR excludes allocating and copying");
}

void checkHostPtr(const Context& context, cl_mem_flags flags, const void* host_ptr) {
  const bool wants_pointer = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
  require(wants_pointer == (host_ptr != nullptr), CL_INVALID_HOST_PTR);
  const Ref<SvmAllocation> allocation = context.svm().find(host_ptr);
  require(!allocation || !allocation->home(), CL_INVALID_HOST_PTR, "memory of a device's own");
}

bool fitsSvm(const Context& context, cl_mem_flags flags, const void* host_ptr, size_t size) {
  if (!(flags & CL_MEM_USE_HOST_PTR)) return true;
  const Ref<SvmAllocation> allocation = context.svm().find(host_ptr);
  return !allocation || allocation->holds(host_ptr, size);
}

cl_mem_flags inheritFlags(cl_mem_flags parent, cl_mem_flags flags) {
  require(!(flags & host_ptr_flags), CL_INVALID_VALUE, "host pointers are the parent's");
  checkFlags(flags);
  // "CL_INVALID_VALUE if buffer was created with [left] and flags specify [right]."
  struct Conflict {
    cl_mem_flags parent, child;
  };
  constexpr Conflict conflicts[] = {
      {CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY},
      {CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY},
      {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY},
      {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY},
      {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY},
  };
  for (const Conflict& conflict : conflicts)
    require(!(parent & conflict.parent && flags & conflict.child), CL_INVALID_VALUE,
            "more access than the parent allows");
  if (!(flags & access_flags)) flags |= parent & access_flags;
  if (!(flags & host_access_flags)) flags |= parent & host_access_flags;
  return flags | (parent & host_ptr_flags);
}

}  // namespace weft::api
