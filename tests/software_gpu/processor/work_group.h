// Runs a kernel's work-groups: one work-item after the other, each on a stack of its own from where
// it first waits for others.
#pragma once

#include "tests/software_gpu/wire.h"

namespace weft::software {

// Every group of the grid, on the calling thread.
void runGrid(const LaunchRequest& launch);

// The kernel that the calling thread runs, for messages; nullptr for none.
const char* runningKernel();

}  // namespace weft::software
