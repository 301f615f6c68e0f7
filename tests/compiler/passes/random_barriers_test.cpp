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

// Regions in functions of their own, most of them alone.
TEST(RandomBarriers, PlainInPieces) {
  compareRandomKernels(randomKernel, {false, Vectorising::never, /*most_together=*/60});
}
TEST(RandomBarriers, OptimisedInPieces) {
  compareRandomKernels(randomKernel, {true, Vectorising::always, /*most_together=*/200});
}

}  // namespace
}  // namespace weft::test
