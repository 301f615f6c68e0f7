// Do the lanes of a group meet the same barriers? OpenCL demands it of programs, but for lanes that
// return early; programs that break the rule still run here, only slower.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>

#include "compiler/passes/liveness.h"
#include "compiler/passes/uniformity.h"

namespace weft::compiler {

class Lockstep {
 public:
  Lockstep(llvm::Function& body, const std::vector<Barrier>& barriers,
           const Uniformity& uniformity);

  // Are all lanes that have not returned always at the same barrier, in the same turn of each loop?
  // Only then does it mean anything across barriers that a value is uniform.
  bool holds() const { return holds_; }
  // Do all lanes that run the region from `start` agree where they go on?
  bool agreeFrom(const llvm::BasicBlock& start) const;

 private:
  bool barrierBetween(const llvm::BasicBlock& from, const llvm::BasicBlock* to) const;

  bool holds_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> barriers_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> before_barrier_;  // a barrier can be reached
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> leaving_;  // where some lanes may leave for good
};

}  // namespace weft::compiler
