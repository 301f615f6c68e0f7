// Programs whose code is made when their kernels are first launched.
#include "tests/compiler/many_kernels.h"

#include <unistd.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr int kernels = 72;

class ManyKernels : public Programs {
 protected:
  // Helpers that no cache has seen.
  static std::string fresh() {
    static int count = 0;
    const auto time = std::chrono::steady_clock::now().time_since_epoch().count();
    std::string text = test::helpers;
    const std::string table = "table[4] = {1, 2, 4, 8";
    const size_t at = text.find(table);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, table.size(),
                 "table[7] = {1, 2, 4, 8, " + std::to_string(getpid()) + ", " +
                     std::to_string(++count) + ", " + std::to_string(time % 1'000'000'000));
    return text;
  }
  OwnedProgram manyKernels() const {
    return built(test::manyKernels(kernels, fresh(), test::sums));
  }
  static std::vector<cl_int> numbers() {
    std::vector<cl_int> values(8);
    std::iota(values.begin(), values.end(), 0);
    return values;
  }
  static std::vector<cl_int> expected(int k) {
    std::vector<cl_int> values;
    for (int i = 0; i < 8; ++i) values.push_back(test::sumOf(k, i));
    return values;
  }
  void runAndCompare(cl_program program, int k) const {
    const OwnedKernel kernel = this->kernel(program, ("k" + std::to_string(k)).c_str());
    const OwnedMem memory = upload(numbers());
    set(kernel, memory, Local{32}, cl_int{1});
    run(kernel, {{8}, {8}});
    EXPECT_EQ(download<cl_int>(memory), expected(k)) << k;
  }
};

TEST_F(ManyKernels, EachRuns) {
  const OwnedProgram program = manyKernels();
  for (int k = kernels; k-- > 0;) runAndCompare(program, k);
}

TEST_F(ManyKernels, FirstLaunchesOfSeveralThreads) {
  const OwnedProgram program = manyKernels();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = t; k < kernels; k += 7) runAndCompare(program, k);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ManyKernels, BinariesHaveAllCode) {
  const OwnedProgram program = manyKernels();
  runAndCompare(program, 3);
  const std::vector<unsigned char> bytes = binary(program);
  EXPECT_EQ(binary(program), bytes);
  cl_int code = 1;
  const OwnedProgram again = fromBinary(bytes, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  ASSERT_EQ(build(again), CL_SUCCESS);
  runAndCompare(again, 0);
  runAndCompare(again, kernels - 1);
  EXPECT_EQ(binary(again), bytes);
}

TEST_F(ManyKernels, AProgramMayEndBeforeItsCodeIsMade) {
  manyKernels();
  const OwnedProgram program = manyKernels();
  const OwnedKernel unused = kernel(program, "k1");
}

}  // namespace
}  // namespace weft::e2e
