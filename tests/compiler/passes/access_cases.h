// Test support: what the access analysis says of one pointer of one kernel, for one launch.
#pragma once

#include <ostream>
#include <sstream>

#include <gtest/gtest.h>

#include "core/access_evaluation.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {

// By-value arguments.
using AccessValues = std::vector<int64_t>;

// Kernel `k` with its arguments in any order; `argument` is the pointer in question, and `values`
// are those of the by-value arguments in their order. `touched` has R for bytes that are read, W
// for bytes that are overwritten, RW for bytes that may be written.
struct AccessCase {
  const char* name;
  const char* source;
  unsigned argument;
  NdRange range;
  AccessValues values;
  size_t size;
  const char* touched;
};

inline void PrintTo(const AccessCase& c, std::ostream* out) { *out << c.name; }

inline std::string textOf(const std::vector<TouchedRange>& ranges) {
  std::ostringstream out;
  for (const TouchedRange& range : ranges)
    out << (range.begin == ranges.front().begin ? "" : " ") << (range.reads ? "R" : "")
        << (range.writes ? "W" : "") << range.begin << "-" << range.end;
  return out.str();
}

inline std::string evaluate(const KernelInfo& kernel, const AccessCase& c) {
  std::vector<ArgumentValue> values(kernel.arguments.size());
  size_t next = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const ArgumentInfo& argument = kernel.arguments[i];
    for (const AccessRecord& record : argument.accesses)
      EXPECT_TRUE(isValid(record, kernel.arguments));
    if (i == c.argument || argument.reads_known || argument.writes_known) continue;
    std::vector<int64_t> bytes(2, 0);
    if (next < c.values.size()) bytes[0] = c.values[next++];
    values[i].setBytes(bytes.data(), argument.size);
  }
  const port::LaunchRecord launch = recordOf(c.range);
  std::vector<TouchedRange> ranges;
  AccessEvaluation(launch, values).touched(kernel.arguments[c.argument], c.size, ranges);
  return textOf(ranges);
}

constexpr NdRange line(uint64_t global, uint64_t local, uint64_t offset = 0) {
  return {1, {global, 1, 1}, {local, 1, 1}, {offset, 0, 0}};
}
constexpr NdRange plane(uint64_t width, uint64_t height, uint64_t local = 4) {
  return {2, {width, height, 1}, {local, local, 1}, {0, 0, 0}};
}

class AccessAnalysis : public ::testing::TestWithParam<AccessCase> {
 protected:
  void finds() {
    const auto kernels = loweredKernels(GetParam().source);
    const auto kernel =
        llvm::find_if(kernels, [](const KernelInfo& info) { return info.name == "k"; });
    ASSERT_NE(kernel, kernels.end());
    EXPECT_EQ(evaluate(*kernel, GetParam()), GetParam().touched);
  }
};

inline std::string nameOf(const ::testing::TestParamInfo<AccessCase>& info) {
  return info.param.name;
}

}  // namespace weft::test
