// Differences of integers that are more than one of the GPU's instructions.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// For NVIDIA's GPUs, which compute with 32 bits only. Makes one instruction, `sad`, of the distance
// of two numbers (max(a, b) - min(a, b), as abs_diff has it) and of what it is added to; and
// computes sums and differences of 8 and 16 bits that saturate with 32, where they cannot overflow.
// Optimising the module after this could undo it.
void joinDifferences(llvm::Module& module);

}  // namespace weft::compiler
