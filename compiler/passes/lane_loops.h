// Loops over the lanes of a work-group.
#pragma once

#include <array>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

namespace weft::compiler {

// What the latch of a loop says that is not to be unrolled (llvm::LLVMContext::MD_loop).
llvm::MDNode* rolledLoop(llvm::LLVMContext& context);

struct Lane {
  std::array<llvm::Value*, 3> local_id;
  llvm::Value* lane;
};

// Emits, at the builder's position, a nest over z, y and x of `local_size` (each at least 1) with
// what `emit` makes as its innermost body, and leaves the builder behind it. The innermost loop is
// marked parallel for the accesses of `access_group`, if any.
void emitLaneLoops(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
                   llvm::MDNode* access_group, llvm::function_ref<void(const Lane&)> emit);

// How many lanes run at once: of so many rows of dimension 1, the first of `widths` each, then the
// next for what is left of the rows.
struct LaneBlock {
  unsigned rows = 1;
  llvm::SmallVector<unsigned, 2> widths;
};

struct LaneBlockEmitter {
  // May the rows from this lane on run as such a block? Null: yes. Not asked for one row.
  llvm::function_ref<llvm::Value*(const Lane&, const LaneBlock&)> suits;
  // Has this row anything to do? Null: yes. Not asked for several.
  llvm::function_ref<llvm::Value*(const Lane&)> wanted;
  // Whole vectors of that width, from the first lane of the first row on.
  llvm::function_ref<void(const Lane&, const LaneBlock&, unsigned)> vectors;
  // What is left of one row: the number of lanes.
  llvm::function_ref<void(const Lane&, llvm::Value*)> rest;
};

// The same for several lanes at once: the first of `blocks` that there are rows for and that suits,
// and where none does the last one, which is of one row.
void emitVectorLoops(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
                     llvm::ArrayRef<LaneBlock> blocks, const LaneBlockEmitter& emit);

// A loop over 0 to `count`, which is not 0.
void emitCounted(llvm::IRBuilder<>& builder, llvm::Value* count, const char* name,
                 llvm::function_ref<void(llvm::Value*)> emit);

}  // namespace weft::compiler
