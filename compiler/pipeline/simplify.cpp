#include "compiler/pipeline/simplify.h"

#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/FunctionAttrs.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/Internalize.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "compiler/passes/analyses.h"
#include "compiler/passes/chosen_values.h"

namespace weft::compiler {
namespace {

bool isKernel(const llvm::GlobalValue& value) {
  const auto* function = llvm::dyn_cast<llvm::Function>(&value);
  return function && function->getCallingConv() == llvm::CallingConv::SPIR_KERNEL;
}

}  // namespace

void simplify(llvm::Module& module, llvm::TargetMachine* machine) {
  Analyses analyses(machine);
  llvm::ModulePassManager manager;
  manager.addPass(llvm::InternalizePass(isKernel));
  manager.addPass(llvm::GlobalDCEPass());
  manager.addPass(llvm::AlwaysInlinerPass(false));
  llvm::FunctionPassManager per_function;
  per_function.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  per_function.addPass(llvm::EarlyCSEPass());
  per_function.addPass(llvm::SimplifyCFGPass());
  per_function.addPass(llvm::InstCombinePass());
  per_function.addPass(ChooseValues());
  manager.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(per_function)));
  manager.addPass(
      llvm::createModuleToPostOrderCGSCCPassAdaptor(llvm::PostOrderFunctionAttrsPass()));
  manager.addPass(llvm::GlobalDCEPass());
  manager.run(module, analyses.modules);
}

}  // namespace weft::compiler
