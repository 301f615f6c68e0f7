// From a job to its answer: front end, link, builtins, lowering to lanes, optimisation, code.
#pragma once

#include "compiler/job.h"

namespace weft::compiler {

// Not thread-safe (lld has global state). A crash of Clang or LLVM is a crash here.
// Up to `processes` copies of this process may work on the job, if it is more than one.
Answer runJob(const Job& job, unsigned processes = 1);

}  // namespace weft::compiler
