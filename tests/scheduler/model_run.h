// Runs plans (model.h) through the scheduler on devices made of software.
#pragma once

#include "tests/scheduler/model.h"

namespace weft::test::model {

struct RunResult {
  Outcome outcome;
  std::string wrong;  // what went wrong beyond the outcome: a hang, a violation, a leak
};

// With one host thread everything happens on the calling thread, in an order that the plan's seed
// decides; with more, calls come from as many threads. Prints the plan and aborts on a hang that
// cannot be unwound.
RunResult run(const Plan& plan);

}  // namespace weft::test::model
