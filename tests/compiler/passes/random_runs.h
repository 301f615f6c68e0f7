// Runs random kernels in launches of random sizes, lowered and with one fiber per work-item, and
// compares. WEFT_RANDOM_SEEDS=first:count takes other seeds than the fixed ones.
#pragma once

#include <cstdint>
#include <string>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {

struct Seeds {
  uint64_t first, count;
};

// WEFT_RANDOM_SEEDS, or the first `count`; a quarter of them where a sanitizer makes each take
// several times as long.
Seeds randomSeeds(uint64_t count);

// With the parameters of random_kernel.h's.
using KernelGenerator = std::string (*)(const std::string& name, uint64_t seed);

// Fails the test at the first difference.
void compareRandomKernels(KernelGenerator generate, const compiler::LoweringOptions& options);
inline void compareRandomKernels(KernelGenerator generate, bool optimize,
                                 compiler::Vectorising vectorise) {
  compareRandomKernels(generate, {optimize, vectorise});
}

}  // namespace weft::test
