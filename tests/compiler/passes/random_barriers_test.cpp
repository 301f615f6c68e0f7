// Random control flow with barriers against one fiber per work-item.
#include <gtest/gtest.h>

#include "tests/compiler/passes/random_kernel.h"
#include "tests/compiler/passes/random_runs.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

TEST(RandomBarriers, Plain) { compareRandomKernels(randomKernel, false, Vectorising::never); }
TEST(RandomBarriers, Optimised) {
  compareRandomKernels(randomKernel, true, Vectorising::automatic);
}
TEST(RandomBarriers, Vectors) { compareRandomKernels(randomKernel, false, Vectorising::always); }
TEST(RandomBarriers, OptimisedVectors) {
  compareRandomKernels(randomKernel, true, Vectorising::always);
}

}  // namespace
}  // namespace weft::test
