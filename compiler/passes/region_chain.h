// Regions that follow each other in one function, each run for all lanes of a work-group before
// the next one: those of the entry, or of one of the functions that a large kernel is cut into.
#pragma once

#include <vector>

#include "compiler/passes/region_caller.h"

namespace weft::compiler {

class RegionChain {
 public:
  // Its variables go where `builder` is, in the function's first block.
  RegionChain(llvm::IRBuilder<>& builder, SplitKernel& split);

  // Where a group goes on at each state: its regions, then its end, then its lanes going apart.
  std::vector<llvm::BasicBlock*> targets;

  // Emits the region behind its target, which has to be there, and what it leads to.
  void emitRegion(RegionCaller& caller, unsigned index);
  void switchTo(llvm::Value* state, llvm::ArrayRef<unsigned> outcomes);
  // The group slots, from and to a structure of them.
  void load(llvm::Value* frame);
  void store(llvm::Value* frame);

 private:
  llvm::IRBuilder<>& builder_;
  SplitKernel& split_;
  llvm::AllocaInst* outcome_;
  StateRange range_{};
  llvm::SmallVector<llvm::AllocaInst*> slots_;
  llvm::SmallVector<llvm::Value*> slot_results_;
};

// A function of a region's parameters up to the environment, and of `more`. Returns a state.
llvm::Function* createGroupFunction(llvm::Module& module, const KernelBody& body,
                                    const SplitKernel& split, const llvm::Twine& name,
                                    llvm::ArrayRef<llvm::Type*> more);

inline llvm::StructType* frameType(const SplitKernel& split, llvm::LLVMContext& context) {
  return llvm::StructType::get(context, split.group_slots);
}

// Regions from `first` up to `end`.
struct RegionStretch {
  unsigned first, end;
};

// Stretches of regions that are functions of their own, so that what LLVM does with each function
// in more than linear time stays small: twice the barriers took three times as long. One of all
// regions where these are no more than `most_together` instructions, none of which is optimised.
std::vector<RegionStretch> stretchesOf(const SplitKernel& split, size_t most_together);

// Such a function: of a frame that holds the group slots and of the state to begin with. Returns
// the state at which it was left.
llvm::Function* emitStretch(llvm::Module& module, const KernelBody& body, SplitKernel& split,
                            const RegionStretch& stretch);

}  // namespace weft::compiler
