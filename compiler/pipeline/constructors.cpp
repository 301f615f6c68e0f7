#include "compiler/pipeline/constructors.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

constexpr const char* constructors = "llvm.global_ctors";
constexpr const char* destructors = "llvm.global_dtors";

// In the order of the list.
std::vector<llvm::Function*> functionsOf(const llvm::Module& module, const char* name) {
  std::vector<llvm::Function*> functions;
  const llvm::GlobalVariable* list = module.getNamedGlobal(name);
  if (!list || !list->hasInitializer()) return functions;
  const auto* entries = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer());
  if (!entries) return functions;
  for (const llvm::Use& entry : entries->operands())
    if (const auto* fields = llvm::dyn_cast<llvm::ConstantStruct>(entry.get()))
      if (auto* f = llvm::dyn_cast<llvm::Function>(fields->getOperand(1)->stripPointerCasts()))
        functions.push_back(f);
  return functions;
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
  for (llvm::Function* function : functionsOf(module, constructors)) {
    if (function->getCallingConv() != llvm::CallingConv::SPIR_KERNEL) continue;
    function->setCallingConv(llvm::CallingConv::SPIR_FUNC);
    function->clearMetadata();
  }
  removeRegistrations(module);
}

void exportDestructors(llvm::Module& module) {
  const std::vector<llvm::Function*> functions = functionsOf(module, destructors);
  if (functions.empty()) return;
  module.getNamedGlobal(destructors)->eraseFromParent();
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* all = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                     port::destroy_objects_symbol, module);
  all->setDoesNotThrow();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", all));
  // Modules were linked, and are constructed, in the order of the list.
  for (llvm::Function* function : llvm::reverse(functions))
    builder.CreateCall(function)->setCallingConv(function->getCallingConv());
  builder.CreateRetVoid();
}

bool hasConstructors(const llvm::Module& module) {
  return !functionsOf(module, constructors).empty();
}

}  // namespace weft::compiler
