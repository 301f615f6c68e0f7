// Loops over the lanes of a work-group.
#pragma once

#include <array>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

namespace weft::compiler {

struct Lane {
  std::array<llvm::Value*, 3> local_id;
  llvm::Value* lane;
};

// Emits, at the builder's position, a nest over z, y and x of `local_size` (each at least 1) with
// what `emit` makes as its innermost body, and leaves the builder behind it. The innermost loop is
// marked parallel for the accesses of `access_group`, if any.
void emitLaneLoops(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
                   llvm::MDNode* access_group, llvm::function_ref<void(const Lane&)> emit);

// The same with as many lanes at once as the first of `widths` says, then the next for what is left
// of each row: `emit` gets the first lane, the width and null; and once more for the rest, if any,
// with the number of lanes.
void emitVectorLoops(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
                     llvm::ArrayRef<unsigned> widths,
                     llvm::function_ref<void(const Lane&, unsigned, llvm::Value*)> emit);

// A loop over 0 to `count`, which is not 0.
void emitCounted(llvm::IRBuilder<>& builder, llvm::Value* count, const char* name,
                 llvm::function_ref<void(llvm::Value*)> emit);

}  // namespace weft::compiler
