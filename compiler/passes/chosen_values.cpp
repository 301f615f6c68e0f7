#include "compiler/passes/chosen_values.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::PHINode;
using llvm::Value;

constexpr unsigned most_cases = 4;
constexpr unsigned most_selections = 8;

// Where a way out of `from` ends up, when it does nothing on it.
struct Way {
  BasicBlock* end = nullptr;
  BasicBlock* last = nullptr;  // before it
};

Way wayTo(BasicBlock& from, BasicBlock& next) {
  if (&next.front() == next.getTerminator() && next.getSinglePredecessor() == &from)
    if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(next.getTerminator());
        branch && branch->isUnconditional())
      return {branch->getSuccessor(0), &next};
  return {&next, &from};
}

// Its ways, the default one first, if all end up in one block and nothing else does.
llvm::SmallVector<Way> waysOf(llvm::SwitchInst& choice) {
  BasicBlock& block = *choice.getParent();
  llvm::SmallVector<Way> ways{wayTo(block, *choice.getDefaultDest())};
  for (const auto& each : choice.cases()) ways.push_back(wayTo(block, *each.getCaseSuccessor()));
  BasicBlock* const end = ways.front().end;
  if (end == &block || llvm::any_of(ways, [&](const Way& way) { return way.end != end; }))
    return {};
  llvm::SmallPtrSet<BasicBlock*, 8> last;
  for (const Way& way : ways) last.insert(way.last);
  const bool all = llvm::all_of(llvm::predecessors(end),
                                [&](BasicBlock* before) { return last.contains(before); });
  return all ? ways : llvm::SmallVector<Way>();
}

bool choose(llvm::SwitchInst& choice) {
  if (choice.getNumCases() == 0 || choice.getNumCases() > most_cases) return false;
  const auto ways = waysOf(choice);
  if (ways.empty()) return false;
  BasicBlock& end = *ways.front().end;
  size_t phis = 0;
  for (const PHINode& phi : end.phis())
    phis += phi.getType()->isSingleValueType() ? 1 : most_selections;
  if (phis == 0 || phis * choice.getNumCases() > most_selections) return false;
  llvm::IRBuilder<> builder(&choice);
  llvm::SmallVector<Value*> tests;
  for (const auto& each : choice.cases())
    tests.push_back(builder.CreateICmpEQ(choice.getCondition(), each.getCaseValue()));
  for (PHINode& phi : llvm::make_early_inc_range(end.phis())) {
    Value* value = phi.getIncomingValueForBlock(ways.front().last);
    for (size_t i = tests.size(); i-- > 0;)
      value = builder.CreateSelect(tests[i], phi.getIncomingValueForBlock(ways[i + 1].last), value);
    phi.replaceAllUsesWith(value);
    phi.eraseFromParent();
  }
  builder.CreateBr(&end);
  choice.eraseFromParent();
  return true;
}

}  // namespace

llvm::PreservedAnalyses ChooseValues::run(llvm::Function& function,
                                          llvm::FunctionAnalysisManager& analyses) {
  bool any = false;
  for (BasicBlock& block : function)
    if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator()))
      any |= choose(*choice);
  if (!any) return llvm::PreservedAnalyses::all();
  llvm::EliminateUnreachableBlocks(function);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::SimplifyCFGPass().run(function, analyses);
  return llvm::PreservedAnalyses::none();
}

}  // namespace weft::compiler
