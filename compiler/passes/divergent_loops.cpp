#include "compiler/passes/divergent_loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/passes/uniformity.h"

namespace weft::compiler {
namespace {

// The program's own wishes come first.
bool hasUnrollHint(const llvm::Loop& loop) {
  constexpr const char* hints[] = {"llvm.loop.unroll.enable", "llvm.loop.unroll.full",
                                   "llvm.loop.unroll.count"};
  return llvm::any_of(hints, [&](const char* name) {
    return llvm::findStringMetadataForLoop(&loop, name).has_value();
  });
}

}  // namespace

void keepDivergentLoopsRolled(const KernelBody& body) {
  llvm::DominatorTree tree(*body.function);
  llvm::LoopInfo loops(tree);
  if (loops.empty()) return;
  const Uniformity uniformity(body);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || hasUnrollHint(*loop)) continue;
    llvm::SmallVector<llvm::BasicBlock*> exiting;
    loop->getExitingBlocks(exiting);
    if (llvm::any_of(exiting, [&](auto* block) { return uniformity.divides(*block); }))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable");
  }
}

}  // namespace weft::compiler
