// What a job has had of the processors.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace weft::compiler {

// Of the process and of its children, also of those that it has waited for; not of theirs. Zero of
// a process that is gone.
std::chrono::milliseconds processorTime(pid_t pid);

}  // namespace weft::compiler
