// Arithmetic, conversions, comparisons and bits.
#include <llvm/IR/Intrinsics.h>

#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {
namespace {

using llvm::CmpInst;
using spv::Op;

struct BinaryRow {
  Op op;
  llvm::Instruction::BinaryOps made;
};

constexpr BinaryRow binaries[] = {
    {Op::OpIAdd, llvm::Instruction::Add},
    {Op::OpISub, llvm::Instruction::Sub},
    {Op::OpIMul, llvm::Instruction::Mul},
    {Op::OpUDiv, llvm::Instruction::UDiv},
    {Op::OpSDiv, llvm::Instruction::SDiv},
    {Op::OpUMod, llvm::Instruction::URem},
    {Op::OpSRem, llvm::Instruction::SRem},
    {Op::OpFAdd, llvm::Instruction::FAdd},
    {Op::OpFSub, llvm::Instruction::FSub},
    {Op::OpFMul, llvm::Instruction::FMul},
    {Op::OpFDiv, llvm::Instruction::FDiv},
    {Op::OpFRem, llvm::Instruction::FRem},
    {Op::OpShiftRightLogical, llvm::Instruction::LShr},
    {Op::OpShiftRightArithmetic, llvm::Instruction::AShr},
    {Op::OpShiftLeftLogical, llvm::Instruction::Shl},
    {Op::OpBitwiseOr, llvm::Instruction::Or},
    {Op::OpBitwiseXor, llvm::Instruction::Xor},
    {Op::OpBitwiseAnd, llvm::Instruction::And},
    {Op::OpLogicalOr, llvm::Instruction::Or},
    {Op::OpLogicalAnd, llvm::Instruction::And},
};

struct CompareRow {
  Op op;
  CmpInst::Predicate predicate;
};

constexpr CompareRow comparisons[] = {
    {Op::OpIEqual, CmpInst::ICMP_EQ},
    {Op::OpINotEqual, CmpInst::ICMP_NE},
    {Op::OpLogicalEqual, CmpInst::ICMP_EQ},
    {Op::OpLogicalNotEqual, CmpInst::ICMP_NE},
    {Op::OpUGreaterThan, CmpInst::ICMP_UGT},
    {Op::OpSGreaterThan, CmpInst::ICMP_SGT},
    {Op::OpUGreaterThanEqual, CmpInst::ICMP_UGE},
    {Op::OpSGreaterThanEqual, CmpInst::ICMP_SGE},
    {Op::OpULessThan, CmpInst::ICMP_ULT},
    {Op::OpSLessThan, CmpInst::ICMP_SLT},
    {Op::OpULessThanEqual, CmpInst::ICMP_ULE},
    {Op::OpSLessThanEqual, CmpInst::ICMP_SLE},
    {Op::OpFOrdEqual, CmpInst::FCMP_OEQ},
    {Op::OpFUnordEqual, CmpInst::FCMP_UEQ},
    {Op::OpFOrdNotEqual, CmpInst::FCMP_ONE},
    {Op::OpFUnordNotEqual, CmpInst::FCMP_UNE},
    {Op::OpFOrdLessThan, CmpInst::FCMP_OLT},
    {Op::OpFUnordLessThan, CmpInst::FCMP_ULT},
    {Op::OpFOrdGreaterThan, CmpInst::FCMP_OGT},
    {Op::OpFUnordGreaterThan, CmpInst::FCMP_UGT},
    {Op::OpFOrdLessThanEqual, CmpInst::FCMP_OLE},
    {Op::OpFUnordLessThanEqual, CmpInst::FCMP_ULE},
    {Op::OpFOrdGreaterThanEqual, CmpInst::FCMP_OGE},
    {Op::OpFUnordGreaterThanEqual, CmpInst::FCMP_UGE},
    {Op::OpLessOrGreater, CmpInst::FCMP_ONE},
    {Op::OpOrdered, CmpInst::FCMP_ORD},
    {Op::OpUnordered, CmpInst::FCMP_UNO},
};

struct CastRow {
  Op op;
  llvm::Instruction::CastOps made;
  // With a rounding mode or saturation it is a function of OpenCL C between these.
  Sign from, to;
};

constexpr Sign s = Sign::signed_, u = Sign::unsigned_;
constexpr CastRow casts[] = {
    {Op::OpConvertFToU, llvm::Instruction::FPToUI, s, u},
    {Op::OpConvertFToS, llvm::Instruction::FPToSI, s, s},
    {Op::OpConvertSToF, llvm::Instruction::SIToFP, s, s},
    {Op::OpConvertUToF, llvm::Instruction::UIToFP, u, s},
    {Op::OpSatConvertSToU, llvm::Instruction::Trunc, s, u},
    {Op::OpSatConvertUToS, llvm::Instruction::Trunc, u, s},
    {Op::OpUConvert, llvm::Instruction::Trunc, u, u},
    {Op::OpSConvert, llvm::Instruction::Trunc, s, s},
};

template <typename Row, size_t size>
const Row* find(const Row (&rows)[size], Op op) {
  for (const Row& row : rows)
    if (row.op == op) return &row;
  return nullptr;
}

bool isOfFloats(llvm::Instruction::BinaryOps operation) {
  switch (operation) {
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::FDiv:
    case llvm::Instruction::FRem:
      return true;
    default:
      return false;
  }
}

void checkAlike(llvm::Value* left, llvm::Value* right, bool of_floats) {
  of_floats ? checked::floats(left) : checked::integers(left);
  checked::ofType(right, left->getType());
}

std::string typeName(const llvm::Type* type, Sign sign) {
  std::string name;
  const llvm::Type* scalar = type->getScalarType();
  if (scalar->isIntegerTy()) {
    if (sign == Sign::unsigned_) name = "u";
    const unsigned bits = scalar->getIntegerBitWidth();
    name += bits == 8 ? "char" : bits == 16 ? "short" : bits == 32 ? "int" : "long";
  } else {
    name = scalar->isHalfTy() ? "half" : scalar->isFloatTy() ? "float" : "double";
  }
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    name += std::to_string(vector->getNumElements());
  return name;
}

}  // namespace

llvm::Value* FunctionReader::emitArithmetic(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (const BinaryRow* row = find(binaries, instruction.op)) {
    llvm::Value *left = value(operands.at(0)), *right = value(operands.at(1));
    // Numbers of other widths may say how far to shift.
    if (llvm::Instruction::isShift(row->made))
      right =
          builder_.CreateZExtOrTrunc(checked::shapedAs(checked::integers(right), left->getType()),
                                     checked::integers(left)->getType());
    checkAlike(left, right, isOfFloats(row->made));
    llvm::Value* made = builder_.CreateBinOp(row->made, left, right);
    const Instructions& in = module_.instructions();
    if (auto* binary = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(made);
        binary && llvm::isa<llvm::Instruction>(made)) {
      auto* wrapping = llvm::cast<llvm::Instruction>(made);
      if (in.decoration(instruction.result, spv::Decoration::NoSignedWrap))
        wrapping->setHasNoSignedWrap();
      if (in.decoration(instruction.result, spv::Decoration::NoUnsignedWrap))
        wrapping->setHasNoUnsignedWrap();
    }
    return made;
  }
  switch (instruction.op) {
    case Op::OpSNegate:
      return builder_.CreateNeg(checked::integers(value(operands.at(0))));
    case Op::OpFNegate:
      return builder_.CreateFNeg(checked::floats(value(operands.at(0))));
    case Op::OpNot:
    case Op::OpLogicalNot:
      return builder_.CreateNot(checked::integers(value(operands.at(0))));
    case Op::OpSMod:
    case Op::OpFMod:
      return emitModulo(instruction);
    case Op::OpVectorTimesScalar: {
      llvm::Value* vector = checked::vector(checked::floats(value(operands.at(0))));
      auto* type = llvm::cast<llvm::FixedVectorType>(vector->getType());
      llvm::Value* factor = checked::ofType(value(operands.at(1)), type->getElementType());
      return builder_.CreateFMul(vector,
                                 builder_.CreateVectorSplat(type->getNumElements(), factor));
    }
    case Op::OpDot:
      return emitDot(instruction);
    case Op::OpIAddCarry:
    case Op::OpISubBorrow:
    case Op::OpUMulExtended:
    case Op::OpSMulExtended:
      return emitExtended(instruction);
    default:
      break;
  }
  if (llvm::Value* made = emitRelation(instruction)) return made;
  if (llvm::Value* made = emitBits(instruction)) return made;
  return emitConversion(instruction);
}

void FunctionReader::setFastMath(const Instruction& instruction) {
  llvm::FastMathFlags flags;
  if (module_.mayContract()) flags.setAllowContract();
  const auto* mode = instruction.result ? module_.instructions().decoration(
                                              instruction.result, spv::Decoration::FPFastMathMode)
                                        : nullptr;
  if (mode) {
    constexpr uint32_t not_nan = 1, not_inf = 2, no_signed_zero = 4, reciprocal = 8, fast = 16;
    constexpr uint32_t contract = 1u << 16, reassociate = 1u << 17;  // SPV_INTEL_fp_fast_math_mode
    const uint32_t bits = mode->operands.at(0);
    if (bits & not_nan) flags.setNoNaNs();
    if (bits & not_inf) flags.setNoInfs();
    if (bits & no_signed_zero) flags.setNoSignedZeros();
    if (bits & reciprocal) flags.setAllowReciprocal();
    if (bits & contract) flags.setAllowContract();
    if (bits & reassociate) flags.setAllowReassoc();
    if (bits & fast) flags.setFast();
  }
  builder_.setFastMathFlags(flags);
}

// The remainder with the sign of the divisor.
llvm::Value* FunctionReader::emitModulo(const Instruction& instruction) {
  llvm::Value* dividend = value(instruction.operands.at(0));
  llvm::Value* divisor = value(instruction.operands.at(1));
  checkAlike(dividend, divisor, instruction.op == Op::OpFMod);
  llvm::Value* zero = llvm::Constant::getNullValue(divisor->getType());
  if (instruction.op == Op::OpSMod) {
    llvm::Value* rest = builder_.CreateSRem(dividend, divisor);
    llvm::Value* other_sign = builder_.CreateICmpSLT(builder_.CreateXor(rest, divisor), zero);
    llvm::Value* wrong = builder_.CreateAnd(other_sign, builder_.CreateICmpNE(rest, zero));
    return builder_.CreateSelect(wrong, builder_.CreateAdd(rest, divisor), rest);
  }
  llvm::Value* rest = builder_.CreateFRem(dividend, divisor);
  llvm::Value* wrong = builder_.CreateAnd(
      builder_.CreateXor(builder_.CreateFCmpOLT(rest, zero), builder_.CreateFCmpOLT(divisor, zero)),
      builder_.CreateFCmpONE(rest, zero));
  return builder_.CreateSelect(wrong, builder_.CreateFAdd(rest, divisor), rest);
}

llvm::Value* FunctionReader::emitDot(const Instruction& instruction) {
  llvm::Value *left = value(instruction.operands.at(0)), *right = value(instruction.operands.at(1));
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(left->getType());
  if (!type) throw Failure("a dot product of what are no vectors");
  checkAlike(left, right, true);
  llvm::Value* products = builder_.CreateFMul(left, right);
  llvm::Value* sum = builder_.CreateExtractElement(products, uint64_t{0});
  for (unsigned i = 1; i < type->getNumElements(); ++i)
    sum = builder_.CreateFAdd(sum, builder_.CreateExtractElement(products, i));
  return sum;
}

// Both halves of a result of twice the width.
llvm::Value* FunctionReader::emitExtended(const Instruction& instruction) {
  llvm::Value* left = value(instruction.operands.at(0));
  llvm::Value* right = value(instruction.operands.at(1));
  checkAlike(left, right, false);
  auto* result = llvm::dyn_cast<llvm::StructType>(llvmType(instruction));
  checked::demand(result && result->getNumElements() == 2 &&
                      result->getElementType(0) == left->getType() &&
                      result->getElementType(1) == left->getType(),
                  "a result that is no pair of such numbers");
  const unsigned bits = left->getType()->getScalarSizeInBits();
  llvm::Type* wide = left->getType()->getExtendedType();
  const bool is_signed = instruction.op == Op::OpSMulExtended;
  const auto widen = [&](llvm::Value* narrow) {
    return is_signed ? builder_.CreateSExt(narrow, wide) : builder_.CreateZExt(narrow, wide);
  };
  llvm::Value* whole = nullptr;
  if (instruction.op == Op::OpIAddCarry)
    whole = builder_.CreateAdd(widen(left), widen(right));
  else if (instruction.op == Op::OpISubBorrow)
    whole = builder_.CreateSub(widen(left), widen(right));
  else
    whole = builder_.CreateMul(widen(left), widen(right));
  llvm::Value* low = builder_.CreateTrunc(whole, left->getType());
  llvm::Value* high = builder_.CreateTrunc(builder_.CreateLShr(whole, bits), left->getType());
  if (instruction.op == Op::OpISubBorrow)  // the borrow is one, not all bits
    high = builder_.CreateAnd(high, llvm::ConstantInt::get(left->getType(), 1));
  llvm::Value* pair = llvm::PoisonValue::get(result);
  return builder_.CreateInsertValue(builder_.CreateInsertValue(pair, low, 0), high, 1);
}

llvm::Value* FunctionReader::emitRelation(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (const CompareRow* row = find(comparisons, instruction.op)) {
    llvm::Value *left = value(operands.at(0)), *right = value(operands.at(1));
    const bool pointers = left->getType()->isPointerTy() && CmpInst::isIntPredicate(row->predicate);
    if (pointers)
      checked::ofType(right, left->getType());
    else
      checkAlike(left, right, CmpInst::isFPPredicate(row->predicate));
    return builder_.CreateCmp(row->predicate, left, right);
  }
  switch (instruction.op) {
    case Op::OpSelect: {
      llvm::Value *yes = value(operands.at(1)), *no = value(operands.at(2));
      llvm::Value* condition = value(operands.at(0));
      if (const char* fault = llvm::SelectInst::areInvalidOperands(condition, yes, no))
        throw Failure(fault);
      return builder_.CreateSelect(condition, yes, no);
    }
    case Op::OpAny:
    case Op::OpAll: {
      // One by one: LLVM makes odd numbers of whole vectors of truths, which not every target has.
      llvm::Value* truths = checked::vector(value(operands.at(0)));
      checked::demand(truths->getType()->isIntOrIntVectorTy(1), "truth values are expected");
      const unsigned count = llvm::cast<llvm::FixedVectorType>(truths->getType())->getNumElements();
      llvm::Value* made = builder_.CreateExtractElement(truths, uint64_t{0});
      for (unsigned i = 1; i < count; ++i) {
        llvm::Value* next = builder_.CreateExtractElement(truths, i);
        made = instruction.op == Op::OpAny ? builder_.CreateOr(made, next)
                                           : builder_.CreateAnd(made, next);
      }
      return made;
    }
    default:
      return emitClassification(instruction);
  }
}

llvm::Value* FunctionReader::emitClassification(const Instruction& instruction) {
  const auto is = [&](unsigned classes) {
    llvm::Value* tested = checked::floats(value(instruction.operands.at(0)));
    return builder_.createIsFPClass(tested, classes);
  };
  switch (instruction.op) {
    case Op::OpIsNan:
      return is(llvm::fcNan);
    case Op::OpIsInf:
      return is(llvm::fcInf);
    case Op::OpIsFinite:
      return is(llvm::fcFinite);
    case Op::OpIsNormal:
      return is(llvm::fcNormal);
    case Op::OpSignBitSet: {
      llvm::Value* tested = checked::floats(value(instruction.operands.at(0)));
      llvm::Type* integer =
          tested->getType()->getWithNewBitWidth(tested->getType()->getScalarSizeInBits());
      llvm::Value* bits = builder_.CreateBitCast(tested, integer);
      return builder_.CreateICmpSLT(bits, llvm::Constant::getNullValue(integer));
    }
    default:
      return nullptr;
  }
}

llvm::Value* FunctionReader::emitBits(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  llvm::Type* type = instruction.type ? llvmType(instruction) : nullptr;
  const auto integers = [&](size_t i) {
    return checked::ofType(checked::integers(value(operands.at(i))), type);
  };
  const auto field = [&](size_t offset, size_t count) {
    const auto as_type = [&](Id id) {
      llvm::Value* number =
          builder_.CreateZExtOrTrunc(checked::integer(value(id)), type->getScalarType());
      const Type& declared = types_.at(instruction.type);
      return declared.count ? builder_.CreateVectorSplat(declared.count, number) : number;
    };
    return std::pair(as_type(operands.at(offset)), as_type(operands.at(count)));
  };
  switch (instruction.op) {
    case Op::OpBitCount: {
      llvm::Value* counted = builder_.CreateUnaryIntrinsic(
          llvm::Intrinsic::ctpop, checked::integers(value(operands.at(0))));
      checked::demand(type->isIntOrIntVectorTy(), "a count that is no integer");
      return builder_.CreateZExtOrTrunc(checked::shapedAs(counted, type), type);
    }
    case Op::OpBitReverse:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, integers(0));
    case Op::OpBitFieldInsert: {
      llvm::Value *base = integers(0), *given = integers(1);
      const auto [offset, count] = field(2, 3);
      llvm::Value* ones = llvm::Constant::getAllOnesValue(type);
      llvm::Value* width = llvm::ConstantInt::get(type, type->getScalarSizeInBits());
      llvm::Value* empty = builder_.CreateICmpEQ(count, llvm::Constant::getNullValue(type));
      llvm::Value* low = builder_.CreateLShr(ones, builder_.CreateSub(width, count));
      llvm::Value* mask = builder_.CreateShl(low, offset);
      mask = builder_.CreateSelect(empty, llvm::Constant::getNullValue(type), mask);
      llvm::Value* inserted = builder_.CreateShl(given, offset);
      return builder_.CreateOr(builder_.CreateAnd(base, builder_.CreateNot(mask)),
                               builder_.CreateAnd(inserted, mask));
    }
    case Op::OpBitFieldSExtract:
    case Op::OpBitFieldUExtract: {
      llvm::Value* base = integers(0);
      const auto [offset, count] = field(1, 2);
      llvm::Value* width = llvm::ConstantInt::get(type, type->getScalarSizeInBits());
      llvm::Value* empty = builder_.CreateICmpEQ(count, llvm::Constant::getNullValue(type));
      llvm::Value* up = builder_.CreateSub(builder_.CreateSub(width, count), offset);
      llvm::Value* high = builder_.CreateShl(base, up);
      llvm::Value* down = builder_.CreateSub(width, count);
      llvm::Value* result = instruction.op == Op::OpBitFieldSExtract
                                ? builder_.CreateAShr(high, down)
                                : builder_.CreateLShr(high, down);
      return builder_.CreateSelect(empty, llvm::Constant::getNullValue(type), result);
    }
    default:
      return nullptr;
  }
}

llvm::Value* FunctionReader::emitConversion(const Instruction& instruction) {
  const Instructions& in = module_.instructions();
  const CastRow* row = find(casts, instruction.op);
  const bool between_floats = instruction.op == Op::OpFConvert;
  if (!row && !between_floats) return emitCast(instruction);
  const auto* rounding = in.decoration(instruction.result, spv::Decoration::FPRoundingMode);
  const bool saturated = instruction.op == Op::OpSatConvertSToU ||
                         instruction.op == Op::OpSatConvertUToS ||
                         in.decoration(instruction.result, spv::Decoration::SaturatedConversion);
  llvm::Type* to = llvmType(instruction);
  if (!rounding && !saturated) {
    if (llvm::Value* made = emitCast(instruction)) return made;
    llvm::Value* from = checked::shapedAs(value(instruction.operands.at(0)), to);
    if (between_floats) {
      checked::demand(to->isFPOrFPVectorTy(), "a conversion between floating-point numbers");
      return builder_.CreateFPCast(checked::floats(from), to);
    }
    return cast(row->made, from, to);
  }
  constexpr const char* modes[] = {"_rte", "_rtz", "_rtp", "_rtn"};
  std::string name = "convert_" + typeName(to, row ? row->to : s);
  if (saturated) name += "_sat";
  if (rounding) {
    if (rounding->operands.at(0) >= std::size(modes)) throw Failure("a rounding mode");
    name += modes[rounding->operands[0]];
  }
  return call(name, instruction.type, {argument(instruction.operands.at(0), row ? row->from : s)});
}

llvm::Value* FunctionReader::cast(llvm::Instruction::CastOps op, llvm::Value* from,
                                  llvm::Type* to) {
  checked::demand(llvm::CastInst::castIsValid(op, from, to), "a conversion between other types");
  return builder_.CreateCast(op, from, to);
}

llvm::Value* FunctionReader::emitCast(const Instruction& instruction) {
  const auto operand = [&] { return value(instruction.operands.at(0)); };
  switch (instruction.op) {
    case Op::OpUConvert:
    case Op::OpSConvert: {
      llvm::Type* to = llvmType(instruction);
      checked::demand(to->isIntOrIntVectorTy(), "a conversion between integers");
      llvm::Value* from = checked::shapedAs(checked::integers(operand()), to);
      return instruction.op == Op::OpUConvert ? builder_.CreateZExtOrTrunc(from, to)
                                              : builder_.CreateSExtOrTrunc(from, to);
    }
    case Op::OpQuantizeToF16: {
      llvm::Value* wide = checked::floats(operand());
      llvm::Type* half = wide->getType()->getWithNewType(builder_.getHalfTy());
      return builder_.CreateFPExt(builder_.CreateFPTrunc(wide, half), wide->getType());
    }
    case Op::OpConvertPtrToU:
      // Translators compare events so.
      if (types_.at(typeOf(instruction.operands.at(0))).op == Op::OpTypeDeviceEvent)
        return call("weft_event_number", instruction.type, {argument(instruction.operands[0])});
      return cast(llvm::Instruction::PtrToInt, operand(), llvmType(instruction));
    case Op::OpConvertUToPtr:
      return cast(llvm::Instruction::IntToPtr, operand(), llvmType(instruction));
    case Op::OpPtrCastToGeneric:
    case Op::OpGenericCastToPtr:
      checked::demand(llvmType(instruction)->isPointerTy(), "a pointer is expected");
      return builder_.CreateAddrSpaceCast(checked::pointer(operand()), llvmType(instruction));
    case Op::OpGenericCastToPtrExplicit: {
      const Type& pointer = types_.at(instruction.type);
      // As Clang names them.
      const char* name = pointer.storage == spv::StorageClass::CrossWorkgroup ? "__to_global"
                         : pointer.storage == spv::StorageClass::Workgroup    ? "__to_local"
                                                                              : "__to_private";
      llvm::Value* from = checked::pointer(operand());
      checked::demand(pointer.llvm->isPointerTy(), "a pointer is expected");
      auto* type = llvm::FunctionType::get(pointer.llvm, {from->getType()}, false);
      llvm::Module* module = builder_.GetInsertBlock()->getModule();
      return builder_.CreateCall(module->getOrInsertFunction(name, type), {from});
    }
    case Op::OpBitcast: {
      llvm::Value* from = operand();
      llvm::Type* to = llvmType(instruction);
      // Since SPIR-V 1.5 vectors of integers, too, become pointers and are made of them.
      if (from->getType()->isPointerTy() && to->isVectorTy())
        from = builder_.CreatePtrToInt(from, builder_.getInt64Ty());
      if (from->getType()->isVectorTy() && to->isPointerTy())
        from = builder_.CreateBitCast(from, builder_.getInt64Ty());
      const llvm::DataLayout& layout = module_.module().getDataLayout();
      checked::demand(llvm::CastInst::isBitOrNoopPointerCastable(from->getType(), to, layout) ||
                          (from->getType()->isIntegerTy() && to->isPointerTy()) ||
                          (from->getType()->isPointerTy() && to->isIntegerTy()),
                      "a bitcast between types of unlike sizes");
      return builder_.CreateBitOrPointerCast(from, to);
    }
    default:
      return nullptr;
  }
}

}  // namespace weft::compiler::spirv
