#include "compiler/passes/lockstep.h"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>

namespace weft::compiler {

using llvm::BasicBlock;

Lockstep::Lockstep(llvm::Function& body, const std::vector<Barrier>& barriers,
                   const Uniformity& uniformity)
    : holds_(uniformity.isKnown()) {
  llvm::SmallVector<const BasicBlock*> work;
  for (const Barrier& barrier : barriers) {
    barriers_.insert(barrier.block);
    work.push_back(barrier.block);
  }
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    if (before_barrier_.insert(block).second) llvm::append_range(work, llvm::predecessors(block));
  }
  llvm::PostDominatorTree tree(body);
  for (const BasicBlock& block : body) {
    if (!before_barrier_.contains(&block) || !uniformity.divides(block)) continue;
    if (!llvm::all_of(llvm::successors(&block),
                      [&](const BasicBlock* next) { return before_barrier_.contains(next); })) {
      // One way on is left to those that stay; with more they may part, too.
      if (llvm::count_if(llvm::successors(&block), [&](const BasicBlock* next) {
            return before_barrier_.contains(next);
          }) > 1)
        holds_ = false;
      leaving_.insert(&block);
      continue;
    }
    // Lanes that part here must meet again before the next barrier.
    const auto* node = tree.getNode(&block);
    const BasicBlock* meeting = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    if (barrierBetween(block, meeting)) holds_ = false;
  }
}

// Can a barrier be reached from `from` without passing `to`?
bool Lockstep::barrierBetween(const BasicBlock& from, const BasicBlock* to) const {
  llvm::SmallVector<const BasicBlock*> work(llvm::successors(&from));
  llvm::SmallPtrSet<const BasicBlock*, 16> seen;
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    if (block == to || !seen.insert(block).second) continue;
    if (barriers_.contains(block)) return true;
    llvm::append_range(work, llvm::successors(block));
  }
  return false;
}

bool Lockstep::agreeFrom(const BasicBlock& start) const {
  llvm::SmallVector<const BasicBlock*> work{&start};
  llvm::SmallPtrSet<const BasicBlock*, 16> seen;
  llvm::SmallPtrSet<const BasicBlock*, 4> exits;
  bool returns = false, apart = false;
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    if (!seen.insert(block).second) continue;
    apart |= leaving_.contains(block);
    returns |= llvm::isa<llvm::ReturnInst>(block->getTerminator());
    if (barriers_.contains(block))
      exits.insert(block);
    else
      llvm::append_range(work, llvm::successors(block));
  }
  if (exits.size() + returns <= 1) return true;
  return holds_ && !apart;
}

}  // namespace weft::compiler
