#include "compiler/passes/stack_alignment.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Instruction;
using llvm::Value;

constexpr uint64_t stack_bits = 128;  // that the ABI aligns it to

using Values = llvm::SmallPtrSet<const Value*, 32>;

// Values in vectors that the stack is not aligned for, as far as they are the function's own.
class LongVectors {
 public:
  LongVectors(const Function& function, unsigned register_bits)
      : layout_(function.getDataLayout()), register_bits_(register_bits) {
    for (const Instruction& instruction : llvm::instructions(function))
      if (isLong(instruction)) markLive(instruction);
  }

  // How many registers they take at most, as the code stands.
  unsigned most(const Function& function) const {
    unsigned most = 0;
    for (const BasicBlock& block : function)
      walk(block, [&](const Instruction&, const Values& live) {
        most = std::max(most, registersOf(live));
      });
    return most;
  }

  // Is there a call that they live across, which takes all of their registers?
  bool liveAcrossCall(const BasicBlock& block) const {
    bool any = false;
    walk(block, [&](const Instruction& instruction, const Values& live) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      any |= call && !llvm::isa<llvm::IntrinsicInst>(call) && !call->isInlineAsm() && !live.empty();
    });
    return any;
  }

 private:
  bool isLong(const Value& value) const {
    return value.getType()->isVectorTy() &&
           layout_.getTypeSizeInBits(value.getType()).getFixedValue() > stack_bits;
  }

  unsigned registersOf(const Values& values) const {
    uint64_t sum = 0;
    for (const Value* value : values)
      sum += llvm::divideCeil(layout_.getTypeSizeInBits(value->getType()).getFixedValue(),
                              register_bits_);
    return static_cast<unsigned>(sum);
  }

  // At the ends of the blocks between the value and its uses.
  void markLive(const Instruction& value) {
    llvm::SmallVector<const BasicBlock*> work;
    const auto liveAtEnd = [&](const BasicBlock* block) {
      if (live_at_end_[block].insert(&value).second && block != value.getParent())
        work.push_back(block);
    };
    for (const llvm::Use& use : value.uses()) {
      auto* user = llvm::cast<Instruction>(use.getUser());
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(user))
        liveAtEnd(phi->getIncomingBlock(use));
      else if (user->getParent() != value.getParent())
        for (const BasicBlock* before : llvm::predecessors(user->getParent())) liveAtEnd(before);
    }
    while (!work.empty())
      for (const BasicBlock* before : llvm::predecessors(work.pop_back_val())) liveAtEnd(before);
  }

  // With each instruction, from the last one on, what lives across it.
  template <class Visit>
  void walk(const BasicBlock& block, Visit visit) const {
    Values live = live_at_end_.lookup(&block);
    for (const Instruction& instruction : llvm::reverse(block)) {
      live.erase(&instruction);
      visit(instruction, live);
      if (llvm::isa<llvm::PHINode>(instruction)) continue;
      for (const Value* operand : instruction.operands())
        if (llvm::isa<Instruction>(operand) && isLong(*operand)) live.insert(operand);
    }
  }

  const llvm::DataLayout& layout_;
  unsigned register_bits_;
  llvm::DenseMap<const BasicBlock*, Values> live_at_end_;
};

bool spillsInLoops(Function& function, unsigned registers, unsigned register_bits) {
  const LongVectors vectors(function, register_bits);
  if (vectors.most(function) >= registers) return true;
  const llvm::DominatorTree tree(function);
  const llvm::LoopInfo loops(tree);
  return llvm::any_of(loops.getLoopsInPreorder(), [&](const llvm::Loop* loop) {
    return loop->isInnermost() && llvm::any_of(loop->blocks(), [&](const BasicBlock* block) {
             return vectors.liveAcrossCall(*block);
           });
  });
}

}  // namespace

void alignStacks(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return;
  for (Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::TargetTransformInfo info = machine.getTargetTransformInfo(function);
    const auto bits = info.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector);
    const unsigned registers = info.getNumberOfRegisters(info.getRegisterClassForType(true));
    if (bits.getFixedValue() <= stack_bits) return;
    if (spillsInLoops(function, registers, bits.getFixedValue()))
      function.addFnAttr(llvm::Attribute::getWithStackAlignment(
          function.getContext(), llvm::Align(bits.getFixedValue() / 8)));
  }
}

}  // namespace weft::compiler
