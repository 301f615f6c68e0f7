#include "compiler/pipeline/constructors.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

constexpr const char* list_name = "llvm.global_ctors";

const llvm::ConstantArray* constructors(const llvm::Module& module) {
  const llvm::GlobalVariable* list = module.getNamedGlobal(list_name);
  if (!list || !list->hasInitializer()) return nullptr;
  return llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer());
}

void removeRegistrations(llvm::Module& module) {
  llvm::Function* registration = module.getFunction("__cxa_atexit");
  if (!registration) return;
  for (llvm::User* user : llvm::make_early_inc_range(registration->users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->getCalledFunction() != registration) continue;
    call->replaceAllUsesWith(llvm::Constant::getNullValue(call->getType()));
    call->eraseFromParent();
  }
  if (registration->use_empty()) registration->eraseFromParent();
  llvm::GlobalVariable* handle = module.getNamedGlobal("__dso_handle");
  if (handle && handle->use_empty()) handle->eraseFromParent();
}

}  // namespace

void keepConstructors(llvm::Module& module) {
  const llvm::ConstantArray* list = constructors(module);
  if (!list) return;
  for (const llvm::Use& entry : list->operands()) {
    const auto* fields = llvm::dyn_cast<llvm::ConstantStruct>(entry.get());
    if (!fields) continue;
    auto* function = llvm::dyn_cast<llvm::Function>(fields->getOperand(1)->stripPointerCasts());
    if (!function || function->getCallingConv() != llvm::CallingConv::SPIR_KERNEL) continue;
    function->setCallingConv(llvm::CallingConv::SPIR_FUNC);
    function->clearMetadata();
  }
  removeRegistrations(module);
}

bool hasConstructors(const llvm::Module& module) {
  const llvm::ConstantArray* list = constructors(module);
  return list && list->getNumOperands() > 0;
}

}  // namespace weft::compiler
