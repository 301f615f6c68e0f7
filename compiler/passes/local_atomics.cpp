#include "compiler/passes/local_atomics.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

namespace weft::compiler {
namespace {

constexpr unsigned local_address_space = 3;
constexpr llvm::SyncScope::ID marked = llvm::SyncScope::SingleThread;

bool isLocal(const llvm::Value* pointer) {
  return pointer->stripPointerCasts()->getType()->getPointerAddressSpace() == local_address_space;
}

}  // namespace

bool isMarkedLocal(const llvm::Instruction& instruction) {
  if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return update->getSyncScopeID() == marked;
  auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction);
  return exchange && exchange->getSyncScopeID() == marked;
}

void markLocalAtomics(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
        if (isLocal(update->getPointerOperand())) update->setSyncScopeID(marked);
      } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
        if (isLocal(exchange->getPointerOperand())) exchange->setSyncScopeID(marked);
      }
}

void lowerLocalAtomics(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
        if (update->getSyncScopeID() == marked) llvm::lowerAtomicRMWInst(update);
      } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
        if (exchange->getSyncScopeID() == marked) llvm::lowerAtomicCmpXchgInst(exchange);
      }
}

}  // namespace weft::compiler
