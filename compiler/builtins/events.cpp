#include "compiler/builtins/events.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Type;

// The type without events; arrays and structs of events occur in programs as variables.
Type* withoutEvents(Type* type) {
  if (auto* opaque = llvm::dyn_cast<llvm::TargetExtType>(type))
    return opaque->getName() == "spirv.Event" ? llvm::PointerType::get(type->getContext(), 0)
                                              : type;
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    Type* element = withoutEvents(array->getElementType());
    return element == array->getElementType()
               ? type
               : llvm::ArrayType::get(element, array->getNumElements());
  }
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    llvm::SmallVector<Type*> elements;
    for (Type* element : structure->elements()) elements.push_back(withoutEvents(element));
    return elements == structure->elements()
               ? type
               : llvm::StructType::get(type->getContext(), elements, structure->isPacked());
  }
  return type;
}

llvm::FunctionType* withoutEvents(llvm::FunctionType* type) {
  llvm::SmallVector<Type*> parameters;
  for (Type* parameter : type->params()) parameters.push_back(withoutEvents(parameter));
  return llvm::FunctionType::get(withoutEvents(type->getReturnType()), parameters,
                                 type->isVarArg());
}

bool mentionsEvents(const llvm::Module& module) {
  for (const llvm::StringRef name : {"async_work_group", "wait_group_events"})
    for (const Function& function : module)
      if (function.getName().contains(name)) return true;
  return false;
}

void replaceSignature(Function& function) {
  llvm::FunctionType* type = withoutEvents(function.getFunctionType());
  if (type == function.getFunctionType()) return;
  Function* twin = Function::Create(type, function.getLinkage(), function.getAddressSpace(), "",
                                    function.getParent());
  twin->takeName(&function);
  twin->copyAttributesFrom(&function);
  twin->splice(twin->begin(), &function);
  for (auto [old_argument, argument] : llvm::zip(function.args(), twin->args())) {
    old_argument.mutateType(argument.getType());
    old_argument.replaceAllUsesWith(&argument);
    argument.takeName(&old_argument);
  }
  function.mutateType(twin->getType());
  function.replaceAllUsesWith(twin);
  function.eraseFromParent();
}

void rewrite(llvm::Instruction& instruction) {
  for (llvm::Use& operand : instruction.operands()) {
    auto* constant = llvm::dyn_cast<llvm::Constant>(operand.get());
    if (!constant || llvm::isa<llvm::GlobalValue>(constant)) continue;
    Type* type = withoutEvents(constant->getType());
    if (type == constant->getType()) continue;
    // An event constant is null or undefined: aggregates of both are.
    operand.set(llvm::isa<llvm::PoisonValue>(constant) ? llvm::PoisonValue::get(type)
                                                       : llvm::Constant::getNullValue(type));
  }
  if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
    alloca->setAllocatedType(withoutEvents(alloca->getAllocatedType()));
  if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    address->setSourceElementType(withoutEvents(address->getSourceElementType()));
    address->setResultElementType(withoutEvents(address->getResultElementType()));
  }
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
    call->mutateFunctionType(withoutEvents(call->getFunctionType()));
  else
    instruction.mutateType(withoutEvents(instruction.getType()));
}

}  // namespace

void lowerEvents(llvm::Module& module) {
  if (!mentionsEvents(module)) return;
  for (Function& function : llvm::make_early_inc_range(module)) replaceSignature(function);
  for (Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) rewrite(instruction);
}

}  // namespace weft::compiler
