#include "compiler/pipeline/constructors.h"

#include <algorithm>

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

// The functions of a list, which is no more.
std::vector<llvm::Function*> takeList(llvm::Module& module, const char* name) {
  std::vector<llvm::Function*> functions = functionsOf(module, name);
  if (!functions.empty()) module.getNamedGlobal(name)->eraseFromParent();
  return functions;
}

// As a function of its own, if there are any.
void exportCalls(llvm::Module& module, const std::vector<llvm::Function*>& functions,
                 const char* name) {
  if (functions.empty()) return;
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* all = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  all->setDoesNotThrow();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", all));
  for (llvm::Function* function : functions)
    builder.CreateCall(function)->setCallingConv(function->getCallingConv());
  builder.CreateRetVoid();
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
  // Modules were linked, and are constructed, in the order of the list.
  std::vector<llvm::Function*> functions = takeList(module, destructors);
  std::reverse(functions.begin(), functions.end());
  exportCalls(module, functions, port::destroy_objects_symbol);
}

void makeObjectKernels(llvm::Module& module, std::vector<KernelInfo>& kernels) {
  exportCalls(module, takeList(module, constructors), port::construct_objects_symbol);
  exportDestructors(module);
  for (const char* name : {port::construct_objects_symbol, port::destroy_objects_symbol}) {
    llvm::Function* kernel = module.getFunction(name);
    if (!kernel) continue;
    kernel->setCallingConv(llvm::CallingConv::SPIR_KERNEL);
    KernelInfo& info = kernels.emplace_back();
    info.name = name;
    info.is_block = true;
  }
}

}  // namespace weft::compiler
