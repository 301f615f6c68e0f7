// Instructions of SPIR-V's extensions: hints, dot products of integers, clocks.
#include "compiler/spirv/function_reader.h"

#include <llvm/IR/Intrinsics.h>

namespace weft::compiler::spirv {
namespace {

using spv::Op;

struct DotRow {
  Op op;
  Sign left, right;
  bool accumulates;
};

constexpr DotRow dots[] = {
    {Op::OpSDot, Sign::signed_, Sign::signed_, false},
    {Op::OpUDot, Sign::unsigned_, Sign::unsigned_, false},
    {Op::OpSUDot, Sign::signed_, Sign::unsigned_, false},
    {Op::OpSDotAccSat, Sign::signed_, Sign::signed_, true},
    {Op::OpUDotAccSat, Sign::unsigned_, Sign::unsigned_, true},
    {Op::OpSUDotAccSat, Sign::signed_, Sign::unsigned_, true},
};

}  // namespace

// SPV_KHR_expect_assume.
llvm::Value* FunctionReader::emitHint(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  switch (instruction.op) {
    case Op::OpExpectKHR:
      return value(operands.at(0));
    case Op::OpAssumeTrueKHR:
      return builder_.CreateAssumption(checked::truth(value(operands.at(0))));
    default:
      return nullptr;
  }
}

// SPV_KHR_integer_dot_product. Components are 8 bits, alone or packed into a word.
llvm::Value* FunctionReader::emitIntegerDot(const Instruction& instruction) {
  const DotRow* row = nullptr;
  for (const DotRow& candidate : dots)
    if (candidate.op == instruction.op) row = &candidate;
  if (!row) return nullptr;
  const auto& operands = instruction.operands;
  auto* bytes = llvm::FixedVectorType::get(builder_.getInt8Ty(), 4);
  llvm::Type* type = llvmType(instruction);
  if (!type->isIntegerTy()) throw Failure("a dot product that is no integer");
  auto* wide = llvm::FixedVectorType::get(type, 4);
  const auto widened = [&](Id id, Sign sign) {
    llvm::Value* given = value(id);
    if (given->getType()->isIntegerTy(32)) given = builder_.CreateBitCast(given, bytes);
    if (given->getType() != bytes) throw Failure("a dot product of other vectors than of 4x8 bits");
    return sign == Sign::signed_ ? builder_.CreateSExt(given, wide)
                                 : builder_.CreateZExt(given, wide);
  };
  llvm::Value* products =
      builder_.CreateMul(widened(operands.at(0), row->left), widened(operands.at(1), row->right));
  llvm::Value* sum = builder_.CreateAddReduce(products);
  if (!row->accumulates) return sum;
  const bool is_signed = row->left == Sign::signed_;
  return builder_.CreateBinaryIntrinsic(
      is_signed ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat, sum,
      checked::ofType(value(operands.at(2)), type));
}

// SPV_KHR_shader_clock.
llvm::Value* FunctionReader::emitClock(const Instruction& instruction) {
  if (instruction.op != Op::OpReadClockKHR) return nullptr;
  const std::string prefix = types_.isVector(instruction.type) ? "clock_read_hilo_" : "clock_read_";
  switch (static_cast<spv::Scope>(module_.number(instruction.operands.at(0)))) {
    case spv::Scope::Device:
      return call(prefix + "device", instruction.type, {});
    case spv::Scope::Workgroup:
      return call(prefix + "work_group", instruction.type, {});
    case spv::Scope::Subgroup:
      return call(prefix + "sub_group", instruction.type, {});
    default:
      throw Failure("a clock of a scope that has none");
  }
}

llvm::Value* FunctionReader::emitExtension(const Instruction& instruction) {
  if (llvm::Value* made = emitHint(instruction)) return made;
  if (llvm::Value* made = emitIntegerDot(instruction)) return made;
  return emitClock(instruction);
}

}  // namespace weft::compiler::spirv
