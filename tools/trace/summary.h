// What a recorded process did, as a page of text.
#pragma once

#include "profiling/trace_reader.h"

namespace weft::tools::trace {

// To standard output.
void printSummary(const profiling::TracedProcess& process);

}  // namespace weft::tools::trace
