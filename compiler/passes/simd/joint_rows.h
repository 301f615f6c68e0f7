// Several rows of lanes in one: the code of a lane and of those that follow it in dimension 1.
//
// What is the same for all rows (it depends on the lane's place in its row alone) is done once, the
// rest for one row after the other, instruction by instruction. So what a row loads serves the
// others, and their sums do not wait for each other. The rows take the same way through the code:
// where it forks by what differs between them, a test before it says whether they agree.
#pragma once

#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "compiler/passes/simd/lane_shapes.h"
#include "compiler/passes/simd/row_steps.h"

namespace weft::compiler {

class JointRows {
 public:
  // Both must outlive this.
  JointRows(llvm::Function& lane, const LaneShapes& shapes, const RowParameters& parameters);

  // Can it be told before a row is run which way it takes, by what is the same for all of its
  // lanes?
  bool possible() const { return possible_; }
  // May the value, or what the instruction does, be another one in each row?
  bool differs(const llvm::Value* value) const { return differing_.contains(value); }

  // The code of `rows` lanes: the parameters are those of the first.
  llvm::Function* join(unsigned rows) const;
  // A function of the same parameters, and whether the rows from there on agree and, of code that
  // only passes through memory (without loops; in vectors of `passing` lanes, of other code 0), lie
  // so that this is fast; null: they always do.
  llvm::Function* agreement(unsigned rows, unsigned passing) const;

 private:
  using Row = llvm::DenseMap<const llvm::Value*, llvm::Value*>;

  bool isRepeated(const llvm::Instruction& instruction) const;
  void findDifferences();
  bool findConditions(const llvm::Value* condition);
  bool isKnownBefore(const llvm::Value* value, unsigned depth) const;
  void stepAddresses(llvm::ValueToValueMapTy& first, llvm::MutableArrayRef<Row> others) const;
  void enterRow(llvm::IRBuilder<>& builder, llvm::Function& function, Row& row,
                unsigned number) const;
  llvm::Value* compute(llvm::IRBuilder<>& builder, llvm::Function& function, Row& row,
                       const llvm::Value* value) const;
  bool hasKnownStep(const llvm::Value* address) const;
  const llvm::StoreInst* findPassingStore() const;
  llvm::Value* liesWell(llvm::IRBuilder<>& builder, llvm::Function& test, unsigned lanes) const;

  llvm::Function& lane_;
  const LaneShapes& shapes_;
  RowParameters parameters_;
  llvm::SmallPtrSet<const llvm::Value*, 32> differing_;
  llvm::SmallSetVector<const llvm::Value*, 4> conditions_;  // that rows have to agree on
  bool possible_ = true;
  std::optional<RowSteps> steps_;
};

}  // namespace weft::compiler
