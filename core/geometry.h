// NDRange geometry: checks and the choice of a local size. Specification 5.10.
#pragma once

#include <cstddef>

#include <CL/cl.h>

#include "core/image.h"
#include "core/ports/launch.h"

namespace weft {

struct NDRange {
  cl_uint dimensions = 1;
  const size_t* offset = nullptr;  // may be null
  const size_t* global = nullptr;  // may be null or hold zeros where OpenCL 2.1 and later allow it
  const size_t* local = nullptr;   // may be null: chosen by the runtime
  // What is chosen may be given for the next such range: it fits even where nobody could tell.
  bool local_is_suggestion = false;
};

// The launch record for `range`, with a local size chosen where none was given. Throws
// CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_GLOBAL_OFFSET, CL_INVALID_WORK_GROUP_SIZE,
// CL_INVALID_WORK_ITEM_SIZE. A kernel may have a smaller limit than the device. An NDRange with a
// zero size has group_count 0 in that dimension.
port::LaunchRecord makeLaunchRecord(const NDRange& range, const KernelInfo& kernel,
                                    const port::Capabilities& device,
                                    size_t max_work_group_size = SIZE_MAX);

// The groups of a record as the program named them.
port::GroupBox namedGroups(const port::LaunchRecord& record, const port::GroupBox& groups);

}  // namespace weft
