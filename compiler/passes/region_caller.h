// Calls of region functions, and the loops that run one for all lanes of a work-group.
#pragma once

#include <array>

#include <llvm/IR/IRBuilder.h>

#include "compiler/passes/kernel_body.h"
#include "compiler/passes/lane_loops.h"
#include "compiler/passes/regions.h"

namespace weft::compiler {

class RegionCaller {
 public:
  RegionCaller(const KernelBody& body, llvm::SmallVector<llvm::Value*> arguments)
      : first_(body.firstHidden()), arguments_(std::move(arguments)) {}

  llvm::Value*& hidden(unsigned parameter) { return arguments_[first_ + parameter]; }
  const llvm::SmallVector<llvm::Value*>& arguments() const { return arguments_; }
  std::array<llvm::Value*, 3> localSize() {
    return {hidden(env::local_size), hidden(env::local_size + 1), hidden(env::local_size + 2)};
  }

  // `function` is a region's, or its vector form with `more` parameters.
  llvm::CallInst* call(llvm::IRBuilder<>& builder, llvm::Function* function, const Lane& lane,
                       llvm::ArrayRef<llvm::Value*> slots,
                       llvm::ArrayRef<llvm::Value*> slot_results,
                       llvm::ArrayRef<llvm::Value*> more = {});

 private:
  unsigned first_;
  llvm::SmallVector<llvm::Value*> arguments_;
};

llvm::Value* statePlace(llvm::IRBuilder<>& builder, const SplitKernel& split, RegionCaller& caller,
                        llvm::Value* lane);

// The least and the greatest of the lanes' states.
struct StateRange {
  llvm::AllocaInst *least, *greatest;

  static StateRange create(llvm::IRBuilder<>& builder);
  void reset(llvm::IRBuilder<>& builder) const;
  void include(llvm::IRBuilder<>& builder, llvm::Value* state) const {
    include(builder, state, state);
  }
  void include(llvm::IRBuilder<>& builder, llvm::Value* low, llvm::Value* high) const;
  llvm::Value* agree(llvm::IRBuilder<>& builder) const;
};

// A region to be run for all lanes, and where to put what comes out.
struct LaneRun {
  llvm::IRBuilder<>& builder;
  const SplitKernel& split;
  RegionCaller& caller;
  const Region& region;
  llvm::ArrayRef<llvm::Value*> slots, slot_results;
  const StateRange* range;    // null: all lanes have the same outcome
  llvm::AllocaInst* outcome;  // for that
};

// Emit the loops; the calls returned (added) are to be inlined.
llvm::CallInst* emitLanes(const LaneRun& run);
llvm::CallInst* emitFirstLane(const LaneRun& run);  // no loop
void emitVectorOrLanes(const LaneRun& run, llvm::SmallVectorImpl<llvm::CallInst*>& calls);

}  // namespace weft::compiler
