#include "compiler/passes/liveness.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

// Marks the barriers at whose continuation `value` is live: walks from each use up to the
// definition.
llvm::BitVector liveBarriers(const Instruction& value,
                             const llvm::DenseMap<const BasicBlock*, unsigned>& continuations) {
  llvm::BitVector live(continuations.size());
  const BasicBlock* home = value.getParent();
  llvm::SmallVector<const BasicBlock*> work;  // blocks with the value live at their start
  llvm::SmallPtrSet<const BasicBlock*, 16> seen;
  auto liveAtEnd = [&](const BasicBlock* block) {
    if (block != home && seen.insert(block).second) work.push_back(block);
  };
  for (const llvm::Use& use : value.uses()) {
    auto* user = llvm::cast<Instruction>(use.getUser());
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(user))
      liveAtEnd(phi->getIncomingBlock(use));
    else
      liveAtEnd(user->getParent());
  }
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    if (auto it = continuations.find(block); it != continuations.end()) live.set(it->second);
    for (const BasicBlock* predecessor : llvm::predecessors(block)) liveAtEnd(predecessor);
  }
  return live;
}

// All instructions that use the variable's address or one derived from it.
void collectUsers(const Instruction& pointer, llvm::SmallPtrSetImpl<const Instruction*>& users) {
  for (const llvm::User* user : pointer.users()) {
    auto* instruction = llvm::cast<Instruction>(user);
    if (!users.insert(instruction).second) continue;
    if (instruction->getType()->isPtrOrPtrVectorTy() && !llvm::isa<llvm::LoadInst>(instruction))
      collectUsers(*instruction, users);
  }
}

enum class Event : uint8_t { none, use, start, end };

Event eventOf(const Instruction& instruction, const llvm::AllocaInst& variable,
              const llvm::SmallPtrSetImpl<const Instruction*>& users) {
  if (!users.contains(&instruction)) return Event::none;
  if (auto* marker = llvm::dyn_cast<llvm::LifetimeIntrinsic>(&instruction);
      marker && marker->getArgOperand(1) == &variable)
    return marker->getIntrinsicID() == llvm::Intrinsic::lifetime_start ? Event::start : Event::end;
  return Event::use;
}

// Is there a use on some path from the start of `from` before the variable's life begins anew?
bool usedAfter(const BasicBlock* from, const llvm::AllocaInst& variable,
               const llvm::SmallPtrSetImpl<const Instruction*>& users) {
  llvm::SmallVector<const BasicBlock*> work{from};
  llvm::SmallPtrSet<const BasicBlock*, 16> seen{from};
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    bool stopped = false;
    for (const Instruction& instruction : *block) {
      Event event = eventOf(instruction, variable, users);
      if (event == Event::use) return true;
      stopped = event != Event::none;
      if (stopped) break;
    }
    if (stopped) continue;
    for (const BasicBlock* successor : llvm::successors(block))
      if (seen.insert(successor).second) work.push_back(successor);
  }
  return false;
}

// Is there a use on some path to the end of `to` after which the variable's life does not end?
bool usedBefore(const BasicBlock* to, const llvm::AllocaInst& variable,
                const llvm::SmallPtrSetImpl<const Instruction*>& users) {
  llvm::SmallVector<const BasicBlock*> work{to};
  llvm::SmallPtrSet<const BasicBlock*, 16> seen{to};
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    bool stopped = false;
    for (const Instruction& instruction : llvm::reverse(*block)) {
      Event event = eventOf(instruction, variable, users);
      if (event == Event::use) return true;
      stopped = event != Event::none;
      if (stopped) break;
    }
    if (stopped) continue;
    for (const BasicBlock* predecessor : llvm::predecessors(block))
      if (seen.insert(predecessor).second) work.push_back(predecessor);
  }
  return false;
}

}  // namespace

std::vector<Barrier> isolateBarriers(llvm::Function& body) {
  std::vector<Barrier> barriers;
  for (Instruction& instruction : llvm::instructions(body))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call && call->getCalledFunction() && isBarrier(*call->getCalledFunction()))
      barriers.push_back({call, nullptr, nullptr});
  for (Barrier& barrier : barriers) {
    barrier.block = llvm::SplitBlock(barrier.call->getParent(), barrier.call);
    barrier.continuation = llvm::SplitBlock(barrier.block, barrier.call->getNextNode());
  }
  return barriers;
}

LiveAcross findLiveAcross(llvm::Function& body, const std::vector<Barrier>& barriers) {
  llvm::DenseMap<const BasicBlock*, unsigned> continuations;
  for (unsigned i = 0; i < barriers.size(); ++i) continuations[barriers[i].continuation] = i;
  LiveAcross result;
  for (Instruction& instruction : llvm::instructions(body)) {
    if (instruction.getType()->isVoidTy() || llvm::isa<llvm::AllocaInst>(instruction)) continue;
    if (!instruction.isUsedOutsideOfBlock(instruction.getParent())) continue;
    llvm::BitVector live = liveBarriers(instruction, continuations);
    if (live.any()) result.insert({&instruction, std::move(live)});
  }
  return result;
}

bool isLiveAcross(const llvm::AllocaInst& variable, const std::vector<Barrier>& barriers) {
  if (barriers.empty()) return false;
  if (llvm::PointerMayBeCaptured(&variable, /*ReturnCaptures=*/true, /*StoreCaptures=*/true))
    return true;
  llvm::SmallPtrSet<const Instruction*, 16> users;
  collectUsers(variable, users);
  return llvm::any_of(barriers, [&](const Barrier& barrier) {
    return usedAfter(barrier.continuation, variable, users) &&
           usedBefore(barrier.block, variable, users);
  });
}

}  // namespace weft::compiler
