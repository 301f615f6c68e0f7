#include "compiler/passes/meetings.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/passes/liveness.h"
#include "compiler/passes/lockstep.h"
#include "compiler/passes/uniformity.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;

constexpr unsigned longest_unrolled = 32;  // turns
constexpr size_t most_unrolled_instructions = 512;

using Edge = std::pair<BasicBlock*, BasicBlock*>;

// The ways out of and back into loops with barriers, where all lanes take the same.
std::vector<Edge> uniformLoopEdges(llvm::Function& body, const std::vector<Barrier>& barriers,
                                   const Uniformity& uniformity) {
  llvm::DominatorTree tree(body);
  llvm::LoopInfo loops(tree);
  llvm::SmallSetVector<llvm::Loop*, 8> with_barrier;
  for (const Barrier& barrier : barriers)
    for (llvm::Loop* loop = loops.getLoopFor(barrier.block); loop; loop = loop->getParentLoop())
      with_barrier.insert(loop);
  llvm::SmallSetVector<BasicBlock*, 8> exiting;
  for (llvm::Loop* loop : with_barrier) {
    llvm::SmallVector<BasicBlock*> blocks;
    loop->getExitingBlocks(blocks);
    exiting.insert(blocks.begin(), blocks.end());
  }
  std::vector<Edge> edges;
  for (BasicBlock* block : exiting) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional() || uniformity.divides(*block)) continue;
    if (branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    for (BasicBlock* next : branch->successors()) edges.emplace_back(block, next);
  }
  return edges;
}

llvm::CallInst* addBarrier(const Edge& edge) {
  BasicBlock* block = llvm::SplitEdge(edge.first, edge.second);
  llvm::IRBuilder<> builder(&*block->getFirstInsertionPt());
  llvm::Module& module = *block->getModule();
  llvm::FunctionCallee barrier =
      module.getOrInsertFunction("_Z7barrierj", builder.getVoidTy(), builder.getInt32Ty());
  return builder.CreateCall(barrier, builder.getInt32(0));
}

}  // namespace

void addMeetings(KernelBody& body) {
  llvm::Function& function = *body.function;
  std::vector<Barrier> barriers = isolateBarriers(function);
  if (barriers.empty()) return;
  std::vector<Edge> edges;
  {
    Uniformity uniformity(body);
    if (!Lockstep(function, barriers, uniformity).holds()) return;
    edges = uniformLoopEdges(function, barriers, uniformity);
  }
  if (edges.empty()) return;
  llvm::SmallVector<llvm::CallInst*> added;
  for (const Edge& edge : edges) added.push_back(addBarrier(edge));
  std::vector<Barrier> all = isolateBarriers(function);
  if (Lockstep(function, all, Uniformity(body)).holds()) return;
  for (llvm::CallInst* call : added) call->eraseFromParent();
}

void unrollShortLoops(llvm::Function& body) {
  llvm::DominatorTree tree(body);
  llvm::LoopInfo loops(tree);
  if (loops.empty()) return;
  llvm::AssumptionCache assumptions(body);
  llvm::TargetLibraryInfoImpl names(llvm::Triple(body.getParent()->getTargetTriple()));
  llvm::TargetLibraryInfo library(names);
  llvm::ScalarEvolution evolution(body, library, assumptions, tree, loops);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || !loop->getLoopLatch()) continue;
    unsigned turns = evolution.getSmallConstantMaxTripCount(loop);
    if (turns == 0 || turns > longest_unrolled) continue;
    size_t instructions = 0;
    bool has_barrier = false;
    for (BasicBlock* block : loop->blocks()) {
      instructions += block->size();
      for (llvm::Instruction& instruction : *block)
        if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
          has_barrier |= call->getCalledFunction() && isBarrier(*call->getCalledFunction());
    }
    if (has_barrier || instructions * turns > most_unrolled_instructions) continue;
    llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
  }
}

}  // namespace weft::compiler
