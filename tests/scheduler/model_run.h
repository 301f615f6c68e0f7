// Runs plans (model.h) through the scheduler on devices made of software.
#pragma once

#include "tests/scheduler/model.h"

namespace weft::test::model {

struct RunResult {
  Outcome outcome;
  std::string wrong;  // what went wrong beyond the outcome: a hang, a violation, a leak
};

// Decides what happens next.
class Choices {
 public:
  virtual ~Choices() = default;
  // One of 0 to `count` - 1.
  virtual size_t choose(size_t count) = 0;
};

// Everything happens on the calling thread. Between the calls operations end as `choices` says,
// `failures` of them and of the devices' allocations at most without success.
RunResult run(const Plan& plan, Choices& choices, int failures);

// With one host thread everything happens on the calling thread, in an order that the plan's seed
// decides; with more, calls come from as many threads. Prints the plan and aborts on a hang that
// cannot be unwound.
RunResult run(const Plan& plan);

}  // namespace weft::test::model
