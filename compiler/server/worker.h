// What a forked child does with its job.
#pragma once

#include <cstdint>

namespace weft::compiler {

inline constexpr int out_of_memory_status = 97;

struct Limits {
  uint64_t memory_mib = 4096;
  uint64_t seconds = 300;  // of the clock, if it got the processors for as long
};

// From WEFT_COMPILER_MEMORY_MB and WEFT_COMPILER_TIMEOUT.
Limits readLimits();

// Reads the job from `socket`, runs it under `limits`, in up to so many processes, each of which
// has these limits, answers, ends the process.
[[noreturn]] void runWorker(int socket, const Limits& limits, unsigned processes);

}  // namespace weft::compiler
