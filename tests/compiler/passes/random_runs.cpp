#include "tests/compiler/passes/random_runs.h"

#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "tests/compiler/passes/fiber_reference.h"
#include "tests/compiler/passes/random_kernel.h"

namespace weft::test {
namespace {

constexpr unsigned kernels_per_program = 8;

NdRange randomRange(std::mt19937_64& random) {
  auto below = [&](uint64_t n) { return random() % n; };
  NdRange range;
  range.work_dim = 1 + static_cast<uint32_t>(below(3));
  const uint64_t most[] = {70, 24, 5};
  for (unsigned d = 0; d < range.work_dim; ++d) {
    range.local[d] = 1 + below(most[d] / range.work_dim);
    range.global[d] = range.local[d] * (1 + below(2)) + below(range.local[d]);
    range.offset[d] = below(2) * below(1000);
  }
  return range;
}

void compare(const Program& lowered, const FiberReference& reference, const std::string& kernel,
             uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x5eed);
  std::vector<uint32_t> in(random_input_size);
  for (uint32_t& v : in) v = static_cast<uint32_t>(random());
  for (int launch = 0; launch < 2; ++launch) {
    NdRange range = randomRange(random);
    const auto n = static_cast<uint32_t>(random() % 10), m = static_cast<uint32_t>(random() % 10);
    uint64_t items = range.global[0] * range.global[1] * range.global[2];
    uint64_t lanes = range.local[0] * range.local[1] * range.local[2];
    std::vector<uint32_t> want(items * random_outputs, 0xdeadbeef), out = want;
    reference.run(kernel, range, want.data(), in.data(), n, m);
    lowered.run(kernel, range,
                {Program::buffer(out.data()), Program::buffer(in.data()), Program::value(n),
                 Program::value(m), Program::local(lanes * 4)});
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], want[i]) << "seed " << seed << ", work-item " << i / random_outputs
                                 << " of " << items << " in groups of " << range.local[0] << "x"
                                 << range.local[1] << "x" << range.local[2] << ", output "
                                 << i % random_outputs;
  }
}

}  // namespace

Seeds randomSeeds(uint64_t count) {
  if (const char* text = std::getenv("WEFT_RANDOM_SEEDS")) {
    char* end;
    const uint64_t first = std::strtoull(text, &end, 10);
    return {first, *end == ':' ? std::strtoull(end + 1, nullptr, 10) : 1};
  }
#ifdef __SANITIZE_ADDRESS__
  count = (count + 3) / 4;
#endif
  return {1, count};
}

void compareRandomKernels(KernelGenerator generate, const compiler::LoweringOptions& options) {
  const Seeds all = randomSeeds(110);
  // Optimised kernels take several times as long to compile, and so do those in vectors.
  const bool large = options.optimize || options.vectorise == compiler::Vectorising::always;
  const uint64_t count = large ? (all.count + 3) / 4 : all.count;
  for (uint64_t at = 0; at < count; at += kernels_per_program) {
    std::string source;
    uint64_t end = std::min<uint64_t>(at + kernels_per_program, count);
    for (uint64_t i = at; i < end; ++i)
      source += generate("k" + std::to_string(i - at), all.first + i);
    if (std::getenv("WEFT_TEST_PRINT")) std::fputs(source.c_str(), stderr);
    FiberReference reference(source);
    Program lowered(source, options);
    for (uint64_t i = at; i < end; ++i) {
      compare(lowered, reference, "k" + std::to_string(i - at), all.first + i);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace weft::test
