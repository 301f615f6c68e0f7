// How addresses grow from one row of lanes to the next: those that do so by a step that is the same
// for all rows need not be computed for each.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace weft::compiler {

// By position, of a lane's function.
struct RowParameters {
  unsigned local_id;     // in dimension 1
  unsigned lane;         // linear
  unsigned row_length;   // local size in dimension 0
  unsigned global_size;  // the first of three
};

class RowSteps {
 public:
  using Question = llvm::function_ref<bool(const llvm::Value*)>;

  // `differs`: may the value be another one in each row? `known_before`: can it be computed before
  // a row is run? Both are asked here only.
  RowSteps(llvm::Function& lane, const RowParameters& parameters, Question differs,
           Question known_before);

  // Is it an address that is in each row what it is in the first, and the row's number times a
  // step? Only if all rows access it, or none: a row that does not need not have computed it
  // rightly.
  bool isStepped(const llvm::Value* address) const {
    return address->getType()->isPointerTy() && kindOf(address) == Kind::grows;
  }
  // The step in bytes, computed at `builder` from what `place` says that values have become.
  llvm::Value* step(llvm::IRBuilder<>& builder, const llvm::Value* value,
                    llvm::function_ref<llvm::Value*(const llvm::Value*)> place) const;
  // Numbers of 64 bits that grow from row to row and are cut to 32 as if that lost nothing: the
  // lower halves have to grow, too, as signed numbers.
  llvm::ArrayRef<const llvm::Value*> narrowed() const { return narrowed_.getArrayRef(); }

 private:
  // The same in all rows; growing, 32 bits as a signed number; or anything.
  enum class Kind : uint8_t { same, grows, other };

  Kind kindOf(const llvm::Value* value) const;
  Kind find(const llvm::Instruction& instruction, Question known_before);
  Kind ofNarrowed(const llvm::TruncInst& cast, Question known_before);

  RowParameters parameters_;
  llvm::DenseMap<const llvm::Value*, Kind> kinds_;
  llvm::SmallSetVector<const llvm::Value*, 4> narrowed_;
};

}  // namespace weft::compiler
