// weft explain
#pragma once

#include <string>

namespace weft::tools::explain {

struct Options {
  std::string source;   // a file of OpenCL C
  std::string options;  // of clBuildProgram
};

// Builds the program for the processor and prints, kernel by kernel, what the compiler says about
// its vectors: their width, what they do slowly, and what became none and why. Returns the exit
// status.
int run(const Options& options);

}  // namespace weft::tools::explain
