// How what was recorded is called where people read it.
#pragma once

#include <string>

#include "profiling/trace_reader.h"

namespace weft::tools::trace {

// "1.23 ms"; ns.
std::string duration(uint64_t nanoseconds);
// "1.2 MiB"
std::string size(uint64_t bytes);
// A device by its place in the process and its name; nobody: the host.
std::string deviceName(const profiling::TracedProcess& process, size_t device);
// "4096 x 4096 in groups of 16 x 16"; empty where there are none.
std::string range(const profiling::trace::CommandRecord& record);

}  // namespace weft::tools::trace
