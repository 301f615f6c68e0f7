// weft simulate
#pragma once

#include <string>
#include <vector>

namespace weft::tools::simulate {

struct Options {
  std::string trace;                  // JSON: kernels
  std::vector<std::string> machines;  // TOML: members
  double misjudged = 0;               // see partition::simulator::Settings
  bool unknown = false;
};

// Runs every policy on every kernel and machine and prints what it took, as a Markdown table;
// returns the exit status. Throws std::runtime_error for files that are not as docs/balancing.md
// says.
int run(const Options& options);

}  // namespace weft::tools::simulate
