#include <numeric>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include "compiler/passes/simd/lane_arrays.h"
#include "compiler/passes/simd/lane_marks.h"
#include "compiler/passes/simd/upper_halves.h"
#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// Those of up to 32 bits; by constants there are faster ways.
bool dividesAsFloats(const Instruction& instruction) {
  return instruction.isIntDivRem() && instruction.getType()->getScalarSizeInBits() <= 32 &&
         !llvm::isa<llvm::Constant>(instruction.getOperand(1));
}

void VectorBody::emit(Instruction& instruction) {
  if (const auto mark = laneMark(instruction)) return emitMark(instruction, *mark);
  if (const auto exchange = exchangeOf(instruction))
    return emitExchange(llvm::cast<llvm::CallInst>(instruction), *exchange);
  if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
    return emitVariable(*variable);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return emitStore(*store);
  if (llvm::isa<llvm::FenceInst>(instruction)) {
    builder_.Insert(instruction.clone());
    return;
  }
  if (instruction.getType()->isVoidTy()) return emitCall(llvm::cast<llvm::CallBase>(instruction));
  switch (shapes_.of(&instruction).kind) {
    case LaneShape::uniform:
      // What is the same in all lanes may still be made of linear parts.
      return emitScalar(instruction, llvm::all_of(instruction.operands(), [&](Value* operand) {
                          return shapes_.isUniform(operand);
                        }));
    case LaneShape::linear:
      return emitScalar(instruction, false);
    default:
      return emitWide(instruction);
  }
}

// For the first lane. It need not be running, so what a linear value is made from may overflow
// there.
void VectorBody::emitScalar(Instruction& instruction, bool keep_flags) {
  if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(instruction) && !keep_flags) {
    const bool is_signed = llvm::isa<llvm::SExtInst>(instruction) || instruction.hasNonNeg();
    Value* value = widened(instruction.getOperand(0), instruction.getType(), is_signed);
    return setScalar(instruction, value);
  }
  Instruction* copy = instruction.clone();
  for (llvm::Use& operand : copy->operands())
    if (!llvm::isa<BasicBlock, llvm::MetadataAsValue>(operand.get()))
      operand.set(scalar(operand.get()));
  if (!keep_flags) copy->dropPoisonGeneratingFlags();
  // A sum, where the first lane runs.
  if (isDisjointOr(instruction) && !keep_flags) {
    Value* sum =
        builder_.CreateAdd(copy->getOperand(0), copy->getOperand(1), instruction.getName());
    copy->deleteValue();
    return setScalar(instruction, sum);
  }
  copy->setMetadata(llvm::LLVMContext::MD_access_group, nullptr);
  setScalar(instruction, builder_.Insert(copy, instruction.getName()));
}

// A variable of every lane, one behind the other, unless it already is that of all.
void VectorBody::emitVariable(llvm::AllocaInst& variable) {
  llvm::IRBuilder<> builder(entry_, entry_->begin());
  llvm::Type* type = variable.getAllocatedType();
  if (!isInterleaved(variable)) type = llvm::ArrayType::get(type, options_.width);
  llvm::AllocaInst* all = builder.CreateAlloca(type, nullptr, variable.getName());
  all->setAlignment(variable.getAlign());
  setScalar(variable, all);
}

void VectorBody::emitWide(Instruction& instruction) {
  if (leadsToUpperHalf(instruction)) return;
  if (const auto half = upperHalf(instruction))
    return setParts(instruction, {makeUpperHalf(builder_, *half, wide(half->left.value),
                                                wide(half->right.value))});
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return emitLoad(*load);
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) return emitCall(*call);
  if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
    return emitElementAddress(*element);
  if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
      cast && partCount(cast->getSrcTy()) != partCount(cast->getDestTy()))
    return setParts(instruction, regroup(*cast));
  const bool by_part = llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst,
                                 llvm::CmpInst, llvm::SelectInst, llvm::FreezeInst>(instruction) &&
                       partCount(instruction.getType()) != 0;
  if (!by_part) {
    if (Parts found = elements(instruction); !found.empty())
      return setParts(instruction, std::move(found));
    return emitSerial(instruction);
  }
  llvm::SmallVector<Parts, 3> operands;
  for (Value* operand : instruction.operands()) operands.push_back(parts(operand));
  Parts result;
  for (unsigned part = 0; part < partCount(instruction.getType()); ++part)
    result.push_back(widePart(instruction, operands, part));
  setParts(instruction, std::move(result));
}

Value* VectorBody::widePart(Instruction& instruction, llvm::ArrayRef<Parts> operands,
                            unsigned part) {
  const auto operand = [&](unsigned i) {
    return operands[i].size() == 1 ? operands[i].front() : operands[i][part];
  };
  Value* result = nullptr;
  if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    if (dividesAsFloats(instruction)) return divide(instruction, operand(0), part);
    Value* right = operand(1);
    if (binary->isIntDivRem()) right = divisor(instruction, right);
    result = builder_.CreateBinOp(binary->getOpcode(), operand(0), right);
  } else if (auto* unary = llvm::dyn_cast<llvm::UnaryOperator>(&instruction)) {
    result = builder_.CreateUnOp(unary->getOpcode(), operand(0));
  } else if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    result = builder_.CreateCast(cast->getOpcode(), operand(0),
                                 vectorOf(partType(cast->getDestTy(), part)));
  } else if (auto* compare = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
    result = builder_.CreateCmp(compare->getPredicate(), operand(0), operand(1));
  } else if (llvm::isa<llvm::SelectInst>(instruction)) {
    result = builder_.CreateSelect(operand(0), operand(1), operand(2));
  } else {
    result = builder_.CreateFreeze(operand(0));
  }
  if (auto* made = llvm::dyn_cast<Instruction>(result); made && made != operand(0)) {
    made->copyIRFlags(&instruction);
    made->copyMetadata(instruction, {llvm::LLVMContext::MD_fpmath});
  }
  return result;
}

// Integers divide exactly as floating-point numbers of twice their bits and more: the quotient is
// farther from the next whole number than rounding moves it. By what is the same for all lanes: as
// a product with its reciprocal, where half of one more keeps exact quotients from being rounded
// down. What has no quotient (division by zero, lanes that do not run) gets any.
Value* VectorBody::divide(Instruction& instruction, Value* left, unsigned part) {
  const unsigned opcode = instruction.getOpcode();
  const bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  const bool small = left->getType()->getScalarSizeInBits() <= 16;
  llvm::Type* type = vectorOf(small ? builder_.getFloatTy() : builder_.getDoubleTy());
  const auto real = [&](Value* value) {
    return is_signed ? builder_.CreateSIToFP(value, type) : builder_.CreateUIToFP(value, type);
  };
  const auto guarded = [&](Value* same) {
    Value* one = scalar(same);
    if (one->getType()->isVectorTy()) one = builder_.CreateExtractElement(one, part);
    Value* is_zero = builder_.CreateICmpEQ(one, llvm::ConstantInt::get(one->getType(), 0));
    one = builder_.CreateSelect(is_zero, llvm::ConstantInt::get(one->getType(), 1), one);
    return builder_.CreateVectorSplat(options_.width, one);
  };
  Value* divisor = instruction.getOperand(1);
  Value* const same = uniformDivisor(instruction, shapes_);
  const Parts all = same && same != divisor ? Parts{guarded(same)} : parts(divisor);
  Value* right = all.size() == 1 ? all.front() : all[part];
  Value *x = real(left), *y = real(right), *quotient = nullptr;
  if (same) {
    Value* half = llvm::ConstantFP::get(type, 0.5);
    if (is_signed) half = builder_.CreateCopySign(half, x);
    Value* reciprocal = builder_.CreateFDiv(llvm::ConstantFP::get(type, 1.0), y);
    quotient = builder_.CreateFMul(builder_.CreateFAdd(x, half), reciprocal);
  } else {
    quotient = builder_.CreateFDiv(x, y);
  }
  quotient = is_signed ? builder_.CreateFPToSI(quotient, left->getType())
                       : builder_.CreateFPToUI(quotient, left->getType());
  quotient = builder_.CreateFreeze(quotient);
  if (opcode == Instruction::SDiv || opcode == Instruction::UDiv) return quotient;
  return builder_.CreateSub(left, builder_.CreateMul(quotient, builder_.CreateFreeze(right)));
}

// Lanes that do not run must not divide by zero, nor the least number by minus one.
Value* VectorBody::divisor(Instruction& instruction, Value* value) {
  if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
      !mask_ || (number && !number->isZero() && !number->isMinusOne()))
    return value;
  return builder_.CreateSelect(mask_, value, llvm::ConstantInt::get(value->getType(), 1));
}

// Elements of another size: through the bytes of all lanes in a row.
VectorBody::Parts VectorBody::regroup(llvm::CastInst& cast) {
  const unsigned count = partCount(cast.getDestTy());
  Value* all = interleave(parts(cast.getOperand(0)));
  auto* type = llvm::FixedVectorType::get(partType(cast.getDestTy(), 0), options_.width * count);
  return deinterleave(builder_.CreateBitCast(all, type), count);
}

// Instructions that only choose among elements; empty for all others.
VectorBody::Parts VectorBody::elements(Instruction& instruction) {
  if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
    Parts all = parts(shuffle->getOperand(0)), result;
    llvm::append_range(all, parts(shuffle->getOperand(1)));
    Value* none = llvm::PoisonValue::get(all.front()->getType());
    for (int from : shuffle->getShuffleMask())
      result.push_back(from < 0 ? none : all[static_cast<unsigned>(from)]);
    return result;
  }
  if (auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    if (extract->getNumIndices() != 1) return {};
    return {parts(extract->getAggregateOperand())[extract->getIndices()[0]]};
  }
  const bool takes = llvm::isa<llvm::ExtractElementInst>(instruction);
  if (!takes && !llvm::isa<llvm::InsertElementInst>(instruction)) return {};
  Parts all = parts(instruction.getOperand(0));
  Value* place = instruction.getOperand(takes ? 1 : 2);
  Value* value = takes ? nullptr : wide(instruction.getOperand(1));
  if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(place)) {
    if (number->getZExtValue() >= all.size())
      return {llvm::PoisonValue::get(all.front()->getType())};
    Value*& element = all[number->getZExtValue()];
    if (takes) return {element};
    element = value;
    return all;
  }
  const bool uniform = shapes_.isUniform(place);
  Value* index = uniform ? scalar(place) : wide(place);
  Value* found = all.front();
  for (unsigned i = 0; i < all.size(); ++i) {
    Value* here = builder_.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), i));
    if (takes)
      found = builder_.CreateSelect(here, all[i], found);
    else
      all[i] = builder_.CreateSelect(here, value, all[i]);
  }
  return takes ? Parts{found} : all;
}

// The base stays scalar where it can: that is how gathers find their addressing mode.
void VectorBody::emitElementAddress(llvm::GetElementPtrInst& element) {
  llvm::SmallVector<Value*> indices;
  for (Value* index : element.indices())
    indices.push_back(shapes_.isUniform(index) ? scalar(index) : wide(index));
  Value* pointer = element.getPointerOperand();
  Value* base = shapes_.isUniform(pointer) ? scalar(pointer) : wide(pointer);
  Value* address = builder_.CreateGEP(element.getSourceElementType(), base, indices);
  setParts(element, {address});
}

// The value in one lane, given as a number.
Value* VectorBody::laneOf(Value* value, Value* lane) {
  if (llvm::isa<llvm::MetadataAsValue>(value)) return value;
  if (isScalar(value)) return scalar(value);
  Parts all = parts(value);
  llvm::Type* type = value->getType();
  if (!type->isVectorTy() && !type->isStructTy())
    return builder_.CreateExtractElement(all.front(), lane);
  Value* result = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < all.size(); ++i) {
    Value* part = builder_.CreateExtractElement(all[i], lane);
    result = type->isVectorTy() ? builder_.CreateInsertElement(result, part, i)
                                : builder_.CreateInsertValue(result, part, i);
  }
  return result;
}

// The lane that alone runs, if it is known which.
std::optional<unsigned> VectorBody::onlyLane() const {
  auto* known = llvm::dyn_cast_or_null<llvm::Constant>(mask_);
  std::optional<unsigned> lane;
  for (unsigned i = 0; known && i < options_.width; ++i) {
    const llvm::Constant* runs = known->getAggregateElement(i);
    if (!runs || runs->isNullValue()) continue;
    if (lane || !runs->isOneValue()) return std::nullopt;
    lane = i;
  }
  return lane;
}

void VectorBody::emitForLane(Instruction& instruction, unsigned lane) {
  Value* number = builder_.getInt64(lane);
  Instruction* copy = instruction.clone();
  for (llvm::Use& operand : copy->operands()) operand.set(laneOf(operand.get(), number));
  copy->setMetadata(llvm::LLVMContext::MD_access_group, nullptr);
  builder_.Insert(copy);
  llvm::Type* type = instruction.getType();
  if (type->isVoidTy()) return;
  Parts result;
  for (unsigned i = 0; i < partCount(type); ++i) {
    Value* part = type->isVectorTy()   ? builder_.CreateExtractElement(copy, i)
                  : type->isStructTy() ? builder_.CreateExtractValue(copy, i)
                                       : copy;
    result.push_back(builder_.CreateVectorSplat(options_.width, part));
  }
  setParts(instruction, std::move(result));
}

// Does the instruction for one lane after the other, as it stands.
void VectorBody::emitSerial(Instruction& instruction) {
  if (const auto lane = onlyLane()) return emitForLane(instruction, *lane);
  if (unitesLanes(instruction, shapes_))
    return emitUnited(llvm::cast<llvm::AtomicRMWInst>(instruction));
  if (isUpdate(instruction) && !mask_) return emitUpdates(instruction);
  llvm::LLVMContext& context = lane_.getContext();
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* loop = BasicBlock::Create(context, "serial", function_);
  BasicBlock* run = BasicBlock::Create(context, "run", function_);
  BasicBlock* next = BasicBlock::Create(context, "next", function_);
  BasicBlock* after = BasicBlock::Create(context, "after", function_);
  llvm::Type* type = instruction.getType();
  const unsigned count = type->isVoidTy() ? 0 : partCount(type);
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* lane = builder_.CreatePHI(builder_.getInt64Ty(), 2, "lane");
  lane->addIncoming(builder_.getInt64(0), before);
  llvm::SmallVector<llvm::PHINode*> old, merged;
  for (unsigned i = 0; i < count; ++i) {
    old.push_back(builder_.CreatePHI(vectorOf(partType(type, i)), 2));
    old.back()->addIncoming(llvm::PoisonValue::get(old.back()->getType()), before);
  }
  if (mask_)
    builder_.CreateCondBr(builder_.CreateExtractElement(mask_, lane), run, next);
  else
    builder_.CreateBr(run);
  builder_.SetInsertPoint(run);
  Instruction* copy = instruction.clone();
  for (llvm::Use& operand : copy->operands()) operand.set(laneOf(operand.get(), lane));
  builder_.Insert(copy);
  Parts updated;
  for (unsigned i = 0; i < count; ++i) {
    Value* part = type->isVectorTy()   ? builder_.CreateExtractElement(copy, i)
                  : type->isStructTy() ? builder_.CreateExtractValue(copy, i)
                                       : copy;
    updated.push_back(builder_.CreateInsertElement(old[i], part, lane));
  }
  BasicBlock* ran = builder_.GetInsertBlock();
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
  Parts result;
  for (unsigned i = 0; i < count; ++i) {
    llvm::PHINode* phi = builder_.CreatePHI(old[i]->getType(), 2);
    phi->addIncoming(updated[i], ran);
    if (mask_) phi->addIncoming(old[i], loop);
    old[i]->addIncoming(phi, next);
    result.push_back(phi);
  }
  Value* following = builder_.CreateAdd(lane, builder_.getInt64(1));
  lane->addIncoming(following, next);
  builder_.CreateCondBr(builder_.CreateICmpULT(following, builder_.getInt64(options_.width)), loop,
                        after);
  builder_.SetInsertPoint(after);
  if (count) setParts(instruction, std::move(result));
}

}  // namespace weft::compiler
