#include "compiler/passes/rematerialise.h"

#include <llvm/ADT/SetVector.h>

namespace weft::compiler {
namespace {

using llvm::Instruction;

constexpr size_t most_instructions = 8;

// Neither traps nor costs more than a load would.
bool isCheap(const Instruction& instruction) {
  if (llvm::isa<llvm::BinaryOperator>(instruction))
    return !instruction.isIntDivRem() && instruction.getOpcode() != Instruction::FDiv &&
           instruction.getOpcode() != Instruction::FRem;
  return llvm::isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::CmpInst, llvm::SelectInst,
                   llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst>(
      instruction);
}

// Collects what must move, operands first.
bool collect(Instruction& value, const llvm::BasicBlock& prologue,
             llvm::SetVector<Instruction*>& chain) {
  if (value.getParent() == &prologue || chain.contains(&value)) return true;
  if (!isCheap(value)) return false;
  for (llvm::Value* operand : value.operands())
    if (auto* instruction = llvm::dyn_cast<Instruction>(operand))
      if (!collect(*instruction, prologue, chain)) return false;
  chain.insert(&value);
  return chain.size() <= most_instructions;
}

}  // namespace

bool moveToPrologue(Instruction& value, llvm::BasicBlock& prologue) {
  llvm::SetVector<Instruction*> chain;
  if (!collect(value, prologue, chain)) return false;
  for (Instruction* instruction : chain) instruction->moveBefore(prologue.getTerminator());
  return true;
}

}  // namespace weft::compiler
