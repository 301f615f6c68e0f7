// A kernel that the members of a unified device run together. docs/balancing.md.
#pragma once

#include "core/kernel.h"
#include "scheduler/event.h"
#include "scheduler/queue.h"

namespace weft {

// The launch in parts, on the members of the queue's device; null when it has to stay whole, or
// when dividing it does not pay. What is enqueued is one command: its event completes with its last
// part.
Ref<Event> enqueueSplit(WaitList waits, Queue& queue, cl_command_type type,
                        const DeviceKernel& kernel, const Ref<ArgumentSet>& arguments,
                        const port::LaunchRecord& record);

// Writes what was measured to the performance store's file.
void keepMeasurements() noexcept;

}  // namespace weft
