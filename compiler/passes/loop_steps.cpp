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
  // Where it is the phi of a loop within: all that is added there.
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

// Finds sums; those of loops within come before those that count on them.
class Search {
 public:
  Search(const llvm::LoopInfo& loops, const Uniformity& uniformity)
      : loops_(loops), uniformity_(uniformity) {}

  std::vector<Sum> take() { return std::move(sums_); }

  bool find(llvm::PHINode& phi, const llvm::Loop& loop) {
    if (llvm::any_of(sums_, [&](const Sum& sum) { return sum.phi == &phi; })) return true;
    llvm::BasicBlock *before = loop.getLoopPredecessor(), *latch = loop.getLoopLatch();
    if (!before || !latch || uniformity_.isUniform(phi)) return false;
    Sum sum{&phi, before, latch, {}};
    Value* value = phi.getIncomingValueForBlock(latch);
    while (value != &phi) {
      value = isTakenTogetherWithin(loop, value) ? withoutStep(value, loop, sum.steps) : nullptr;
      if (!value || sum.steps.size() > most_steps) return false;
    }
    if (sum.steps.empty()) return false;
    sums_.push_back(std::move(sum));
    return true;
  }

 private:
  static constexpr size_t most_steps = 32;

  // Does what `value` was in a loop within `loop` mean the same turn to all lanes?
  bool isTakenTogetherWithin(const llvm::Loop& loop, const Value* value) const {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || !loop.contains(instruction)) return false;
    const llvm::Loop* inner = loops_.getLoopFor(instruction->getParent());
    while (inner != &loop && isTakenTogether(*inner, uniformity_)) inner = inner->getParentLoop();
    return inner == &loop;
  }

  bool isSame(const Value* value) const {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    return instruction ? uniformity_.isUniform(*instruction)
                       : llvm::isa<llvm::Constant, llvm::Argument>(value);
  }

  // What the last step was added to; null: it is no sum.
  Value* withoutStep(Value* value, const llvm::Loop& outer, llvm::SmallVectorImpl<Step>& steps) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) return withoutLoop(*phi, outer, steps);
    if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(value)) {
      if (element->getNumIndices() != 1 || !element->getOperand(1)->getType()->isIntegerTy() ||
          !isSame(element->getOperand(1)))
        return nullptr;
      steps.push_back({element->getOperand(1),
                       element->getDataLayout().getTypeAllocSize(element->getSourceElementType())});
      return element->getPointerOperand();
    }
    auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (!sum || sum->getOpcode() != Instruction::Add || !sum->getType()->isIntegerTy())
      return nullptr;
    // The number that differs between lanes is the sum so far.
    const unsigned own = isSame(sum->getOperand(0)) ? 1 : 0;
    if (!isSame(sum->getOperand(1 - own))) return nullptr;
    steps.push_back({sum->getOperand(1 - own)});
    return sum->getOperand(own);
  }

  // What a loop within began with, or what is the same after it as in it.
  Value* withoutLoop(llvm::PHINode& phi, const llvm::Loop& outer,
                     llvm::SmallVectorImpl<Step>& steps) {
    if (phi.getNumIncomingValues() == 1) return phi.getIncomingValue(0);
    const llvm::Loop* loop = loops_.getLoopFor(phi.getParent());
    if (loop == &outer || loop->getHeader() != phi.getParent() || !find(phi, *loop)) return nullptr;
    steps.push_back({&phi});
    return phi.getIncomingValueForBlock(loop->getLoopPredecessor());
  }

  const llvm::LoopInfo& loops_;
  const Uniformity& uniformity_;
  std::vector<Sum> sums_;
};

// What has been added so far to a phi that was separated.
using Grown = llvm::SmallDenseMap<const Value*, llvm::PHINode*>;

void separate(const Sum& sum, Grown& grown_by_phi) {
  const bool is_address = sum.phi->getType()->isPointerTy();
  llvm::IRBuilder<> builder(sum.phi);
  llvm::Type* type = is_address ? builder.getInt64Ty() : sum.phi->getType();
  llvm::PHINode* grown = builder.CreatePHI(type, 2, "grown");
  grown_by_phi[sum.phi] = grown;
  builder.SetInsertPoint(sum.latch->getTerminator());
  Value* next = grown;
  for (const auto& [number, bytes] : sum.steps) {
    llvm::PHINode* within = grown_by_phi.lookup(number);
    Value* step = builder.CreateSExtOrTrunc(within ? within : number, type);
    if (bytes != 1) step = builder.CreateMul(step, builder.getInt64(bytes));
    next = builder.CreateAdd(next, step);
  }
  grown->addIncoming(llvm::ConstantInt::get(type, 0), sum.before);
  grown->addIncoming(next, sum.latch);
  builder.SetInsertPoint(sum.phi->getParent(), sum.phi->getParent()->getFirstInsertionPt());
  Value* first = sum.phi->getIncomingValueForBlock(sum.before);
  Value* value = is_address ? builder.CreateGEP(builder.getInt8Ty(), first, grown)
                            : builder.CreateAdd(first, grown);
  sum.phi->replaceAllUsesWith(value);
}

}  // namespace

void separateUniformSums(KernelBody& body) {
  if (llvm::none_of(llvm::instructions(*body.function), isBarrierCall)) return;
  const Uniformity uniformity(body);
  if (!uniformity.isKnown()) return;
  const llvm::DominatorTree tree(*body.function);
  const llvm::LoopInfo loops(tree);
  Search search(loops, uniformity);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!hasBarrier(*loop) || !isTakenTogether(*loop, uniformity)) continue;
    for (llvm::PHINode& phi : loop->getHeader()->phis()) search.find(phi, *loop);
  }
  const std::vector<Sum> sums = search.take();
  Grown grown;
  for (const Sum& sum : sums) separate(sum, grown);
  for (const Sum& sum : sums) sum.phi->eraseFromParent();
}

}  // namespace weft::compiler
