// weft perf
#pragma once

#include <cstdint>
#include <string>

namespace weft::tools::perf {

// What the performance store of this user holds, as a table.
int list();

struct PruneOptions {
  double older_than_days = 0;  // 0: any age
  std::string device;          // a UUID; empty: all
};
int prune(const PruneOptions& options);

// As JSON; an empty path is standard output.
int exportTo(const std::string& path);

}  // namespace weft::tools::perf
