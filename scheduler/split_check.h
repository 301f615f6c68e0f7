// WEFT_CHECK_SPLIT: kernels that are divided run whole, too, and both results are compared.
// docs/balancing.md.
#pragma once

#include <functional>

#include "core/kernel.h"
#include "scheduler/event.h"
#include "scheduler/queue.h"

namespace weft {

// A launch of the kernel in one of the two ways.
using LaunchWay = std::function<Ref<Event>(WaitList)>;

bool checksSplits();

// Both ways, one after the other, from the same bytes: those of all objects that the launch writes
// to, so that what is known of its writes is checked, too, if the queue is in order and the
// context's only one; else those that the launch may write as far as that is known, since what lies
// beside them may be other commands' to write meanwhile. The event is that of the comparison: its
// status is CL_OUT_OF_RESOURCES, with a report to the context and on standard error, where a byte
// differs. What stays is what the whole launch left.
Ref<Event> enqueueChecked(WaitList waits, Queue& queue, cl_command_type type,
                          const DeviceKernel& kernel, const ArgumentSet& arguments,
                          const port::LaunchRecord& record, const LaunchWay& divided,
                          const LaunchWay& whole);

}  // namespace weft
