// Writes the steps of one access record (core/access.h) for what LLVM's scalar evolution knows of
// an address and of the conditions on the way to it.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>

#include "compiler/passes/kernel_body.h"
#include "compiler/passes/loop_counters.h"
#include "core/access.h"

namespace weft::compiler {

class AccessCoder {
 public:
  AccessCoder(const KernelBody& body, const KernelInfo& info, llvm::ScalarEvolution& evolution,
              const llvm::LoopInfo& loops)
      : body_(body), info_(info), evolution_(evolution), loops_(loops) {}

  // A loop around the access: it gets there in `count` (plus one) iterations, in each of them if
  // `exactly`. `count` may be SCEVCouldNotCompute.
  void addLoop(const llvm::Loop& loop, const llvm::SCEV* count, bool plus_one, bool exactly);
  // A loop whose iterations only a counter tells, and a guard that follows says which work-items
  // get there, if `guarded`.
  void addLoop(const llvm::Loop& loop, const LoopCounter& counter, bool plus_one, bool guarded);
  // The access happens only if `condition`, evaluated in `scope`, is `outcome`. `implied`: the
  // loops say so already. False when the steps say less than that.
  bool addGuard(llvm::Value* condition, bool outcome, const llvm::Loop* scope, bool implied);
  // The step that is the value of an integer.
  uint16_t add(const llvm::SCEV* value) { return translate(value); }
  // `offset`, and each of the `length` bytes from there.
  uint16_t addRun(const llvm::SCEV* offset, const llvm::SCEV* length);

  // Were there too many steps?
  bool overflown() const { return overflown_; }
  std::vector<AccessStep> take() { return std::move(steps_); }

 private:
  static constexpr unsigned max_width = 64;
  static unsigned widthOf(const llvm::SCEV* value) {
    return value->getType()->getScalarSizeInBits();
  }
  // Identities of the results of folding an expression with several operands.
  static const void* partOf(const void* expression, size_t part) {
    return static_cast<const char*>(expression) + part;
  }

  uint16_t emit(const AccessStep& step);
  void emitStatement(const AccessStep& step);
  uint16_t constant(int64_t value);
  uint16_t binary(AccessCode code, unsigned width, uint16_t a, uint16_t b, const void* variable);
  uint16_t counter(uint8_t variable);
  uint8_t variableOf(const void* what);
  void addIterations(const llvm::Loop& loop, AccessStep step, AccessIterations happens);

  uint16_t anyValue(const llvm::SCEV* value);
  uint16_t translate(const llvm::SCEV* value);
  uint16_t translateNew(const llvm::SCEV* value);
  uint16_t extend(AccessCode code, const llvm::SCEV* value);
  uint16_t low(uint16_t step, const llvm::SCEV* value);
  uint16_t sum(const llvm::SCEVAddExpr* value);
  uint16_t fold(AccessCode code, const llvm::SCEVNAryExpr* value);
  bool globalId(llvm::SmallVectorImpl<const llvm::SCEV*>& operands, uint16_t& step);
  uint16_t recurrence(const llvm::SCEVAddRecExpr* value);
  uint16_t parameter(const llvm::Argument& argument, const llvm::SCEV* value);
  uint16_t environment(unsigned parameter, const llvm::SCEV* value);
  uint16_t argumentBytes(unsigned argument, uint64_t offset, const llvm::SCEV* value);
  uint16_t instruction(const llvm::Instruction& instruction, const llvm::SCEV* value);
  uint16_t phi(const llvm::PHINode& phi, const llvm::SCEV* value);
  uint16_t load(const llvm::LoadInst& load, const llvm::SCEV* value);
  uint16_t element(const llvm::ExtractElementInst& element, const llvm::SCEV* value);
  void addComparison(const llvm::ICmpInst& comparison, bool outcome, const llvm::Loop* scope,
                     bool implied);

  const KernelBody& body_;
  const KernelInfo& info_;
  llvm::ScalarEvolution& evolution_;
  const llvm::LoopInfo& loops_;
  std::vector<AccessStep> steps_;
  // Since the last statement: behind one, more may be known of the same value.
  llvm::DenseMap<const llvm::SCEV*, uint16_t> known_;
  // What is never known better: constants, arguments, ids, sizes.
  llvm::DenseMap<const llvm::SCEV*, uint16_t> leaves_;
  llvm::DenseMap<const void*, uint8_t> variables_;
  llvm::DenseSet<const llvm::Loop*> counted_;  // whose iterations have a bound
  unsigned depth_ = 0;
  bool overflown_ = false;
};

}  // namespace weft::compiler
