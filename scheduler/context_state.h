// What the scheduler keeps for a context: tickets and residency, transfer streams, the thread that
// runs the application's callbacks, statistics.
#pragma once

#include <memory>

#include "core/context.h"

namespace weft {

struct DeviceStatistics {
  cl_ulong commands = 0;
  cl_ulong busy_ns = 0;    // during which there were any: DeviceWork
  cl_ulong bytes_in = 0;   // moved to the device's memory space by migration
  cl_ulong bytes_out = 0;  // moved from it
  cl_ulong transfers = 0;  // into it
  cl_ulong evictions = 0;  // memory objects that lost their memory there to others
};

// Made by api/ for every new context: context.setState(makeContextState(context)).
std::unique_ptr<ContextState> makeContextState(Context& context);

// Since the context was made. The device belongs to the context.
DeviceStatistics statistics(const Context& context, const Device& device);

}  // namespace weft
