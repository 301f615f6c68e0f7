#include "compiler/frontend/annotations.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

bool isAnnotation(llvm::Intrinsic::ID id) {
  return id == llvm::Intrinsic::annotation || id == llvm::Intrinsic::ptr_annotation ||
         id == llvm::Intrinsic::var_annotation;
}

void dropFrom(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call || !isAnnotation(call->getIntrinsicID())) continue;
    if (!call->getType()->isVoidTy()) call->replaceAllUsesWith(call->getArgOperand(0));
    call->eraseFromParent();
  }
}

}  // namespace

void dropAnnotations(llvm::Module& module) {
  for (llvm::Function& function : module) dropFrom(function);
  if (llvm::GlobalVariable* all = module.getNamedGlobal("llvm.global.annotations"))
    all->eraseFromParent();
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals())) {
    variable.removeDeadConstantUsers();
    if (variable.getSection() == "llvm.metadata" && variable.use_empty())
      variable.eraseFromParent();
  }
}

}  // namespace weft::compiler
