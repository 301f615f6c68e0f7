// Programs of many kernels, whose code is made in parts by several processes.
#include <sched.h>

#include <numeric>

#include "tests/compiler/fixture.h"
#include "tests/compiler/many_kernels.h"
#include "tests/compiler/program.h"

namespace weft {
namespace {

using test::contains;
using test::Program;

constexpr int kernels = 40;

std::string named(int number) { return "k" + std::to_string(number); }

std::string program(const std::string& before, const std::string& body) {
  return test::manyKernels(kernels, before, body);
}

class PartsTest : public test::CompilerTest {
 protected:
  PartsTest() { set("WEFT_CACHE", "0"); }

  Program load(const std::string& source, const std::string& options = "-cl-std=CL3.0") {
    const auto result = build(source, options);
    if (!result.ok) throw std::runtime_error(result.log);
    return Program(result.image);
  }
  static void run(const Program& program, int kernel, std::vector<int>& values, int n = 1) {
    int* pointer = values.data();
    const uint64_t offset = program.kernel(named(kernel)).local_bytes;
    program.run(named(kernel), {8, 1, 1}, {8, 1, 1}, {&pointer, &offset, &n}, 32);
  }
};

TEST_F(PartsTest, EachKernelIsThere) {
  const Program program = load(weft::program(test::helpers, test::sums));
  ASSERT_EQ(program.image().kernels.size(), size_t{kernels});
  for (int k = 0; k < kernels; ++k) {
    std::vector<int> values(8);
    std::iota(values.begin(), values.end(), 0);
    run(program, k, values);
    for (int i = 0; i < 8; ++i) ASSERT_EQ(values[i], test::sumOf(k, i)) << k;
  }
}

TEST_F(PartsTest, TheCodeIsTheSameHoweverManyMakeIt) {
  const std::string source = weft::program(test::helpers, test::sums);
  const auto many = build(source);
  ASSERT_TRUE(many.ok) << many.log;
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  newCompiler();
  const auto alone = build(source);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  ASSERT_TRUE(alone.ok) << alone.log;
  EXPECT_TRUE(many.image == alone.image);
}

TEST_F(PartsTest, WhatKernelsWriteIsOne) {
  const Program program = load(weft::program("global int counter = 5;\n",
                                             "  if (i == 0) { p[0] = counter; counter += n; }\n"));
  std::vector<int> values(8);
  run(program, 0, values, 3);
  EXPECT_EQ(values[0], 5);
  run(program, kernels - 1, values);
  EXPECT_EQ(values[0], 8);
}

TEST_F(PartsTest, AddressesThatMeetAreOfOneConstant) {
  const Program program = load(
      weft::program("constant int table[2] = {1, 2};\n"
                    "void tell(global int* p, constant int* t) { *(global ulong*)p = (ulong)t; }\n",
                    "  if (i == 0) tell(p, table + n);\n"));
  std::vector<int> first(8), last(8);
  run(program, 0, first);
  run(program, kernels - 1, last);
  EXPECT_EQ(first, last);
}

// With a little arithmetic, or there would be one part anyway.
TEST_F(PartsTest, LargeConstantsAreNotCopied) {
  constexpr size_t bytes = 256 << 10;
  std::string table = "constant int table[" + std::to_string(bytes / 4) + "] = {1";
  for (size_t i = 1; i < bytes / 4; ++i) table += ',' + std::to_string(i % 1000);
  std::string body;
  for (int i = 0; i < 40; ++i)
    body += "  p[i] += table[p[i] * 7 + n & " + std::to_string(bytes / 4 - 1) + "];\n";
  const auto result = build(weft::program(table + "};\n", body), "-cl-std=CL3.0");
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_LT(result.image.size(), 4 * bytes);
}

TEST_F(PartsTest, ErrorsAreThoseOfOneProcess) {
  const auto result = build(weft::program("int missing(int);\n", "  p[i] = missing(l[i]);\n"));
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "missing")) << result.log;
}

}  // namespace
}  // namespace weft
