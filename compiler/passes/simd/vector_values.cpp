#include <numeric>

#include <llvm/Analysis/VectorUtils.h>

#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {

using llvm::Constant;
using llvm::Instruction;
using llvm::Value;

unsigned partCount(llvm::Type* type) {
  const auto simple = [](llvm::Type* t) {
    return t->isPointerTy() || t->isHalfTy() || t->isFloatTy() || t->isDoubleTy() ||
           (t->isIntegerTy() && t->getIntegerBitWidth() <= 64);
  };
  if (simple(type)) return 1;
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return simple(vector->getElementType()) ? vector->getNumElements() : 0;
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type))
    return llvm::all_of(record->elements(), simple) ? record->getNumElements() : 0;
  return 0;
}

llvm::Type* partType(llvm::Type* type, unsigned part) {
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) return record->getElementType(part);
  return type->getScalarType();
}

// The value itself where it is the same in all lanes; where it is linear, that of the first lane.
Value* VectorBody::scalar(Value* value) {
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(value))
    return function_->getArg(argument->getArgNo());
  if (!llvm::isa<Instruction>(value)) return value;
  Value* found = scalars_.lookup(value);
  assert(found && "no scalar form");
  return found;
}

Value* VectorBody::iota(llvm::Type* type, int64_t stride) {
  llvm::SmallVector<Constant*> steps;
  for (unsigned i = 0; i < options_.width; ++i)
    steps.push_back(llvm::ConstantInt::get(
        type, static_cast<uint64_t>(stride) * i &
                  llvm::maskTrailingOnes<uint64_t>(type->getIntegerBitWidth())));
  return llvm::ConstantVector::get(steps);
}

Value* VectorBody::linearVector(Value* base, int64_t stride) {
  if (base->getType()->isPointerTy())
    return builder_.CreateGEP(builder_.getInt8Ty(), base, iota(builder_.getInt64Ty(), stride));
  Value* start = builder_.CreateVectorSplat(options_.width, base);
  return builder_.CreateAdd(start, iota(base->getType(), stride));
}

VectorBody::Parts VectorBody::parts(Value* value) {
  if (auto found = wides_.find(value); found != wides_.end()) return found->second;
  const LaneShape shape = shapes_.of(value);
  Value* one = scalar(value);
  if (shape.kind == LaneShape::linear) return {linearVector(one, shape.stride)};
  Parts result;
  llvm::Type* type = value->getType();
  for (unsigned i = 0; i < partCount(type); ++i) {
    Value* part = type->isStructTy()   ? builder_.CreateExtractValue(one, i)
                  : type->isVectorTy() ? builder_.CreateExtractElement(one, i)
                                       : one;
    result.push_back(builder_.CreateVectorSplat(options_.width, part));
  }
  return result;
}

// The first lane's value with more bits, computed with more bits: it may not fit in its own where
// that lane is not running.
Value* VectorBody::widened(Value* value, llvm::Type* type, bool is_signed) {
  auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (shapes_.isUniform(value) || !operation)
    return is_signed ? builder_.CreateSExt(scalar(value), type)
                     : builder_.CreateZExt(scalar(value), type);
  Value* left = widened(operation->getOperand(0), type, is_signed);
  // A shift's distance is not negative, whatever the shifted number is.
  Value* right = operation->getOpcode() == Instruction::Shl
                     ? widened(operation->getOperand(1), type, false)
                     : widened(operation->getOperand(1), type, is_signed);
  if (isDisjointOr(*operation)) return builder_.CreateAdd(left, right);
  return builder_.CreateBinOp(operation->getOpcode(), left, right);
}

// Parts of all lanes, lane after lane: x0 y0 x1 y1 ...
Value* VectorBody::interleave(const Parts& parts) {
  if (parts.size() == 1) return parts.front();
  const auto count = static_cast<unsigned>(parts.size());
  Value* all = llvm::concatenateVectors(builder_, parts);
  return builder_.CreateShuffleVector(all, llvm::createInterleaveMask(options_.width, count));
}

VectorBody::Parts VectorBody::deinterleave(Value* all, unsigned count) {
  if (count == 1) return {all};
  Parts result;
  for (unsigned i = 0; i < count; ++i)
    result.push_back(
        builder_.CreateShuffleVector(all, llvm::createStrideMask(i, count, options_.width)));
  return result;
}

// The element of the last lane that runs; there must be one.
Value* VectorBody::lastLane(Value* vector) {
  if (!mask_) return builder_.CreateExtractElement(vector, options_.width - 1);
  llvm::Type* bits = builder_.getIntNTy(options_.width);
  Value* zeros = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::ctlz, builder_.CreateBitCast(mask_, bits), builder_.getTrue());
  Value* last = builder_.CreateSub(llvm::ConstantInt::get(bits, options_.width - 1), zeros);
  return builder_.CreateExtractElement(vector, last);
}

}  // namespace weft::compiler
