// A kernel that the members of a unified device run together. docs/balancing.md.
#pragma once

#include "core/kernel.h"
#include "scheduler/event.h"
#include "scheduler/experience.h"
#include "scheduler/queue.h"
#include "scheduler/split_check.h"

namespace weft {

// The launch in parts, on the members of the queue's device, or on the best of them where dividing
// it does not pay; null when it has to stay whole. What is enqueued is one command: its event
// completes with its last part. `whole` enqueues it undivided, for a checking mode.
Ref<Event> enqueueSplit(WaitList waits, Queue& queue, cl_command_type type,
                        const DeviceKernel& kernel, const std::shared_ptr<Experience>& experience,
                        const ArgumentSet& arguments, const port::LaunchRecord& record,
                        const LaunchWay& whole);

}  // namespace weft
