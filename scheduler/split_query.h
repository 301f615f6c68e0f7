// What becomes of a kernel on a unified device, without running it. docs/balancing.md.
#pragma once

#include "core/geometry.h"
#include "core/kernel.h"
#include "partition/split.h"
#include "scheduler/queue.h"

namespace weft {

// How a launch with the kernel's current arguments can be divided. Throws as enqueueLaunch() does,
// and CL_INVALID_OPERATION where the queue's device is not a unified one.
std::shared_ptr<const partition::Split> splitOf(const Queue& queue, const Kernel& kernel,
                                                const NDRange& range);

}  // namespace weft
