// weft demo: a photograph through a pipeline of kernels over every device of one context.
#pragma once

#include <string>
#include <utility>

namespace weft::tools::demo {

struct Options {
  std::string photo;                        // empty: painted
  std::pair<int, int> size = {4608, 3072};  // of the painted picture, in pixels
  std::string output = "weft-demo.png";
};

// Returns the exit status: 0 when every stage matches the reference. `argv` is for starting the
// command again with other settings.
int run(const Options& options, char** argv);

}  // namespace weft::tools::demo
