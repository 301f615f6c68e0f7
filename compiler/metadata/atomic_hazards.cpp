#include "compiler/metadata/atomic_hazards.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// SPIR's address spaces.
enum Space : unsigned { space_private, space_global, space_constant, space_local, space_generic };

constexpr unsigned no_limit = 0;

llvm::SmallVector<const Value*> objectsOf(const Value* pointer) {
  llvm::SmallVector<const Value*> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, no_limit);
  return objects;
}

// What an access is at; null for what is none.
const Value* pointerOf(const Instruction& instruction) {
  if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return atomic->getPointerOperand();
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return exchange->getPointerOperand();
  return llvm::getLoadStorePointerOperand(&instruction);
}

// Is it an atomic on memory that other work-groups may see?
bool isSharedAtomic(const Instruction& instruction) {
  const Value* const pointer = instruction.isAtomic() ? pointerOf(instruction) : nullptr;
  return pointer && mayBeGlobal(pointer);
}

// Follows what atomics on global memory found: through values, through what depends on branches
// that they decide, and through memory, by whole objects. Arguments are taken to be different
// objects, and what one work-item of a group stores others may load.
class AtomicFlow {
 public:
  explicit AtomicFlow(llvm::Function& function)
      : function_(function), dominators_(function), loops_(dominators_), joins_(function) {}

  // May a loop run until an atomic finds something else than before, or a load that comes after a
  // barrier or a fence?
  bool waits(const KernelInfo& info) {
    const llvm::ReversePostOrderTraversal<const llvm::Function*> order(&function_);
    if (llvm::containsIrreducibleCFG<const BasicBlock*>(order, loops_)) return true;
    for (const Instruction& instruction : llvm::instructions(function_)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration()) return true;  // it was too large
      if (isSharedAtomic(instruction) || polls(instruction, info)) taint(instruction);
    }
    while (!waits_ && !pending_.empty())
      for (const llvm::User* user : pending_.pop_back_val()->users())
        reach(*llvm::cast<Instruction>(user));
    return waits_;
  }
  // Are there atomics that all work-items come by, other than combined ones?
  bool inCommon(const KernelInfo& info) const {
    return llvm::any_of(llvm::instructions(function_), [&](const Instruction& instruction) {
      return isSharedAtomic(instruction) && instruction.mayWriteToMemory() &&
             joins_.dominates(instruction.getParent(), &function_.getEntryBlock()) &&
             !llvm::all_of(objectsOf(pointerOf(instruction)),
                           [&](const Value* object) { return isCombined(object, info); });
    });
  }

 private:
  // A load in a loop that also orders memory, of what the kernel may write.
  bool polls(const Instruction& instruction, const KernelInfo& info) const {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || !mayBeGlobal(load->getPointerOperand())) return false;
    const llvm::Loop* const loop = loops_.getLoopFor(load->getParent());
    return loop &&
           llvm::any_of(objectsOf(load->getPointerOperand()),
                        [&](const Value* object) {
                          const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
                          return !argument || argument->getArgNo() >= info.arguments.size() ||
                                 info.arguments[argument->getArgNo()].writes;
                        }) &&
           llvm::any_of(loop->getOutermostLoop()->blocks(),
                        [](const BasicBlock* block) { return llvm::any_of(*block, ordersMemory); });
  }
  // Fences, and calls of nobody knows what, such as barriers.
  static bool ordersMemory(const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return llvm::isa<llvm::FenceInst>(instruction) ||
           (call && !llvm::isa<llvm::IntrinsicInst>(call) && call->mayWriteToMemory());
  }
  static bool isCombined(const Value* object, const KernelInfo& info) {
    const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
    return argument && argument->getArgNo() < info.arguments.size() &&
           info.arguments[argument->getArgNo()].combination != Combination::none;
  }
  static bool isObject(const Value* value) {
    return llvm::isa<llvm::Argument, llvm::AllocaInst, llvm::GlobalVariable>(value);
  }
  static bool matters(const Instruction& instruction) {
    return !instruction.isLifetimeStartOrEnd() && !instruction.isDebugOrPseudoInst() &&
           !llvm::isa<llvm::AssumeInst>(instruction);
  }
  // An operand is tainted.
  void reach(const Instruction& user) {
    if (!matters(user)) return;
    if (user.isTerminator()) return taintBranch(*user.getParent());
    taint(user);
    if (user.mayWriteToMemory()) taintWritten(user);
  }
  void taint(const Instruction& instruction) {
    if (tainted_.insert(&instruction).second) pending_.push_back(&instruction);
  }
  void taintWritten(const Instruction& writer) {
    for (const Value* operand : writer.operands())
      if (operand->getType()->isPtrOrPtrVectorTy() && !llvm::isa<llvm::Function>(operand) &&
          (!llvm::isa<llvm::StoreInst>(writer) || operand == pointerOf(writer)))
        taintObjects(operand);
  }
  void taintObjects(const Value* pointer);
  bool readsTainted(const Instruction& instruction) const;
  void taintBranch(const BasicBlock& block);
  llvm::SmallPtrSet<const BasicBlock*, 16> decidedBy(const BasicBlock& block,
                                                     const BasicBlock* join) const;
  void taintDecided(const BasicBlock& block, const BasicBlock& branch,
                    const llvm::SmallPtrSetImpl<const BasicBlock*>& decided);

  llvm::Function& function_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::PostDominatorTree joins_;
  llvm::DenseSet<const Instruction*> tainted_;
  llvm::SmallVector<const Instruction*> pending_;
  llvm::SmallPtrSet<const Value*, 16> objects_;
  bool all_memory_ = false;
  llvm::SmallPtrSet<const BasicBlock*, 16> branches_;
  bool waits_ = false;
};

void AtomicFlow::taintObjects(const Value* pointer) {
  bool more = false;
  for (const Value* object : objectsOf(pointer)) {
    if (isObject(object))
      more |= objects_.insert(object).second;
    else
      more |= !std::exchange(all_memory_, true);
  }
  if (!more) return;
  for (const Instruction& instruction : llvm::instructions(function_))
    if (!tainted_.contains(&instruction) && readsTainted(instruction)) reach(instruction);
}

bool AtomicFlow::readsTainted(const Instruction& instruction) const {
  if (!instruction.mayReadFromMemory() || !matters(instruction)) return false;
  return llvm::any_of(instruction.operands(), [&](const llvm::Use& operand) {
    if (!operand->getType()->isPtrOrPtrVectorTy() || llvm::isa<llvm::Function>(operand))
      return false;
    return all_memory_ || llvm::any_of(objectsOf(operand), [&](const Value* object) {
             return objects_.contains(object) || (!objects_.empty() && !isObject(object));
           });
  });
}

// Where its branch goes nobody knows, so neither how often what it alone leads to runs.
void AtomicFlow::taintBranch(const BasicBlock& block) {
  if (!branches_.insert(&block).second) return;
  const llvm::DomTreeNode* node = joins_.getNode(&block);
  const BasicBlock* join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  for (const llvm::Loop* loop = loops_.getLoopFor(&block); loop; loop = loop->getParentLoop())
    if (!join || !loop->contains(join) || loop->isLoopExiting(&block)) waits_ = true;
  const auto decided = decidedBy(block, join);
  // Another turn without coming to the join.
  for (const llvm::Loop* loop = loops_.getLoopFor(&block); loop; loop = loop->getParentLoop())
    if (decided.contains(loop->getHeader())) waits_ = true;
  for (const BasicBlock* each : decided) taintDecided(*each, block, decided);
  if (join) taintDecided(*join, block, decided);
  for (const BasicBlock* each : decided)
    for (const Instruction& instruction : *each)
      if (matters(instruction) && instruction.mayWriteToMemory()) taintWritten(instruction);
}

llvm::SmallPtrSet<const BasicBlock*, 16> AtomicFlow::decidedBy(const BasicBlock& block,
                                                               const BasicBlock* join) const {
  llvm::SmallPtrSet<const BasicBlock*, 16> decided;
  llvm::SmallVector<const BasicBlock*> waiting(llvm::successors(&block));
  while (!waiting.empty()) {
    const BasicBlock* next = waiting.pop_back_val();
    if (next != join && decided.insert(next).second)
      llvm::append_range(waiting, llvm::successors(next));
  }
  return decided;
}

// Which way a block was reached shows in what its phis chose.
void AtomicFlow::taintDecided(const BasicBlock& block, const BasicBlock& branch,
                              const llvm::SmallPtrSetImpl<const BasicBlock*>& decided) {
  for (const llvm::PHINode& phi : block.phis()) {
    const Value* one = nullptr;
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      const BasicBlock* from = phi.getIncomingBlock(i);
      if (from != &branch && !decided.contains(from)) continue;
      if (one && one != phi.getIncomingValue(i)) taint(phi);
      one = phi.getIncomingValue(i);
    }
  }
}

// False when they are too large.
bool inlineCalls(llvm::Function& function) {
  constexpr unsigned most_instructions = 50'000, most_rounds = 16;
  unsigned instructions = function.getInstructionCount();
  for (unsigned round = 0; round < most_rounds; ++round) {
    llvm::SmallVector<llvm::CallBase*> calls;
    for (Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
          call && call->getCalledFunction() && !call->getCalledFunction()->isDeclaration())
        calls.push_back(call);
    if (calls.empty()) return true;
    for (llvm::CallBase* call : calls) {
      instructions += call->getCalledFunction()->getInstructionCount();
      llvm::InlineFunctionInfo info;
      if (instructions > most_instructions || !llvm::InlineFunction(*call, info).isSuccess())
        return false;
    }
  }
  return false;
}

}  // namespace

bool mayBeGlobal(const Value* pointer) {
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  if (space != space_global && space != space_generic) return false;
  if (space == space_global) return true;
  return llvm::any_of(objectsOf(pointer), [](const Value* object) {
    const unsigned from = object->getType()->getPointerAddressSpace();
    return from != space_private && from != space_local;
  });
}

uint32_t atomicHazards(llvm::Function& kernel, const KernelInfo& info) {
  constexpr auto waiting = static_cast<uint32_t>(SplitHazard::waiting_atomics),
                 common = static_cast<uint32_t>(SplitHazard::common_atomics);
  llvm::ValueToValueMapTy map;
  llvm::Function* const copy = llvm::CloneFunction(&kernel, map);
  uint32_t found = waiting;
  if (inlineCalls(*copy)) {
    AtomicFlow flow(*copy);
    found = (flow.waits(info) ? waiting : 0) | (flow.inCommon(info) ? common : 0);
  }
  copy->eraseFromParent();
  return found;
}

}  // namespace weft::compiler
