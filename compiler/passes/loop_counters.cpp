#include "compiler/passes/loop_counters.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/DemandedBits.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

namespace weft::compiler {
namespace {

constexpr unsigned wide_bits = 64;

using llvm::BasicBlock;
using llvm::Loop;
using llvm::SCEV;
using llvm::Value;

// Is it a number when the kernel is launched?
bool launchKnows(const SCEV* value) {
  return !llvm::SCEVExprContains(value, [](const SCEV* part) {
    if (llvm::isa<llvm::SCEVAddRecExpr, llvm::SCEVCouldNotCompute>(part)) return true;
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    return unknown && !llvm::isa<llvm::Argument>(unknown->getValue());
  });
}

// What the comparison says of the loop when it goes on, but not where it is made.
std::optional<LoopCounter> counterOf(const llvm::ICmpInst& comparison, bool outcome,
                                     const Loop& loop, llvm::ScalarEvolution& evolution) {
  if (!comparison.getOperand(0)->getType()->isIntegerTy()) return std::nullopt;
  auto predicate = outcome ? comparison.getPredicate() : comparison.getInversePredicate();
  const SCEV* counter = evolution.getSCEVAtScope(comparison.getOperand(0), &loop);
  const SCEV* bound = evolution.getSCEVAtScope(comparison.getOperand(1), &loop);
  if (llvm::ICmpInst::isGT(predicate) || llvm::ICmpInst::isGE(predicate)) {
    std::swap(counter, bound);
    predicate = llvm::ICmpInst::getSwappedPredicate(predicate);
  }
  if (!llvm::ICmpInst::isLT(predicate) && !llvm::ICmpInst::isLE(predicate)) return std::nullopt;
  const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(counter);
  if (!steps || steps->getLoop() != &loop || !steps->isAffine() ||
      !evolution.isLoopInvariant(bound, &loop))
    return std::nullopt;
  const SCEV* stride = steps->getStepRecurrence(evolution);
  if (!launchKnows(stride)) return std::nullopt;
  // Where nothing is less, this wraps to where the counter would, which a launch finds out.
  if (llvm::ICmpInst::isLT(predicate))
    bound = evolution.getMinusSCEV(bound, evolution.getOne(bound->getType()));
  return LoopCounter{.first = steps->getStart(),
                     .stride = stride,
                     .last = bound,
                     .is_signed = llvm::ICmpInst::isSigned(predicate)};
}

// Of all that has to hold together for the loop to go on, the first counter.
std::optional<LoopCounter> counterIn(Value* condition, bool outcome, const Loop& loop,
                                     llvm::ScalarEvolution& evolution) {
  using namespace llvm::PatternMatch;
  Value *a = nullptr, *b = nullptr;
  if (outcome ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
              : match(condition, m_LogicalOr(m_Value(a), m_Value(b)))) {
    auto counter = counterIn(a, outcome, loop, evolution);
    return counter ? counter : counterIn(b, outcome, loop, evolution);
  }
  const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(condition);
  return comparison ? counterOf(*comparison, outcome, loop, evolution) : std::nullopt;
}

}  // namespace

std::optional<LoopCounter> counterOf(const Loop& loop, llvm::ScalarEvolution& evolution) {
  llvm::SmallVector<BasicBlock*> exits;
  loop.getExitingBlocks(exits);
  for (BasicBlock* exiting : exits) {
    // Each iteration passes there.
    if (exiting != loop.getHeader() && exiting != loop.getLoopLatch()) continue;
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(exiting->getTerminator());
    if (!branch || !branch->isConditional()) continue;
    Value* const condition = branch->getCondition();
    auto counter = counterIn(condition, loop.contains(branch->getSuccessor(0)), loop, evolution);
    if (!counter) continue;
    counter->exiting = exiting;
    counter->only_exit = exits.size() == 1 && llvm::isa<llvm::ICmpInst>(condition);
    return counter;
  }
  return std::nullopt;
}

bool hasWideCounters(const llvm::Function& function) {
  const auto looksAtLowBits = [](const llvm::User* user) {
    using namespace llvm::PatternMatch;
    return llvm::isa<llvm::TruncInst>(user) || match(user, m_And(m_Value(), m_ConstantInt())) ||
           match(user, m_Shl(m_Value(), m_ConstantInt()));
  };
  return llvm::any_of(function, [&](const BasicBlock& block) {
    return llvm::any_of(block.phis(), [&](const llvm::PHINode& phi) {
      return phi.getType()->isIntegerTy(wide_bits) && llvm::all_of(phi.users(), looksAtLowBits);
    });
  });
}

void narrowCounters(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  llvm::AssumptionCache assumptions(function);
  llvm::DemandedBits demanded(function, assumptions, dominators);
  llvm::SmallVector<std::pair<llvm::PHINode*, unsigned>> wide;
  for (const Loop* loop : loops.getLoopsInPreorder())
    for (llvm::PHINode& phi : loop->getHeader()->phis()) {
      if (!phi.getType()->isIntegerTy(wide_bits)) continue;
      const unsigned bits = demanded.getDemandedBits(&phi).getActiveBits();
      if (bits == 32 || bits == 16 || bits == 8) wide.emplace_back(&phi, bits);
    }
  for (const auto& [phi, bits] : wide) {
    llvm::Type* const type = llvm::Type::getIntNTy(function.getContext(), bits);
    auto* narrow = llvm::PHINode::Create(type, phi->getNumIncomingValues(), "", phi->getIterator());
    llvm::IRBuilder<> builder(phi->getParent(), phi->getParent()->getFirstInsertionPt());
    phi->replaceAllUsesWith(builder.CreateSExt(narrow, phi->getType()));
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      BasicBlock* const from = phi->getIncomingBlock(i);
      builder.SetInsertPoint(from->getTerminator());
      narrow->addIncoming(builder.CreateTrunc(phi->getIncomingValue(i), type), from);
    }
    phi->eraseFromParent();
  }
}

}  // namespace weft::compiler
