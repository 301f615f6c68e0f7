// Instructions that compute.
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

#include "compiler/gpu/spirv/function.h"

namespace weft::compiler::emit {
namespace {

using llvm::CmpInst;
using llvm::Instruction;
using spv::Op;

struct OpRow {
  unsigned opcode;
  Op op;
};
constexpr OpRow binaries[] = {
    {Instruction::Add, Op::OpIAdd},
    {Instruction::Sub, Op::OpISub},
    {Instruction::Mul, Op::OpIMul},
    {Instruction::UDiv, Op::OpUDiv},
    {Instruction::SDiv, Op::OpSDiv},
    {Instruction::URem, Op::OpUMod},
    {Instruction::SRem, Op::OpSRem},
    {Instruction::FAdd, Op::OpFAdd},
    {Instruction::FSub, Op::OpFSub},
    {Instruction::FMul, Op::OpFMul},
    {Instruction::FDiv, Op::OpFDiv},
    {Instruction::FRem, Op::OpFRem},
    {Instruction::Shl, Op::OpShiftLeftLogical},
    {Instruction::LShr, Op::OpShiftRightLogical},
    {Instruction::AShr, Op::OpShiftRightArithmetic},
    {Instruction::And, Op::OpBitwiseAnd},
    {Instruction::Or, Op::OpBitwiseOr},
    {Instruction::Xor, Op::OpBitwiseXor},
};
// Of one bit, where adding is the exclusive or.
constexpr OpRow booleans_[] = {
    {Instruction::And, Op::OpLogicalAnd},      {Instruction::Or, Op::OpLogicalOr},
    {Instruction::Xor, Op::OpLogicalNotEqual}, {Instruction::Add, Op::OpLogicalNotEqual},
    {Instruction::Sub, Op::OpLogicalNotEqual}, {Instruction::Mul, Op::OpLogicalAnd},
};
constexpr OpRow casts[] = {
    {Instruction::Trunc, Op::OpUConvert},         {Instruction::ZExt, Op::OpUConvert},
    {Instruction::SExt, Op::OpSConvert},          {Instruction::FPToUI, Op::OpConvertFToU},
    {Instruction::FPToSI, Op::OpConvertFToS},     {Instruction::UIToFP, Op::OpConvertUToF},
    {Instruction::SIToFP, Op::OpConvertSToF},     {Instruction::FPTrunc, Op::OpFConvert},
    {Instruction::FPExt, Op::OpFConvert},         {Instruction::PtrToInt, Op::OpConvertPtrToU},
    {Instruction::IntToPtr, Op::OpConvertUToPtr}, {Instruction::BitCast, Op::OpBitcast},
};
constexpr OpRow comparisons[] = {
    {CmpInst::ICMP_EQ, Op::OpIEqual},
    {CmpInst::ICMP_NE, Op::OpINotEqual},
    {CmpInst::ICMP_UGT, Op::OpUGreaterThan},
    {CmpInst::ICMP_UGE, Op::OpUGreaterThanEqual},
    {CmpInst::ICMP_ULT, Op::OpULessThan},
    {CmpInst::ICMP_ULE, Op::OpULessThanEqual},
    {CmpInst::ICMP_SGT, Op::OpSGreaterThan},
    {CmpInst::ICMP_SGE, Op::OpSGreaterThanEqual},
    {CmpInst::ICMP_SLT, Op::OpSLessThan},
    {CmpInst::ICMP_SLE, Op::OpSLessThanEqual},
    {CmpInst::FCMP_OEQ, Op::OpFOrdEqual},
    {CmpInst::FCMP_OGT, Op::OpFOrdGreaterThan},
    {CmpInst::FCMP_OGE, Op::OpFOrdGreaterThanEqual},
    {CmpInst::FCMP_OLT, Op::OpFOrdLessThan},
    {CmpInst::FCMP_OLE, Op::OpFOrdLessThanEqual},
    {CmpInst::FCMP_ONE, Op::OpFOrdNotEqual},
    {CmpInst::FCMP_ORD, Op::OpOrdered},
    {CmpInst::FCMP_UNO, Op::OpUnordered},
    {CmpInst::FCMP_UEQ, Op::OpFUnordEqual},
    {CmpInst::FCMP_UGT, Op::OpFUnordGreaterThan},
    {CmpInst::FCMP_UGE, Op::OpFUnordGreaterThanEqual},
    {CmpInst::FCMP_ULT, Op::OpFUnordLessThan},
    {CmpInst::FCMP_ULE, Op::OpFUnordLessThanEqual},
    {CmpInst::FCMP_UNE, Op::OpFUnordNotEqual},
};
constexpr OpRow boolean_comparisons[] = {
    {CmpInst::ICMP_EQ, Op::OpLogicalEqual},
    {CmpInst::ICMP_NE, Op::OpLogicalNotEqual},
};

template <class Table>
Op find(const Table& table, unsigned opcode, const Instruction& instruction) {
  const auto* const row =
      llvm::find_if(table, [&](const OpRow& each) { return each.opcode == opcode; });
  if (row == std::end(table)) refuse("an instruction", instruction);
  return row->op;
}

bool isBoolean(const llvm::Value& value) { return value.getType()->isIntOrIntVectorTy(1); }

}  // namespace

void FunctionWriter::binary(const Instruction& instruction) {
  const unsigned opcode = instruction.getOpcode();
  const Op op = isBoolean(instruction) ? find(booleans_, opcode, instruction)
                                       : find(binaries, opcode, instruction);
  define(instruction, op, {id(instruction.getOperand(0)), id(instruction.getOperand(1))});
}

void FunctionWriter::negate(const Instruction& instruction) {
  define(instruction, Op::OpFNegate, {id(instruction.getOperand(0))});
}

void FunctionWriter::fromBoolean(const Instruction& instruction) {
  llvm::Type* type = instruction.getType();
  const bool is_real = type->isFPOrFPVectorTy();
  const bool is_signed = instruction.getOpcode() == Instruction::SExt ||
                         instruction.getOpcode() == Instruction::SIToFP;
  llvm::Constant* yes = nullptr;
  if (is_real)
    yes = llvm::ConstantFP::get(type, is_signed ? -1.0 : 1.0);
  else
    yes = is_signed ? llvm::Constant::getAllOnesValue(type) : llvm::ConstantInt::get(type, 1);
  define(instruction, Op::OpSelect,
         {id(instruction.getOperand(0)), types_.constant(yes),
          types_.constant(llvm::Constant::getNullValue(type))});
}

void FunctionWriter::toBoolean(const Instruction& instruction) {
  const llvm::Value& from = *instruction.getOperand(0);
  if (instruction.getOpcode() != Instruction::Trunc) refuse("an instruction", instruction);
  llvm::Type* type = from.getType();
  const Id one = types_.constant(llvm::ConstantInt::get(type, 1));
  const Id bit = result(Op::OpBitwiseAnd, types_.type(type), {id(&from), one});
  define(instruction, Op::OpINotEqual, {bit, types_.constant(llvm::Constant::getNullValue(type))});
}

void FunctionWriter::cast(const Instruction& instruction) {
  const llvm::Value& from = *instruction.getOperand(0);
  if (instruction.getOpcode() == Instruction::AddrSpaceCast) return changeSpace(instruction);
  if (isBoolean(from)) {
    if (instruction.getOpcode() == Instruction::BitCast) refuse("an instruction", instruction);
    return fromBoolean(instruction);
  }
  if (isBoolean(instruction)) return toBoolean(instruction);
  const Op op = find(casts, instruction.getOpcode(), instruction);
  if (op == Op::OpBitcast && from.getType() == instruction.getType())
    define(instruction, Op::OpCopyObject, {id(&from)});
  else
    define(instruction, op, {id(&from)});
}

void FunctionWriter::changeSpace(const Instruction& instruction) {
  const auto& cast = llvm::cast<llvm::AddrSpaceCastInst>(instruction);
  const llvm::Value* from = cast.getPointerOperand();
  if (cast.getDestAddressSpace() == generic_space)
    return define(instruction, Op::OpPtrCastToGeneric, {id(from)});
  Id generic = id(from);
  // A cast that would fail is still there where it is never used.
  if (cast.getSrcAddressSpace() != generic_space)
    generic = result(Op::OpPtrCastToGeneric, types_.bytes(generic_space), {generic});
  define(instruction, Op::OpGenericCastToPtr, {generic});
}

void FunctionWriter::compare(const Instruction& instruction) {
  const auto& comparison = llvm::cast<CmpInst>(instruction);
  const llvm::Value *left = comparison.getOperand(0), *right = comparison.getOperand(1);
  const CmpInst::Predicate predicate = comparison.getPredicate();
  if (predicate == CmpInst::FCMP_TRUE || predicate == CmpInst::FCMP_FALSE) {
    const bool yes = predicate == CmpInst::FCMP_TRUE;
    auto* answer = llvm::ConstantInt::getBool(instruction.getType(), yes);
    return define(instruction, Op::OpCopyObject, {types_.constant(answer)});
  }
  if (isBoolean(*left))
    return define(instruction, find(boolean_comparisons, predicate, instruction),
                  {id(left), id(right)});
  const Op op = find(comparisons, predicate, instruction);
  if (left->getType()->isPointerTy())
    return define(instruction, op, {addressOf(left), addressOf(right)});
  define(instruction, op, {id(left), id(right)});
}

// One truth for each element: before version 1.4 a vector is chosen by a vector.
Id FunctionWriter::spread(Id condition, llvm::Type* chosen) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(chosen);
  if (!vector) return condition;
  auto* truth = llvm::Type::getInt1Ty(function_.getContext());
  auto* type = llvm::FixedVectorType::get(truth, vector->getNumElements());
  const std::vector<uint32_t> copies(vector->getNumElements(), condition);
  return result(Op::OpCompositeConstruct, types_.type(type), copies);
}

void FunctionWriter::select(const Instruction& instruction) {
  const auto& choice = llvm::cast<llvm::SelectInst>(instruction);
  llvm::Type* type = choice.getType();
  Id condition = id(choice.getCondition());
  const Id yes = id(choice.getTrueValue()), no = id(choice.getFalseValue());
  if (type->isAggregateType())
    return define(instruction, Op::OpCopyObject, {selectMembers(type, condition, yes, no)});
  if (!choice.getCondition()->getType()->isVectorTy()) condition = spread(condition, type);
  define(instruction, Op::OpSelect, {condition, yes, no});
}

// Before version 1.4 structures and arrays are chosen member by member.
Id FunctionWriter::selectMembers(llvm::Type* type, Id condition, Id yes, Id no) {
  const bool is_structure = type->isStructTy();
  if (!is_structure && !type->isArrayTy())
    return result(Op::OpSelect, types_.type(type), {condition, yes, no});
  const uint64_t count = is_structure ? type->getStructNumElements() : type->getArrayNumElements();
  std::vector<uint32_t> members;
  for (uint32_t i = 0; i < count; ++i) {
    llvm::Type* member = llvm::ExtractValueInst::getIndexedType(type, i);
    const auto part = [&](Id whole) {
      return result(Op::OpCompositeExtract, types_.type(member), {whole, i});
    };
    const Id first = part(yes), second = part(no);
    members.push_back(selectMembers(member, spread(condition, member), first, second));
  }
  return result(Op::OpCompositeConstruct, types_.type(type), members);
}

void FunctionWriter::freeze(const Instruction& instruction) {
  define(instruction, Op::OpCopyObject, {id(instruction.getOperand(0))});
}

void FunctionWriter::extractElement(const Instruction& instruction) {
  const llvm::Value *vector = instruction.getOperand(0), *index = instruction.getOperand(1);
  if (const auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(index))
    define(instruction, Op::OpCompositeExtract,
           {id(vector), static_cast<uint32_t>(fixed->getZExtValue())});
  else
    define(instruction, Op::OpVectorExtractDynamic, {id(vector), id(index)});
}

void FunctionWriter::insertElement(const Instruction& instruction) {
  const llvm::Value *vector = instruction.getOperand(0), *index = instruction.getOperand(2);
  const Id element = id(instruction.getOperand(1));
  if (const auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(index))
    define(instruction, Op::OpCompositeInsert,
           {element, id(vector), static_cast<uint32_t>(fixed->getZExtValue())});
  else
    define(instruction, Op::OpVectorInsertDynamic, {id(vector), element, id(index)});
}

void FunctionWriter::shuffle(const Instruction& instruction) {
  const auto& shuffle = llvm::cast<llvm::ShuffleVectorInst>(instruction);
  std::vector<uint32_t> words{id(shuffle.getOperand(0)), id(shuffle.getOperand(1))};
  // An element that nobody cares about is all ones in both languages.
  for (const int lane : shuffle.getShuffleMask()) words.push_back(static_cast<uint32_t>(lane));
  define(instruction, Op::OpVectorShuffle, words);
}

void FunctionWriter::extractValue(const Instruction& instruction) {
  const auto& extract = llvm::cast<llvm::ExtractValueInst>(instruction);
  std::vector<uint32_t> words{id(extract.getAggregateOperand())};
  words.insert(words.end(), extract.idx_begin(), extract.idx_end());
  define(instruction, Op::OpCompositeExtract, words);
}

void FunctionWriter::insertValue(const Instruction& instruction) {
  const auto& insert = llvm::cast<llvm::InsertValueInst>(instruction);
  std::vector<uint32_t> words{id(insert.getInsertedValueOperand()),
                              id(insert.getAggregateOperand())};
  words.insert(words.end(), insert.idx_begin(), insert.idx_end());
  define(instruction, Op::OpCompositeInsert, words);
}

}  // namespace weft::compiler::emit
