// From a job to its answer: front end, link, builtins, lowering to lanes, optimisation, code.
#pragma once

#include "compiler/job.h"

namespace weft::compiler {

// Not thread-safe (lld has global state). A crash of Clang or LLVM is a crash here.
Answer runJob(const Job& job);

}  // namespace weft::compiler
