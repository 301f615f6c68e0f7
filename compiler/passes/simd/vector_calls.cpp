#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/number_parts.h"
#include "compiler/passes/pixel_calls.h"
#include "compiler/passes/simd/table_loads.h"
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
      if (const llvm::Function* part = calledNumberPart(call)) {
        llvm::SmallVector<Value*, 3> arguments;
        for (Value* argument : call.args()) arguments.push_back(wide(argument));
        if (takesArgument(*part)) arguments[0] = ofRunning(arguments[0]);
        return setParts(call, {emitNumberPart(builder_, *part, arguments)});
      }
      if (isFromTable(call))
        return setParts(call, {takeFromTable(builder_, call, wide(call.getArgOperand(1)))});
      if (isPixelCall(call) ? !emitPixels(call) : !emitVariant(call)) emitSerial(call);
      return;
    default:
      if (!emitIntrinsic(call)) emitSerial(call);
      return;
  }
}

void VectorBody::emitMark(llvm::Instruction& call, LaneMark mark) {
  Value* number = call.getOperand(0);
  if (mark == LaneMark::least || mark == LaneMark::greatest) {
    const bool least = mark == LaneMark::least;
    const unsigned bits = number->getType()->getIntegerBitWidth();
    Value* all = wide(number);
    if (mask_)
      all = builder_.CreateSelect(
          mask_, all,
          llvm::ConstantInt::get(all->getType(), least ? llvm::APInt::getSignedMaxValue(bits)
                                                       : llvm::APInt::getSignedMinValue(bits)));
    return setScalar(call, least ? builder_.CreateIntMinReduce(all, /*IsSigned=*/true)
                                 : builder_.CreateIntMaxReduce(all, /*IsSigned=*/true));
  }
  const bool same = mark == LaneMark::are_same || mark == LaneMark::first;
  const Sequence lanes = sequence(number, same ? 0 : 1);
  const bool asks = mark == LaneMark::are_same || mark == LaneMark::are_neighbours;
  setScalar(call, asks ? lanes.follow : lanes.first);
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

// Lanes that do not run ask for the function of one: what they happen to have may take long, as
// rare arguments do, and results that are denormal.
Value* VectorBody::ofRunning(Value* argument) {
  if (!mask_ || llvm::getSplatValue(argument)) return argument;
  llvm::Type* type = argument->getType();
  llvm::Constant* one =
      type->isFPOrFPVectorTy() ? llvm::ConstantFP::get(type, 1) : llvm::ConstantInt::get(type, 1);
  return builder_.CreateSelect(mask_, argument, one);
}

// A function that comes in vector forms, for each element of the source's vectors.
bool VectorBody::emitVariant(llvm::CallBase& call) {
  const VectorForm form = widestForm(call, options_.width);
  if (!form.function) return false;
  llvm::SmallVector<Parts, 3> arguments;
  for (Value* argument : call.args()) arguments.push_back(parts(argument));
  Parts result;
  for (unsigned part = 0; part < partCount(call.getType()); ++part) {
    llvm::SmallVector<Value*> operands;
    for (const Parts& argument : arguments) operands.push_back(argument[part]);
    // What fills a vector up to the length of a function's repeats an element.
    const auto* before = llvm::find_if(result, [&](Value* const& other) {
      return llvm::all_of(llvm::zip_equal(arguments, operands), [&](const auto& pair) {
        return std::get<0>(pair)[static_cast<size_t>(&other - result.begin())] == std::get<1>(pair);
      });
    });
    if (before != result.end()) {
      result.push_back(*before);
      continue;
    }
    for (Value*& operand : operands) operand = ofRunning(operand);
    result.push_back(callForm(form, call, operands));
  }
  setParts(call, std::move(result));
  return true;
}

// In pieces as wide as the form is.
Value* VectorBody::callForm(const VectorForm& form, const llvm::CallBase& call,
                            llvm::ArrayRef<Value*> arguments) {
  llvm::SmallVector<Value*> results;
  for (unsigned begin = 0; begin < options_.width; begin += form.lanes) {
    llvm::SmallVector<Value*> operands;
    for (Value* all : arguments)
      operands.push_back(form.lanes == options_.width
                             ? all
                             : builder_.CreateShuffleVector(
                                   all, llvm::createSequentialMask(begin, form.lanes, 0)));
    llvm::CallInst* made = builder_.CreateCall(form.function, operands);
    if (llvm::isa<llvm::FPMathOperator>(made)) made->copyFastMathFlags(&call);
    results.push_back(made);
  }
  return llvm::concatenateVectors(builder_, results);
}

// A read or write of pixels, in pieces as wide as there are functions for. Lanes of different
// images go one by one.
bool VectorBody::emitPixels(llvm::CallBase& call) {
  const unsigned width = std::min(options_.pixel_lanes, options_.width);
  const PixelCall pixels(call);
  const auto isUniform = [&](Value* value) { return !value || shapes_.isUniform(value); };
  if (width == 0 || !isUniform(pixels.image) || !isUniform(pixels.sampler)) return false;
  const auto scalarOf = [&](Value* value) { return value ? scalar(value) : nullptr; };
  PixelCall made = pixels;
  made.image = scalarOf(pixels.image);
  made.sampler = scalarOf(pixels.sampler);
  const Parts colour = pixels.colour ? parts(pixels.colour) : Parts();
  Value* running = nullptr;
  if (mask_) running = builder_.CreateBitCast(mask_, builder_.getIntNTy(options_.width));
  llvm::AllocaInst* result = nullptr;
  llvm::SmallVector<llvm::SmallVector<Value*>, 4> results(4);
  auto* const type =
      pixels.colour ? nullptr : llvm::FixedVectorType::get(partType(call.getType(), 0), width);
  if (type) {
    llvm::IRBuilder<> variables(entry_, entry_->begin());
    result = variables.CreateAlloca(llvm::ArrayType::get(type, 4), nullptr, "colour");
  }
  for (unsigned begin = 0; begin < options_.width; begin += width) {
    const auto piece = [&](Value* all) {
      return width == options_.width
                 ? all
                 : builder_.CreateShuffleVector(all, llvm::createSequentialMask(begin, width, 0));
    };
    llvm::SmallVector<Value*, 4> places, colours;
    for (Value* const part : pixels.coordinate) places.push_back(piece(wide(part)));
    for (Value* const part : colour) colours.push_back(piece(part));
    Value* lanes = builder_.getInt32(llvm::maskTrailingOnes<uint32_t>(width));
    if (running)
      lanes = builder_.CreateAnd(
          builder_.CreateZExtOrTrunc(builder_.CreateLShr(running, begin), builder_.getInt32Ty()),
          lanes);
    callForLanes(builder_, call, made, lanes, result, places, colours);
    for (unsigned i = 0; type && i < 4; ++i)
      results[i].push_back(builder_.CreateLoad(
          type, builder_.CreateConstInBoundsGEP2_64(result->getAllocatedType(), result, 0, i)));
  }
  if (!type) return true;
  Parts all;
  for (const auto& pieces : results) all.push_back(llvm::concatenateVectors(builder_, pieces));
  setParts(call, std::move(all));
  return true;
}

}  // namespace weft::compiler
