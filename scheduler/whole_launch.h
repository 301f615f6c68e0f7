// A kernel that one member of a unified device runs whole, the one that is expected to have done it
// first. docs/balancing.md.
#pragma once

#include "scheduler/event.h"
#include "scheduler/experience.h"
#include "scheduler/work.h"

namespace weft {

// Null where it is the queue's own device, the first member, that has to run it; else it takes over
// `launch`.
Ref<Event> enqueueWhole(WaitList waits, Queue& queue, cl_command_type type,
                        std::shared_ptr<Experience> experience, LaunchWork& launch);

}  // namespace weft
