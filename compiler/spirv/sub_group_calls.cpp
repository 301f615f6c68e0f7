// Non-uniform group instructions, which OpenCL has for sub-groups only, as the functions of the
// cl_khr_subgroup_* extensions.
#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {
namespace {

using spv::Op;

struct ArithmeticRow {
  Op op;
  const char* operation;
  Sign sign;
};
constexpr ArithmeticRow arithmetic[] = {
    {Op::OpGroupNonUniformIAdd, "add", Sign::signed_},
    {Op::OpGroupNonUniformFAdd, "add", Sign::signed_},
    {Op::OpGroupNonUniformIMul, "mul", Sign::signed_},
    {Op::OpGroupNonUniformFMul, "mul", Sign::signed_},
    {Op::OpGroupNonUniformSMin, "min", Sign::signed_},
    {Op::OpGroupNonUniformUMin, "min", Sign::unsigned_},
    {Op::OpGroupNonUniformFMin, "min", Sign::signed_},
    {Op::OpGroupNonUniformSMax, "max", Sign::signed_},
    {Op::OpGroupNonUniformUMax, "max", Sign::unsigned_},
    {Op::OpGroupNonUniformFMax, "max", Sign::signed_},
    {Op::OpGroupNonUniformBitwiseAnd, "and", Sign::signed_},
    {Op::OpGroupNonUniformBitwiseOr, "or", Sign::signed_},
    {Op::OpGroupNonUniformBitwiseXor, "xor", Sign::signed_},
    {Op::OpGroupNonUniformLogicalAnd, "logical_and", Sign::signed_},
    {Op::OpGroupNonUniformLogicalOr, "logical_or", Sign::signed_},
    {Op::OpGroupNonUniformLogicalXor, "logical_xor", Sign::signed_},
};

// What follows the first operand.
enum class Rest : uint8_t { nothing, index, delta };
struct FunctionRow {
  Op op;
  const char* name;
  bool unsigned_value;
  Rest rest;
};
constexpr FunctionRow functions[] = {
    {Op::OpGroupNonUniformAll, "sub_group_non_uniform_all", false, Rest::nothing},
    {Op::OpGroupNonUniformAny, "sub_group_non_uniform_any", false, Rest::nothing},
    {Op::OpGroupNonUniformAllEqual, "sub_group_non_uniform_all_equal", false, Rest::nothing},
    {Op::OpGroupNonUniformBroadcast, "sub_group_non_uniform_broadcast", false, Rest::index},
    {Op::OpGroupNonUniformBroadcastFirst, "sub_group_broadcast_first", false, Rest::nothing},
    {Op::OpGroupNonUniformBallot, "sub_group_ballot", false, Rest::nothing},
    {Op::OpGroupNonUniformInverseBallot, "sub_group_inverse_ballot", true, Rest::nothing},
    {Op::OpGroupNonUniformBallotBitExtract, "sub_group_ballot_bit_extract", true, Rest::index},
    {Op::OpGroupNonUniformBallotFindLSB, "sub_group_ballot_find_lsb", true, Rest::nothing},
    {Op::OpGroupNonUniformBallotFindMSB, "sub_group_ballot_find_msb", true, Rest::nothing},
    {Op::OpGroupNonUniformShuffle, "sub_group_shuffle", false, Rest::index},
    {Op::OpGroupNonUniformShuffleXor, "sub_group_shuffle_xor", false, Rest::index},
    {Op::OpGroupNonUniformShuffleUp, "sub_group_shuffle_up", false, Rest::index},
    {Op::OpGroupNonUniformShuffleDown, "sub_group_shuffle_down", false, Rest::index},
    {Op::OpGroupNonUniformRotateKHR, "sub_group_rotate", false, Rest::delta},
};

// By GroupOperation.
constexpr const char* counts[] = {"sub_group_ballot_bit_count", "sub_group_ballot_inclusive_scan",
                                  "sub_group_ballot_exclusive_scan"};
constexpr const char* folds[] = {
    "sub_group_non_uniform_reduce_", "sub_group_non_uniform_scan_inclusive_",
    "sub_group_non_uniform_scan_exclusive_", "sub_group_clustered_reduce_"};
constexpr uint32_t clustered = 3;

template <size_t size>
const char* byOperation(const char* const (&names)[size], uint32_t operation) {
  if (operation >= size) throw Failure("a group operation");
  return names[operation];
}

}  // namespace

// Truth values are int to OpenCL C's functions.
llvm::Value* FunctionReader::callWithTruth(const std::string& name, const Instruction& instruction,
                                           const Arguments& arguments) {
  llvm::Type* type = llvmType(instruction);
  if (!type->isIntegerTy(1)) return callTyped(name, type, arguments);
  return builder_.CreateIsNotNull(callTyped(name, builder_.getInt32Ty(), arguments));
}

FunctionReader::Argument FunctionReader::valueOrTruth(Id id, Sign sign) {
  llvm::Value* given = value(id);
  if (!given->getType()->isIntegerTy(1)) return argument(id, sign);
  return {builder_.CreateZExt(given, builder_.getInt32Ty()), spellBuiltin("i")};
}

FunctionReader::Argument FunctionReader::smallNumber(Id id, const char* spelling) {
  return {number(id, builder_.getInt32Ty()), spellBuiltin(spelling)};
}

llvm::Value* FunctionReader::emitSubGroup(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (instruction.op == Op::OpGroupNonUniformElect)
    return callWithTruth("sub_group_elect", instruction, {});
  if (instruction.op == Op::OpGroupNonUniformBallotBitCount)
    return call(byOperation(counts, operands.at(1)), instruction.type,
                {argument(operands.at(2), Sign::unsigned_)});
  for (const ArithmeticRow& row : arithmetic) {
    if (row.op != instruction.op) continue;
    Arguments arguments = {valueOrTruth(operands.at(2), row.sign)};
    if (operands.at(1) == clustered) arguments.push_back(smallNumber(operands.at(3), "j"));
    return callWithTruth(std::string(byOperation(folds, operands.at(1))) + row.operation,
                         instruction, arguments);
  }
  for (const FunctionRow& row : functions) {
    if (row.op != instruction.op) continue;
    std::string name = row.name;
    Arguments arguments = {
        valueOrTruth(operands.at(1), row.unsigned_value ? Sign::unsigned_ : Sign::signed_)};
    if (row.rest == Rest::index) arguments.push_back(smallNumber(operands.at(2), "j"));
    if (row.rest == Rest::delta) arguments.push_back(smallNumber(operands.at(2), "i"));
    if (row.rest == Rest::delta && operands.size() > 3) {
      name = "sub_group_clustered_rotate";
      arguments.push_back(smallNumber(operands.at(3), "j"));
    }
    return callWithTruth(name, instruction, arguments);
  }
  return nullptr;
}

}  // namespace weft::compiler::spirv
