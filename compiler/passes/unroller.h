// Unrolling loops that are chosen one by one.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class AssumptionCache;
class DominatorTree;
class ScalarEvolution;
class TargetTransformInfo;
}  // namespace llvm

namespace weft::compiler {

// Of one turn, in instructions.
size_t lengthOf(const llvm::Loop& loop);

// Does the program say how far it is to be unrolled, or somebody else?
bool isSpokenFor(const llvm::Loop& loop);

// Does it call what work-items do together? Those of one turn would meet in copies of the call.
bool isCooperative(const llvm::Loop& loop);

// For functions whose loops are in their simple forms.
class Unroller {
 public:
  Unroller(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

  // Is the number of turns known when it begins?
  bool canCountTurns(const llvm::Loop& loop) const;

  // Makes `count` turns one of each loop that `is_meant`, that nobody speaks for and that is not
  // cooperative; what is left over comes behind, turn by turn. Tells of loops that are left.
  // Returns whether there were any.
  bool unroll(
      unsigned count, llvm::function_ref<bool(llvm::Loop&)> is_meant,
      llvm::function_ref<void(llvm::Loop&)> left = [](llvm::Loop&) {});

 private:
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& dominators_;
  llvm::AssumptionCache& assumptions_;
  llvm::ScalarEvolution& evolution_;
  const llvm::TargetTransformInfo& target_;
  llvm::OptimizationRemarkEmitter remarks_;
};

}  // namespace weft::compiler
