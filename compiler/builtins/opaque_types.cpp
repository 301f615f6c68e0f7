#include "compiler/builtins/opaque_types.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Type;

constexpr unsigned global_address_space = 1, constant_address_space = 2;

// Arrays and structs of events occur in programs as variables.
Type* lowered(Type* type) {
  if (auto* opaque = llvm::dyn_cast<llvm::TargetExtType>(type)) {
    llvm::LLVMContext& context = type->getContext();
    if (opaque->getName() == "spirv.Event") return llvm::PointerType::get(context, 0);
    if (opaque->getName() == "spirv.Image")
      return llvm::PointerType::get(context, constant_address_space);
    if (opaque->getName() == "spirv.Sampler") return llvm::Type::getInt32Ty(context);
    if (opaque->getName() == "spirv.Pipe")
      return llvm::PointerType::get(context, global_address_space);
    if (opaque->getName() == "spirv.ReserveId" || opaque->getName() == "spirv.Queue" ||
        opaque->getName() == "spirv.DeviceEvent")
      return llvm::Type::getInt64Ty(context);
    return type;
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    Type* element = lowered(array->getElementType());
    return element == array->getElementType()
               ? type
               : llvm::ArrayType::get(element, array->getNumElements());
  }
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    llvm::SmallVector<Type*> elements;
    for (Type* element : structure->elements()) elements.push_back(lowered(element));
    return elements == structure->elements()
               ? type
               : llvm::StructType::get(type->getContext(), elements, structure->isPacked());
  }
  return type;
}

llvm::FunctionType* lowered(llvm::FunctionType* type) {
  llvm::SmallVector<Type*> parameters;
  for (Type* parameter : type->params()) parameters.push_back(lowered(parameter));
  return llvm::FunctionType::get(lowered(type->getReturnType()), parameters, type->isVarArg());
}

// An opaque value comes from a parameter or from a call, or is an event's null that is waited for.
bool mentionsOpaqueTypes(const llvm::Module& module) {
  return llvm::any_of(module, [](const Function& function) {
    return lowered(function.getFunctionType()) != function.getFunctionType() ||
           function.getName().contains("wait_group_events");
  });
}

void replaceSignature(Function& function) {
  llvm::FunctionType* type = lowered(function.getFunctionType());
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

// Reservations and events live in local memory, too.
void replaceVariable(llvm::GlobalVariable& variable) {
  Type* type = lowered(variable.getValueType());
  if (type == variable.getValueType()) return;
  llvm::Constant* initial = nullptr;
  if (variable.hasInitializer())
    initial = llvm::isa<llvm::UndefValue>(variable.getInitializer())
                  ? llvm::UndefValue::get(type)
                  : llvm::Constant::getNullValue(type);
  auto* twin = new llvm::GlobalVariable(*variable.getParent(), type, variable.isConstant(),
                                        variable.getLinkage(), initial, "", &variable,
                                        variable.getThreadLocalMode(), variable.getAddressSpace());
  twin->takeName(&variable);
  twin->copyAttributesFrom(&variable);
  twin->setAlignment(variable.getAlign());
  variable.replaceAllUsesWith(twin);
  variable.eraseFromParent();
}

void rewrite(llvm::Instruction& instruction) {
  for (llvm::Use& operand : instruction.operands()) {
    auto* constant = llvm::dyn_cast<llvm::Constant>(operand.get());
    if (!constant || llvm::isa<llvm::GlobalValue>(constant)) continue;
    Type* type = lowered(constant->getType());
    if (type == constant->getType()) continue;
    // Such a constant is null or undefined: aggregates of both are.
    operand.set(llvm::isa<llvm::PoisonValue>(constant) ? llvm::PoisonValue::get(type)
                                                       : llvm::Constant::getNullValue(type));
  }
  if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
    alloca->setAllocatedType(lowered(alloca->getAllocatedType()));
  if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    address->setSourceElementType(lowered(address->getSourceElementType()));
    address->setResultElementType(lowered(address->getResultElementType()));
  }
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
    call->mutateFunctionType(lowered(call->getFunctionType()));
  else
    instruction.mutateType(lowered(instruction.getType()));
}

// Functions that return the value they are given, now that both sides of them are the same.
bool isIdentity(const Function& function) {
  return llvm::StringSwitch<bool>(function.getName())
      .Case("__translate_sampler_initializer", true)
      .StartsWith("__weft_pipe_of_storage", true)
      .StartsWith("_Z10weft_image", true)
      .StartsWith("_Z12weft_sampler", true)
      .StartsWith("_Z15weft_reserve_id", true)
      .StartsWith("_Z17weft_queue_number", true)
      .StartsWith("_Z17weft_number_queue", true)
      .StartsWith("_Z17weft_event_number", true)
      .StartsWith("_Z17weft_number_event", true)
      .Default(false);
}

void removeIdentity(Function& function) {
  for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    if (!call || call->getCalledFunction() != &function) continue;
    call->replaceAllUsesWith(call->getArgOperand(0));
    call->eraseFromParent();
  }
  if (function.use_empty()) function.eraseFromParent();
}

}  // namespace

void lowerOpaqueTypes(llvm::Module& module) {
  if (!mentionsOpaqueTypes(module)) return;
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals()))
    replaceVariable(variable);
  for (Function& function : llvm::make_early_inc_range(module)) replaceSignature(function);
  for (Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) rewrite(instruction);
  for (Function& function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && isIdentity(function)) removeIdentity(function);
}

}  // namespace weft::compiler
