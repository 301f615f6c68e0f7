// Arithmetic of which only the lower bits are kept, done in as many bits: i = (int)(i + n) with a
// counter i of 32 bits and an n of 64, for one, is 64-bit arithmetic of an extended i, which hides
// that i grows by one from lane to lane.
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

void narrowTruncated(llvm::Function& lane);

// Numbers whose lower halves are extended by shifts, as extensions of halves, which neighbours are
// recognised by; false if there are none. `shapes` does not hold any more if there are.
bool restoreExtensions(llvm::Function& lane, const LaneShapes& shapes);

// Sums of 64 bits of which nobody wants but 32, from halves. So LLVM's vectoriser counts lanes in
// 32 bits.
void narrowSums(llvm::Function& lane);

}  // namespace weft::compiler
