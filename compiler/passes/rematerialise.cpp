#include "compiler/passes/rematerialise.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "compiler/passes/simd/exchanges.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;

constexpr size_t most_instructions = 8;

// Neither traps nor costs more than a load would.
bool isCheap(const Instruction& instruction) {
  if (exchangeOf(instruction)) return !isHandedOver(instruction);
  if (llvm::isa<llvm::BinaryOperator>(instruction))
    return !instruction.isIntDivRem() && instruction.getOpcode() != Instruction::FDiv &&
           instruction.getOpcode() != Instruction::FRem;
  return llvm::isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::CmpInst, llvm::SelectInst,
                   llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst>(
      instruction);
}

// A sum of products, an address: where lanes access a constant distance apart it shows that they
// do.
bool isLinear(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Mul:
    case Instruction::Shl:
    case Instruction::Trunc:
    case Instruction::SExt:
    case Instruction::ZExt:
    case Instruction::GetElementPtr:
      return true;
    default:
      return false;
  }
}

using Chain = llvm::SetVector<Instruction*>;

// Collects what `value` is computed by from what `is_there`, operands first.
bool collect(Instruction& value, llvm::function_ref<bool(const Instruction&)> is_there,
             Chain& chain) {
  if (is_there(value) || chain.contains(&value)) return true;
  if (!isCheap(value)) return false;
  for (llvm::Value* operand : value.operands())
    if (auto* instruction = llvm::dyn_cast<Instruction>(operand))
      if (!collect(*instruction, is_there, chain)) return false;
  chain.insert(&value);
  return chain.size() <= most_instructions;
}

// The last of the chain's copies.
Instruction* copyTo(llvm::BasicBlock& block, const Chain& chain) {
  llvm::ValueToValueMapTy map;
  const auto place = block.getFirstInsertionPt();
  Instruction* copy = nullptr;
  for (Instruction* instruction : chain) {
    copy = instruction->clone();
    copy->insertBefore(place);
    llvm::RemapInstruction(copy, map, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    map[instruction] = copy;
  }
  return copy;
}

}  // namespace

bool moveToPrologue(Instruction& value, llvm::BasicBlock& prologue) {
  Chain chain;
  const auto is_there = [&](const Instruction& operand) {
    return operand.getParent() == &prologue;
  };
  if (!collect(value, is_there, chain)) return false;
  for (Instruction* instruction : chain) instruction->moveBefore(prologue.getTerminator());
  return true;
}

bool recomputeBehindBarriers(const LiveAcross& values, const std::vector<Barrier>& barriers,
                             const llvm::BasicBlock& prologue, const Uniformity& uniformity) {
  llvm::Function& body = *const_cast<llvm::Function*>(prologue.getParent());
  llvm::DominatorTree tree(body);
  const llvm::LoopInfo loops(tree);
  struct Copies {
    Instruction* value;
    llvm::SmallVector<Instruction*, 4> behind;
  };
  std::vector<Copies> all;
  for (auto& [value, live] : values) {
    if (uniformity.isUniform(*value)) continue;
    // Of a loop that lanes leave in different turns they do not have the same values afterwards.
    const auto is_there = [&](const Instruction& operand) {
      if (operand.getParent() == &prologue) return true;
      const llvm::Loop* loop = loops.getLoopFor(operand.getParent());
      return uniformity.isUniform(operand) && llvm::all_of(live.set_bits(), [&](unsigned barrier) {
               return !loop || loop->contains(barriers[barrier].continuation);
             });
    };
    Chain chain;
    if (!collect(*value, is_there, chain) ||
        !llvm::all_of(chain, [](const Instruction* part) { return isLinear(*part); }))
      continue;
    Copies& copies = all.emplace_back(Copies{value, {}});
    for (unsigned barrier : live.set_bits())
      copies.behind.push_back(copyTo(*barriers[barrier].continuation, chain));
  }
  for (auto& [value, behind] : all) {
    llvm::SSAUpdater updater;
    updater.Initialize(value->getType(), value->getName());
    updater.AddAvailableValue(value->getParent(), value);
    for (Instruction* copy : behind) updater.AddAvailableValue(copy->getParent(), copy);
    for (llvm::Use& use : llvm::make_early_inc_range(value->uses()))
      updater.RewriteUseAfterInsertions(use);
  }
  return !all.empty();
}

}  // namespace weft::compiler
