// A recording as one HTML page that needs nothing else: tables and a timeline.
#pragma once

#include <ostream>
#include <vector>

#include "profiling/trace_reader.h"

namespace weft::tools::trace {

void writeReport(std::ostream& out, const std::vector<profiling::TracedProcess>& processes);

}  // namespace weft::tools::trace
