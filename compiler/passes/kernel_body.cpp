#include "compiler/passes/kernel_body.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "compiler/passes/analyses.h"
#include "compiler/passes/swapped_arrays.h"
#include "compiler/passes/work_group_functions.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned local_address_space = 3, generic_address_space = 4;

llvm::AttributeList bodyAttributes(const Function& kernel) {
  llvm::AttributeList attributes = kernel.getAttributes();
  for (unsigned i = 0; i < kernel.arg_size(); ++i)
    attributes = attributes.removeParamAttribute(kernel.getContext(), i, llvm::Attribute::ByVal);
  return attributes;
}

Function* moveCode(Function& kernel) {
  llvm::SmallVector<llvm::Type*> types;
  for (llvm::Argument& argument : kernel.args()) types.push_back(argument.getType());
  llvm::append_range(types, environmentTypes(kernel.getContext()));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(kernel.getContext()), types, false);
  Function* body = Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                    kernel.getName() + ".body", kernel.getParent());
  body->setAttributes(bodyAttributes(kernel));
  body->splice(body->end(), &kernel);
  for (llvm::Argument& argument : kernel.args()) {
    argument.replaceAllUsesWith(body->getArg(argument.getArgNo()));
    body->getArg(argument.getArgNo())->takeName(&argument);
  }
  return body;
}

// Variables cannot be followed through regions; line numbers can.
void dropVariableLocations(Function& body) {
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    instruction.dropDbgRecords();
    if (llvm::isa<llvm::DbgInfoIntrinsic>(instruction)) instruction.eraseFromParent();
  }
}

// Collects the loads through `pointer`; false if it is used in any other way than for reading.
bool collectReads(Value* pointer, llvm::SmallVectorImpl<llvm::LoadInst*>& loads) {
  for (llvm::Use& use : pointer->uses()) {
    auto* user = llvm::cast<Instruction>(use.getUser());
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      if (load->isVolatile()) return false;
      loads.push_back(load);
    } else if (llvm::isa<llvm::GetElementPtrInst>(user)) {
      if (!collectReads(user, loads)) return false;
    } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(user)) {
      if (use.getOperandNo() != 1 || copy->isVolatile()) return false;
    } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
      if (!call->isDataOperand(&use) || !call->isByValArgument(call->getDataOperandNo(&use)))
        return false;
    } else {
      return false;
    }
  }
  return true;
}

// The argument's bytes are shared by all work-items: one that writes to its struct gets a copy.
void lowerStructArgument(Function& body, unsigned index, llvm::Type* type, llvm::Align alignment) {
  llvm::Argument* argument = body.getArg(index);
  llvm::SmallVector<llvm::LoadInst*> loads;
  if (collectReads(argument, loads)) {
    for (llvm::LoadInst* load : loads)
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(body.getContext(), {}));
    return;
  }
  llvm::IRBuilder<> builder(&body.getEntryBlock(), body.getEntryBlock().begin());
  llvm::AllocaInst* copy = builder.CreateAlloca(type);
  copy->setAlignment(std::max(alignment, copy->getAlign()));
  argument->replaceAllUsesWith(copy);
  builder.CreateMemCpy(copy, copy->getAlign(), argument, alignment,
                       body.getDataLayout().getTypeAllocSize(type));
}

uint64_t placeLocalVariables(KernelBody& body) {
  const llvm::DataLayout& layout = body.function->getDataLayout();
  uint64_t bytes = 0;
  for (llvm::GlobalVariable& variable : body.function->getParent()->globals()) {
    if (variable.getAddressSpace() != local_address_space) continue;
    auto here = [&](llvm::Use& use) {
      auto* user = llvm::dyn_cast<Instruction>(use.getUser());
      return user && user->getFunction() == body.function;
    };
    if (llvm::none_of(variable.uses(), here)) continue;
    body.folds_in_order |= isGroupResult(variable);
    bytes = llvm::alignTo(bytes, layout.getPreferredAlign(&variable));
    llvm::IRBuilder<> builder(&body.function->getEntryBlock(),
                              body.function->getEntryBlock().begin());
    Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(),
                                                      body.hidden(env::local_memory), bytes);
    place = builder.CreateAddrSpaceCast(place, variable.getType(), variable.getName());
    variable.replaceUsesWithIf(place, here);
    const uint64_t size = layout.getTypeAllocSize(variable.getValueType());
    body.local_variables.push_back({bytes, size});
    bytes += size;
  }
  return bytes;
}

bool hasGenericPointers(Function& body) {
  return llvm::any_of(llvm::instructions(body), [](const Instruction& instruction) {
    return instruction.getType()->isPointerTy() &&
           instruction.getType()->getPointerAddressSpace() == generic_address_space;
  });
}

// What generic pointers go to is seen where they are made.
void inferAddressSpaces(Function& body, llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager pipeline;
  pipeline.addPass(llvm::InferAddressSpacesPass(generic_address_space));
  pipeline.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  pipeline.addPass(llvm::EarlyCSEPass());
  pipeline.run(body, analyses);
}

// Loops that exchange arrays take their tests to their ends first.
void unrollExchanges(Function& body, llvm::FunctionAnalysisManager& analyses) {
  if (llvm::none_of(analyses.getResult<llvm::LoopAnalysis>(body).getLoopsInPreorder(),
                    [](const llvm::Loop* loop) { return exchangesArrays(*loop); }))
    return;
  llvm::FunctionPassManager forms, cleaning;
  forms.addPass(llvm::LoopSimplifyPass());
  forms.addPass(llvm::LCSSAPass());
  forms.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
  forms.addPass(llvm::LoopSimplifyPass());
  forms.addPass(llvm::LCSSAPass());
  forms.run(body, analyses);
  if (!compiler::unrollExchanges(body, analyses)) return;
  analyses.invalidate(body, llvm::PreservedAnalyses::none());
  cleaning.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  cleaning.addPass(llvm::EarlyCSEPass());
  cleaning.addPass(llvm::InstCombinePass());
  cleaning.addPass(llvm::SimplifyCFGPass());
  cleaning.run(body, analyses);
}

void simplify(Function& body, llvm::TargetMachine& machine, bool optimize) {
  Analyses analyses(machineForSpir(machine));
  llvm::FunctionPassManager pipeline;
  pipeline.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  if (optimize) {
    pipeline.addPass(llvm::EarlyCSEPass());
    pipeline.addPass(llvm::SimplifyCFGPass());
    pipeline.addPass(llvm::InstCombinePass());
    pipeline.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    pipeline.addPass(llvm::EarlyCSEPass());
    pipeline.addPass(llvm::SimplifyCFGPass());
  }
  pipeline.run(body, analyses.functions);
  if (!optimize) return;
  unrollExchanges(body, analyses.functions);
  if (joinSwappedArrays(body)) analyses.functions.invalidate(body, llvm::PreservedAnalyses::none());
  if (hasGenericPointers(body)) inferAddressSpaces(body, analyses.functions);
}

}  // namespace

KernelBody makeBody(Function& kernel, llvm::TargetMachine& machine, KernelInfo& info, bool optimize,
                    bool sub_group_vectors) {
  struct Struct {
    llvm::Type* type;
    llvm::Align alignment;
  };
  KernelBody body;
  body.name = kernel.getName().str();
  body.subprogram = kernel.getSubprogram();
  std::vector<std::pair<unsigned, Struct>> structs;
  for (llvm::Argument& argument : kernel.args()) {
    ArgumentSource source = ArgumentSource::value;
    if (argument.hasByValAttr()) {
      source = ArgumentSource::address;
      structs.push_back({argument.getArgNo(),
                         {argument.getParamByValType(), argument.getParamAlign().valueOrOne()}});
    } else if (auto* pointer = llvm::dyn_cast<llvm::PointerType>(argument.getType());
               pointer && pointer->getAddressSpace() == local_address_space) {
      source = ArgumentSource::local_offset;
    } else if (info.arguments[argument.getArgNo()].kind == ArgumentKind::image) {
      source = ArgumentSource::descriptor;
    }
    body.arguments.push_back(source);
  }
  body.function = moveCode(kernel);
  dropVariableLocations(*body.function);
  for (auto& [index, type] : structs)
    lowerStructArgument(*body.function, index, type.type, type.alignment);
  info.local_bytes = placeLocalVariables(body);
  body.sub_groups = lowerSubGroupQueries(*body.function, body.firstHidden(), info.sub_group_size,
                                         sub_group_vectors);
  lowerWorkItemQueries(*body.function, body.firstHidden());
  simplify(*body.function, machine, optimize);
  return body;
}

}  // namespace weft::compiler
