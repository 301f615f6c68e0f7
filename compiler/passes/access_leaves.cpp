// What the sums of an access record are made of: ids, sizes, arguments, and instructions that
// scalar evolution leaves alone.
#include <array>

#include <llvm/IR/Instructions.h>

#include "compiler/passes/access_coder.h"

namespace weft::compiler {
namespace {

using llvm::SCEV;

constexpr unsigned max_incoming = 4;

// What the environment's parameters are, by the first of each group of dimensions.
struct EnvironmentRow {
  unsigned parameter;
  unsigned dimensions;  // 0: one parameter
  AccessCode code;
};
constexpr std::array environment_rows = {
    EnvironmentRow{env::work_dim, 0, AccessCode::work_dim},
    EnvironmentRow{env::global_offset, 3, AccessCode::global_offset},
    EnvironmentRow{env::global_size, 3, AccessCode::global_size},
    EnvironmentRow{env::enqueued_local_size, 3, AccessCode::enqueued_local_size},
    EnvironmentRow{env::group_count, 3, AccessCode::group_count},
    EnvironmentRow{env::group_id, 3, AccessCode::group_id},
    EnvironmentRow{env::local_size, 3, AccessCode::local_size},
    EnvironmentRow{env::local_id, 3, AccessCode::local_id},
    EnvironmentRow{env::lane, 0, AccessCode::local_linear_id},
};

// Instructions that scalar evolution leaves alone.
struct InstructionRow {
  unsigned opcode;
  AccessCode code;
};
constexpr std::array instruction_rows = {
    InstructionRow{llvm::Instruction::Shl, AccessCode::shift_left},
    InstructionRow{llvm::Instruction::LShr, AccessCode::shift_right},
    InstructionRow{llvm::Instruction::AShr, AccessCode::shift_right_signed},
    InstructionRow{llvm::Instruction::UDiv, AccessCode::divide},
    InstructionRow{llvm::Instruction::SDiv, AccessCode::divide_signed},
    InstructionRow{llvm::Instruction::URem, AccessCode::remainder},
    InstructionRow{llvm::Instruction::SRem, AccessCode::remainder_signed},
    InstructionRow{llvm::Instruction::And, AccessCode::bit_and},
};

}  // namespace

uint16_t AccessCoder::parameter(const llvm::Argument& argument, const SCEV* value) {
  const unsigned index = argument.getArgNo();
  if (index >= body_.firstHidden()) return environment(index - body_.firstHidden(), value);
  if (body_.arguments[index] != ArgumentSource::value) return anyValue(value);
  return argumentBytes(index, 0, value);
}

uint16_t AccessCoder::environment(unsigned parameter, const SCEV* value) {
  AccessStep step;
  step.variable = variableOf(value);
  if (parameter >= env::global_base && parameter < env::global_base + 3) {
    // The first id of the group.
    step.a = static_cast<uint16_t>(parameter - env::global_base);
    step.code = AccessCode::local_id;
    const uint16_t local = emit(step);
    const uint16_t back =
        binary(AccessCode::multiply, max_width, local, constant(-1), partOf(value, 1));
    step.code = AccessCode::global_id;
    return binary(AccessCode::add, max_width, emit(step), back, nullptr);
  }
  for (const EnvironmentRow& row : environment_rows) {
    if (parameter < row.parameter || parameter >= row.parameter + std::max(1u, row.dimensions))
      continue;
    step.code = row.code;
    step.a = static_cast<uint16_t>(parameter - row.parameter);
    return emit(step);
  }
  return anyValue(value);
}

uint16_t AccessCoder::argumentBytes(unsigned argument, uint64_t offset, const SCEV* value) {
  AccessStep step;
  step.code = AccessCode::argument;
  step.width = static_cast<uint8_t>(widthOf(value));
  step.a = static_cast<uint16_t>(argument);
  step.value = static_cast<int64_t>(offset);
  return knowsBytes(info_.arguments[argument], step) ? emit(step) : anyValue(value);
}

uint16_t AccessCoder::instruction(const llvm::Instruction& instruction, const SCEV* value) {
  if (const auto* found = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load(*found, value);
  if (const auto* found = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction))
    return element(*found, value);
  if (const auto* found = llvm::dyn_cast<llvm::PHINode>(&instruction)) return phi(*found, value);
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    const uint16_t first = translate(evolution_.getSCEV(select->getOperand(1)));
    return binary(AccessCode::either, widthOf(value), first,
                  translate(evolution_.getSCEV(select->getOperand(2))), value);
  }
  for (const InstructionRow& row : instruction_rows) {
    if (instruction.getOpcode() != row.opcode) continue;
    const uint16_t first = translate(evolution_.getSCEV(instruction.getOperand(0)));
    return binary(row.code, widthOf(value), first,
                  translate(evolution_.getSCEV(instruction.getOperand(1))), value);
  }
  return anyValue(value);
}

uint16_t AccessCoder::phi(const llvm::PHINode& phi, const SCEV* value) {
  // Where it is the same value again and again, it has to be taken as it is.
  if (loops_.isLoopHeader(phi.getParent()) || phi.getNumIncomingValues() > max_incoming)
    return anyValue(value);
  uint16_t result = translate(evolution_.getSCEV(phi.getIncomingValue(0)));
  for (unsigned i = 1; i < phi.getNumIncomingValues(); ++i)
    result = binary(AccessCode::either, widthOf(value), result,
                    translate(evolution_.getSCEV(phi.getIncomingValue(i))), partOf(value, i));
  return result;
}

// A member of a structure that is an argument, or of an image's descriptor.
uint16_t AccessCoder::load(const llvm::LoadInst& load, const SCEV* value) {
  const llvm::DataLayout& layout = load.getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(load.getPointerOperandType()), 0);
  const auto* argument = llvm::dyn_cast<llvm::Argument>(
      load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, false));
  if (!argument || argument->getArgNo() >= body_.firstHidden() || offset.isNegative() ||
      (body_.arguments[argument->getArgNo()] != ArgumentSource::address &&
       body_.arguments[argument->getArgNo()] != ArgumentSource::descriptor) ||
      !load.hasMetadata(llvm::LLVMContext::MD_invariant_load))
    return anyValue(value);
  return argumentBytes(argument->getArgNo(), offset.getZExtValue(), value);
}

uint16_t AccessCoder::element(const llvm::ExtractElementInst& element, const SCEV* value) {
  const auto* argument = llvm::dyn_cast<llvm::Argument>(element.getVectorOperand());
  const auto* index = llvm::dyn_cast<llvm::ConstantInt>(element.getIndexOperand());
  if (!argument || !index || argument->getArgNo() >= body_.firstHidden() ||
      body_.arguments[argument->getArgNo()] != ArgumentSource::value)
    return anyValue(value);
  return argumentBytes(argument->getArgNo(), index->getZExtValue() * (widthOf(value) / 8), value);
}

}  // namespace weft::compiler
