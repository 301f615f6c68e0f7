#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Module.h>

#include "compiler/passes/simd/float_parts.h"
#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {

using llvm::Value;

void VectorBody::emitCall(llvm::CallBase& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
      return;
    case llvm::Intrinsic::not_intrinsic:
      if (isFloatPart(call)) {
        llvm::SmallVector<Value*, 2> arguments;
        for (Value* argument : call.args()) arguments.push_back(wide(argument));
        return setParts(call, {emitFloatPart(builder_, call, arguments)});
      }
      if (!emitVariant(call)) emitSerial(call);
      return;
    default:
      if (!emitIntrinsic(call)) emitSerial(call);
      return;
  }
}

bool VectorBody::emitIntrinsic(llvm::CallBase& call) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (!llvm::isTriviallyVectorizable(id)) return false;
  const unsigned count = partCount(call.getType());
  if (count == 0 || call.getType()->isStructTy()) return false;
  llvm::SmallVector<Parts, 3> arguments;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    Value* argument = call.getArgOperand(i);
    if (!llvm::isVectorIntrinsicWithScalarOpAtArg(id, i)) {
      arguments.push_back(parts(argument));
      continue;
    }
    if (!shapes_.isUniform(argument)) return false;
    arguments.push_back(Parts(count, scalar(argument)));
  }
  llvm::SmallVector<llvm::Type*, 2> types;
  if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1))
    types.push_back(vectorOf(partType(call.getType(), 0)));
  for (unsigned i = 0; i < call.arg_size(); ++i)
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i)))
      types.push_back(arguments[i].front()->getType());
  llvm::Function* function = llvm::Intrinsic::getDeclaration(lane_.getParent(), id, types);
  Parts result;
  for (unsigned part = 0; part < count; ++part) {
    llvm::SmallVector<Value*> operands;
    for (const Parts& argument : arguments) operands.push_back(argument[part]);
    llvm::CallInst* made = builder_.CreateCall(function, operands);
    if (llvm::isa<llvm::FPMathOperator>(made)) made->copyFastMathFlags(&call);
    made->copyMetadata(call, {llvm::LLVMContext::MD_fpmath});
    result.push_back(made);
  }
  setParts(call, std::move(result));
  return true;
}

// A function that comes in vector forms, in pieces as wide as the widest that fits.
bool VectorBody::emitVariant(llvm::CallBase& call) {
  auto* direct = llvm::dyn_cast<llvm::CallInst>(&call);
  if (!direct || call.getType()->isVoidTy() || call.getType()->isVectorTy()) return false;
  llvm::Function* best = nullptr;
  unsigned width = 0;
  for (const llvm::VFInfo& info : llvm::VFDatabase::getMappings(*direct)) {
    const unsigned lanes = info.Shape.VF.getFixedValue();
    const bool plain = llvm::all_of(info.Shape.Parameters, [](const llvm::VFParameter& parameter) {
      return parameter.ParamKind == llvm::VFParamKind::Vector;
    });
    if (!plain || lanes > options_.width || options_.width % lanes != 0 || lanes <= width) continue;
    best = lane_.getParent()->getFunction(info.VectorName);
    width = best ? lanes : width;
  }
  if (!best) return false;
  llvm::SmallVector<Value*> results;
  for (unsigned begin = 0; begin < options_.width; begin += width) {
    llvm::SmallVector<Value*> operands;
    for (Value* argument : call.args()) {
      Value* all = wide(argument);
      operands.push_back(
          width == options_.width
              ? all
              : builder_.CreateShuffleVector(all, llvm::createSequentialMask(begin, width, 0)));
    }
    llvm::CallInst* made = builder_.CreateCall(best, operands);
    if (llvm::isa<llvm::FPMathOperator>(made)) made->copyFastMathFlags(&call);
    results.push_back(made);
  }
  setParts(call, {llvm::concatenateVectors(builder_, results)});
  return true;
}

}  // namespace weft::compiler
