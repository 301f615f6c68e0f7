// What a lane must keep across barriers.
#pragma once

#include <vector>

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace weft::compiler {

// A barrier, alone in its block but for the branch to where its lanes go on.
struct Barrier {
  llvm::CallInst* call;
  llvm::BasicBlock* block;
  llvm::BasicBlock* continuation;
};

// Gives every barrier of `body` its own block.
std::vector<Barrier> isolateBarriers(llvm::Function& body);

// For each value that some barrier's continuation needs: the barriers (by number) where it is live.
using LiveAcross = llvm::MapVector<llvm::Instruction*, llvm::BitVector>;
LiveAcross findLiveAcross(llvm::Function& body, const std::vector<Barrier>& barriers);

// May the contents of `variable` be needed after a barrier that came after they were written? True
// also for any variable whose address escapes.
bool isLiveAcross(const llvm::AllocaInst& variable, const std::vector<Barrier>& barriers);

}  // namespace weft::compiler
