// A recording as a trace in Chrome's format, which Perfetto's page (ui.perfetto.dev) and
// chrome://tracing open.
#pragma once

#include <ostream>
#include <vector>

#include "profiling/trace_reader.h"

namespace weft::tools::trace {

void writeChromeTrace(std::ostream& out, const std::vector<profiling::TracedProcess>& processes);

}  // namespace weft::tools::trace
