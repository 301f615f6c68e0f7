#include "compiler/passes/prepare.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/passes/analyses.h"
#include "compiler/passes/hoisted_queries.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Module;

constexpr unsigned local_address_space = 3;

// A kernel that is called like a function gets a plain copy of its body for its callers.
void separateCalledKernels(const std::vector<Function*>& kernels) {
  for (Function* kernel : kernels) {
    if (kernel->use_empty()) continue;
    llvm::ValueToValueMapTy map;
    Function* copy = llvm::CloneFunction(kernel, map);
    copy->setName(kernel->getName() + ".called");
    copy->setCallingConv(llvm::CallingConv::SPIR_FUNC);
    kernel->replaceAllUsesWith(copy);
  }
}

// A program may define functions with names that code generation or LLVM's knowledge of the C
// library claims for itself; being internal does not protect them.
void renameLibraryNames(Module& module, llvm::TargetMachine& machine) {
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  for (Function& function : module) {
    llvm::LibFunc known;
    if (function.isDeclaration() || function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL)
      continue;
    if (library.getLibFunc(function.getName(), known))
      function.setName("weft.user." + function.getName());
  }
}

void makeInternal(llvm::GlobalValue& value) {
  if (value.isDeclaration() || value.hasAppendingLinkage()) return;
  value.setLinkage(llvm::GlobalValue::InternalLinkage);
  value.setVisibility(llvm::GlobalValue::DefaultVisibility);
  value.setDSOLocal(true);
  if (auto* object = llvm::dyn_cast<llvm::GlobalObject>(&value)) object->setComdat(nullptr);
}

// Kernels keep their convention until they are lowered, but are called by nobody any more.
void normaliseLinkage(Module& module) {
  for (llvm::GlobalValue& value : module.global_values()) makeInternal(value);
  for (Function& function : module) {
    if (function.getCallingConv() == llvm::CallingConv::SPIR_FUNC)
      function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call) continue;
      if (call->getCallingConv() == llvm::CallingConv::SPIR_FUNC ||
          call->getCallingConv() == llvm::CallingConv::SPIR_KERNEL)
        call->setCallingConv(llvm::CallingConv::C);
    }
  }
}

void markBarriers(Module& module) {
  for (Function& function : module) {
    if (!isBarrier(function)) continue;
    function.addFnAttr(llvm::Attribute::Convergent);
    function.addFnAttr(llvm::Attribute::NoDuplicate);
    function.addFnAttr(llvm::Attribute::NoMerge);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
        call->addFnAttr(llvm::Attribute::NoDuplicate);
        call->addFnAttr(llvm::Attribute::NoMerge);
      }
  }
}

// Functions whose code must end up in the kernel itself: they use the work-item or local variables,
// or need more private memory than the stack should hold.
LaneFunctions findLaneFunctions(Module& module) {
  llvm::SmallVector<Function*> work;
  for (Function& function : module)
    if (isWorkItemQuery(function) || isBarrier(function) ||
        (!function.isDeclaration() && allocaBytes(function) > max_stack_bytes_per_lane))
      work.push_back(&function);
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() != local_address_space) continue;
    for (llvm::User* user : variable.users())
      if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(user))
        work.push_back(instruction->getFunction());
  }
  LaneFunctions found;
  while (!work.empty()) {
    Function* function = work.pop_back_val();
    if (!found.insert(function).second) continue;
    for (llvm::User* user : function->users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user);
          call && call->isCallee(&call->getCalledOperandUse()) &&
          call->getCalledOperand() == function)
        work.push_back(call->getFunction());
  }
  return found;
}

llvm::Error checkRecursion(Module& module, const LaneFunctions& lane_functions) {
  llvm::CallGraph graph(module);
  for (auto it = llvm::scc_begin(&graph); !it.isAtEnd(); ++it) {
    if (!it.hasCycle()) continue;
    for (llvm::CallGraphNode* node : *it)
      if (node->getFunction() && lane_functions.contains(node->getFunction()))
        return llvm::createStringError("recursion is not supported: function '" +
                                       node->getFunction()->getName() + "' calls itself");
  }
  return llvm::Error::success();
}

bool takesPrivatePointer(const Function& function) {
  constexpr unsigned private_space = 0, generic_space = 4;
  return llvm::any_of(function.args(), [](const llvm::Argument& argument) {
    auto* type = llvm::dyn_cast<llvm::PointerType>(argument.getType());
    return type &&
           (type->getAddressSpace() == private_space || type->getAddressSpace() == generic_space);
  });
}

// A short function of the program's, such as one that makes an index of coordinates: in place, what
// it says of its value is seen, too. One with loops where it may work on a private array, which
// could not be in registers else.
bool isHelper(const Function& function) {
  constexpr unsigned most_instructions = 40;
  if (function.isDeclaration() || function.hasFnAttribute(llvm::Attribute::NoInline) ||
      !isOfProgram(function) || function.getInstructionCount() > most_instructions)
    return false;
  llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>> back;
  llvm::FindFunctionBackedges(function, back);
  return back.empty() || takesPrivatePointer(function);
}

void inlineLaneFunctions(Module& module, llvm::TargetMachine& machine,
                         const LaneFunctions& lane_functions) {
  for (Function& function : module) {
    if (function.isDeclaration()) continue;
    if (function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL) {
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
      function.removeFnAttr(llvm::Attribute::NoInline);
    } else if (lane_functions.contains(&function)) {
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
      function.removeFnAttr(llvm::Attribute::NoInline);
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    } else if (isHelper(function)) {
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (Function* callee = call->getCalledFunction(); callee && lane_functions.contains(callee))
          call->removeFnAttr(llvm::Attribute::NoInline);
  }
  Analyses analyses(machine);
  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/true));
  pipeline.addPass(llvm::GlobalDCEPass());
  pipeline.run(module, analyses.modules);
}

llvm::Error checkNothingLeft(Module& module) {
  for (Function& function : module) {
    if (!isWorkItemQuery(function) && !isBarrier(function)) continue;
    for (llvm::User* user : function.users()) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledOperand() != &function)
        return llvm::createStringError("the address of a work-item function is taken");
      if (call->getFunction()->getCallingConv() != llvm::CallingConv::SPIR_KERNEL)
        return llvm::createStringError(
            "function '" + call->getFunction()->getName() +
            "' uses work-item functions and is called through a pointer");
    }
  }
  return llvm::Error::success();
}

// Local variables used through constant expressions become instructions, so that each kernel can
// have its own place for them.
void expandLocalVariableUses(Module& module) {
  llvm::SmallVector<llvm::Constant*> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == local_address_space) variables.push_back(&variable);
  llvm::convertUsersOfConstantsToInstructions(variables);
}

}  // namespace

bool isOfProgram(const Function& function) {
  const llvm::StringRef name = function.getName();
  return !name.starts_with("_Z") && !name.starts_with("__") && !name.starts_with("weft");
}

uint64_t allocaBytes(const Function& function) {
  const llvm::DataLayout& layout = function.getDataLayout();
  uint64_t bytes = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      if (auto size = alloca->getAllocationSize(layout)) bytes += size->getKnownMinValue();
  return bytes;
}

llvm::Expected<std::vector<Function*>> prepareModule(Module& module, llvm::TargetMachine& machine) {
  std::vector<Function*> kernels;
  for (Function& function : module)
    if (!function.isDeclaration() && function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL)
      kernels.push_back(&function);
  separateCalledKernels(kernels);
  // Keeps kernels alive through dead code elimination: only they stay external until lowered.
  normaliseLinkage(module);
  for (Function* kernel : kernels) kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
  renameLibraryNames(module, machine);
  markBarriers(module);
  expandLocalVariableUses(module);
  hoistQueries(module, findLaneFunctions(module));
  const LaneFunctions lane_functions = findLaneFunctions(module);
  if (llvm::Error error = checkRecursion(module, lane_functions)) return error;
  inlineLaneFunctions(module, machine, lane_functions);
  expandLocalVariableUses(module);  // of what inlining made, too
  if (llvm::Error error = checkNothingLeft(module)) return error;
  return kernels;
}

}  // namespace weft::compiler
