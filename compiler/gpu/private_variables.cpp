#include "compiler/gpu/private_variables.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace weft::compiler {

void moveVariables(llvm::Function& function, unsigned space) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        call && call->isLifetimeStartOrEnd()) {
      call->eraseFromParent();
      continue;
    }
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!variable || variable->getAddressSpace() == space) continue;
    llvm::IRBuilder<> builder(variable);
    auto* moved =
        builder.CreateAlloca(variable->getAllocatedType(), space, variable->getArraySize());
    moved->setAlignment(variable->getAlign());
    variable->replaceAllUsesWith(builder.CreateAddrSpaceCast(moved, variable->getType()));
    variable->eraseFromParent();
  }
}

void nameVariables(llvm::Function& function, unsigned space) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!variable || !variable->isStaticAlloca()) continue;
    llvm::IRBuilder<> builder(variable->getNextNode());
    auto* named = builder.CreateAddrSpaceCast(variable, builder.getPtrTy(space));
    auto* generic = builder.CreateAddrSpaceCast(named, variable->getType());
    variable->replaceUsesWithIf(generic, [&](const llvm::Use& use) {
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(use.getUser());
      return use.getUser() != named && !(call && call->isLifetimeStartOrEnd());
    });
  }
}

}  // namespace weft::compiler
