// weft trace: runs a program and says what its commands did, when, where, and what they waited for.
#pragma once

#include <string>
#include <vector>

namespace weft::tools::trace {

struct Options {
  std::vector<std::string> program;  // and its arguments
  std::string read;                  // a folder of recordings, in place of a program
  std::string keep;                  // where the recordings stay; else they go
  std::string json;                  // for Perfetto and chrome://tracing
  std::string report;                // HTML
  unsigned limit_mib = 0;            // of recordings of one process; 0: as the library has it
};

// The program's exit status, 128 and its signal if one ended it; of recordings that were only read
// 0. Throws std::exception.
int run(const Options& options);

}  // namespace weft::tools::trace
