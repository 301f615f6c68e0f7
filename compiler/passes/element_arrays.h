// Private arrays that are only ever accessed by whole elements, so that the elements may lie
// anywhere.
#pragma once

#include <optional>
#include <vector>

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace weft::compiler {

// An array and all that uses it.
class ElementArray {
 public:
  explicit ElementArray(llvm::AllocaInst& variable);

  // Is it an array, and every access one to a whole element? Before anything else is asked.
  bool isByElements();
  // Do all indices but constants meet the condition?
  bool haveIndices(llvm::function_ref<bool(const llvm::Value*)> condition) const;

  llvm::Type* element() const { return element_; }
  uint64_t count() const { return total() / bytes_; }
  uint64_t elementBytes() const { return bytes_; }

  // The place of an element so many from that at `base`.
  using Place =
      llvm::function_ref<llvm::Value*(llvm::IRBuilder<>&, llvm::Value* base, llvm::Value* index)>;
  // Elements lie from `base` on, which may be the variable itself, where `place` says. Accesses are
  // aligned to no more than `alignment`.
  void move(llvm::Value* base, llvm::Align alignment, Place place);

 private:
  struct Offset {
    llvm::MapVector<llvm::Value*, llvm::APInt> variable;
    llvm::APInt constant{64, 0};
  };

  uint64_t total() const;
  bool take(llvm::Instruction& user, llvm::Value* pointer);
  std::optional<Offset> offsetOf(llvm::Value* pointer) const;
  bool divides(const llvm::APInt& distance) const;
  bool stepsByElements(llvm::Value* pointer) const;
  bool isMovable(llvm::MemIntrinsic& move) const;
  void expand(llvm::MemIntrinsic& move);
  llvm::Value* indexOf(llvm::IRBuilder<>& builder, llvm::Value* pointer) const;

  llvm::AllocaInst& variable_;
  const llvm::DataLayout& layout_;
  llvm::Type* element_ = nullptr;
  uint64_t bytes_ = 0;
  std::vector<llvm::Value*> pointers_;  // the array's and what is computed from it, in order
  llvm::SmallVector<llvm::Instruction*> lifetimes_;
  llvm::SmallVector<llvm::MemIntrinsic*> moves_;
};

}  // namespace weft::compiler
