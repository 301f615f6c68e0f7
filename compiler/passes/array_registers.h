// Private arrays that outlive a barrier, as variables.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {

// Unrolls the short loops of constant length that go through private arrays, where there are
// barriers, so that their elements become variables: a tile of results that each work-item has in
// registers, say. Arrays that outlive a barrier lie lane by lane in memory. Before the code is cut
// at barriers.
void putArraysInRegisters(llvm::Function& body, llvm::TargetMachine& machine);

}  // namespace weft::compiler
