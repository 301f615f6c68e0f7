#include "compiler/passes/loop_steps.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "compiler/passes/kernel_body.h"
#include "compiler/passes/uniformity.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;
using llvm::Value;

// What is added in a turn: of pointers in elements of so many bytes.
struct Step {
  Value* number;
  uint64_t bytes = 1;
};

// A phi of a loop's header, and what comes to it in each turn.
struct Sum {
  llvm::PHINode* phi;
  llvm::BasicBlock *before, *latch;
  llvm::SmallVector<Step, 4> steps;
};

bool hasBarrier(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, isBarrierCall);
  });
}

// All lanes take the same turns.
bool isTakenTogether(const llvm::Loop& loop, const Uniformity& uniformity) {
  llvm::SmallVector<llvm::BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  return llvm::none_of(exiting,
                       [&](const llvm::BasicBlock* block) { return uniformity.divides(*block); });
}

class Search {
 public:
  explicit Search(const Uniformity& uniformity) : uniformity_(uniformity) {}

  std::optional<Sum> sumOf(llvm::PHINode& phi, const llvm::Loop& loop) const {
    llvm::BasicBlock *before = loop.getLoopPredecessor(), *latch = loop.getLoopLatch();
    if (!before || !latch || uniformity_.isUniform(phi)) return std::nullopt;
    Sum sum{&phi, before, latch, {}};
    const Value* value = phi.getIncomingValueForBlock(latch);
    while (value != &phi) {
      value = withoutStep(value, sum.steps);
      if (!value || !isSame(sum.steps.back().number) || sum.steps.size() > most_steps)
        return std::nullopt;
    }
    if (sum.steps.empty()) return std::nullopt;
    return sum;
  }

 private:
  static constexpr size_t most_steps = 32;

  bool isSame(const Value* value) const {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    return instruction ? uniformity_.isUniform(*instruction)
                       : llvm::isa<llvm::Constant, llvm::Argument>(value);
  }

  // What the last step was added to; null: it is no sum.
  static const Value* withoutStep(const Value* value, llvm::SmallVectorImpl<Step>& steps) {
    if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(value)) {
      if (element->getNumIndices() != 1 || !element->getOperand(1)->getType()->isIntegerTy())
        return nullptr;
      steps.push_back({element->getOperand(1),
                       element->getDataLayout().getTypeAllocSize(element->getSourceElementType())});
      return element->getPointerOperand();
    }
    auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (!sum || sum->getOpcode() != Instruction::Add || !sum->getType()->isIntegerTy())
      return nullptr;
    // The number that differs between lanes is the sum so far.
    const unsigned own = llvm::isa<llvm::Constant, llvm::Argument>(sum->getOperand(0)) ? 1 : 0;
    steps.push_back({sum->getOperand(1 - own)});
    return sum->getOperand(own);
  }

  const Uniformity& uniformity_;
};

void separate(const Sum& sum) {
  const bool is_address = sum.phi->getType()->isPointerTy();
  llvm::IRBuilder<> builder(sum.phi);
  llvm::Type* type = is_address ? builder.getInt64Ty() : sum.phi->getType();
  llvm::PHINode* grown = builder.CreatePHI(type, 2, "grown");
  builder.SetInsertPoint(sum.latch->getTerminator());
  Value* next = grown;
  for (const auto& [number, bytes] : sum.steps) {
    Value* step = builder.CreateSExtOrTrunc(number, type);
    if (bytes != 1) step = builder.CreateMul(step, builder.getInt64(bytes));
    next = builder.CreateAdd(next, step);
  }
  grown->addIncoming(llvm::ConstantInt::get(type, 0), sum.before);
  grown->addIncoming(next, sum.latch);
  builder.SetInsertPoint(sum.phi->getParent(), sum.phi->getParent()->getFirstInsertionPt());
  // It may have been the phi of a loop around this one, which is gone by now.
  Value* first = sum.phi->getIncomingValueForBlock(sum.before);
  Value* value = is_address ? builder.CreateGEP(builder.getInt8Ty(), first, grown)
                            : builder.CreateAdd(first, grown);
  sum.phi->replaceAllUsesWith(value);
  sum.phi->eraseFromParent();
}

}  // namespace

void separateUniformSums(KernelBody& body) {
  if (llvm::none_of(llvm::instructions(*body.function), isBarrierCall)) return;
  const Uniformity uniformity(body);
  if (!uniformity.isKnown()) return;
  const llvm::DominatorTree tree(*body.function);
  const llvm::LoopInfo loops(tree);
  const Search search(uniformity);
  std::vector<Sum> sums;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!hasBarrier(*loop) || !isTakenTogether(*loop, uniformity)) continue;
    for (llvm::PHINode& phi : loop->getHeader()->phis())
      if (auto sum = search.sumOf(phi, *loop)) sums.push_back(*sum);
  }
  for (const Sum& sum : sums) separate(sum);
}

}  // namespace weft::compiler
