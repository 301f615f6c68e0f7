#include "compiler/gpu/spirv/function.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Instructions.h>

namespace weft::compiler::emit {

using llvm::Instruction;

const FunctionWriter::Row FunctionWriter::rows[] = {
    {Instruction::Alloca, &FunctionWriter::alloca_},
    {Instruction::Load, &FunctionWriter::load},
    {Instruction::Store, &FunctionWriter::store},
    {Instruction::GetElementPtr, &FunctionWriter::elementPointer},
    {Instruction::FNeg, &FunctionWriter::negate},
    {Instruction::ICmp, &FunctionWriter::compare},
    {Instruction::FCmp, &FunctionWriter::compare},
    {Instruction::Select, &FunctionWriter::select},
    {Instruction::PHI, &FunctionWriter::phi},
    {Instruction::Freeze, &FunctionWriter::freeze},
    {Instruction::ExtractElement, &FunctionWriter::extractElement},
    {Instruction::InsertElement, &FunctionWriter::insertElement},
    {Instruction::ShuffleVector, &FunctionWriter::shuffle},
    {Instruction::ExtractValue, &FunctionWriter::extractValue},
    {Instruction::InsertValue, &FunctionWriter::insertValue},
    {Instruction::AtomicRMW, &FunctionWriter::readModifyWrite},
    {Instruction::AtomicCmpXchg, &FunctionWriter::compareExchange},
    {Instruction::Br, &FunctionWriter::branch},
    {Instruction::Switch, &FunctionWriter::switch_},
    {Instruction::Ret, &FunctionWriter::return_},
    {Instruction::Unreachable, &FunctionWriter::unreachable},
    {Instruction::Call, &FunctionWriter::call},
};

// What is passed by value is as large as what the pointer points at.
Id FunctionWriter::parameterType(const llvm::Argument& argument) {
  if (!argument.hasByValAttr()) return type(argument);
  return types_.pointerTo(private_space, argument.getParamByValType());
}

Words FunctionWriter::write() {
  std::vector<Id> parameter_types;
  for (const llvm::Argument& argument : function_.args())
    parameter_types.push_back(parameterType(argument));
  const Id result = types_.type(function_.getReturnType());
  const Id function_type = types_.functionType(result, parameter_types);
  Words all;
  all.add(spv::Op::OpFunction, {result, module_.functionId(function_), 0, function_type});
  for (const llvm::Argument& argument : function_.args()) {
    const Id parameter = types_.newId();
    all.add(spv::Op::OpFunctionParameter, {parameterType(argument), parameter});
    ids_[&argument] = parameter;
    if (!argument.hasByValAttr()) continue;
    types_.decorate(parameter, spv::Decoration::FuncParamAttr,
                    {static_cast<uint32_t>(spv::FunctionParameterAttribute::ByVal)});
    ids_[&argument] = types_.newId();
    prologue_.add(spv::Op::OpBitcast, {type(argument), ids_[&argument], parameter});
  }
  const llvm::BasicBlock& entry = function_.getEntryBlock();
  all.add(spv::Op::OpLabel, {block(&entry)});
  // In this order every block comes behind those that dominate it.
  const llvm::ReversePostOrderTraversal<const llvm::Function*> order(&function_);
  for (const llvm::BasicBlock* each : order) {
    if (each != &entry) body_.add(spv::Op::OpLabel, {block(each)});
    for (const Instruction& instruction : *each) write(instruction);
  }
  all.append(variables_);
  all.append(prologue_);
  all.append(body_);
  all.add(spv::Op::OpFunctionEnd, {});
  return all;
}

void FunctionWriter::write(const Instruction& instruction) {
  if (instruction.isBinaryOp()) return binary(instruction);
  if (instruction.isCast()) return cast(instruction);
  const auto* const row =
      llvm::find_if(rows, [&](const Row& each) { return each.opcode == instruction.getOpcode(); });
  if (row == std::end(rows)) refuse("an instruction", instruction);
  (this->*row->write)(instruction);
}

Id FunctionWriter::id(const llvm::Value* value) {
  if (const auto known = ids_.find(value); known != ids_.end()) return known->second;
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value)) {
    const Id made = types_.newId();
    prologue_.add(spv::Op::OpBitcast, {type(*value), made, module_.variableId(*variable)});
    return ids_[value] = made;
  }
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
    return types_.constant(constant);
  }
  // Of an instruction that comes later.
  return ids_[value] = types_.newId();
}

Id FunctionWriter::block(const llvm::BasicBlock* block) {
  Id& known = ids_[block];
  if (!known) known = types_.newId();
  return known;
}

Id FunctionWriter::result(spv::Op op, Id type, llvm::ArrayRef<uint32_t> operands) {
  const Id made = types_.newId();
  std::vector<uint32_t> words{type, made};
  words.insert(words.end(), operands.begin(), operands.end());
  body_.add(op, words);
  return made;
}

void FunctionWriter::define(const Instruction& instruction, spv::Op op,
                            llvm::ArrayRef<uint32_t> operands) {
  std::vector<uint32_t> words{type(instruction), id(&instruction)};
  words.insert(words.end(), operands.begin(), operands.end());
  body_.add(op, words);
}

Id FunctionWriter::long_(uint64_t value) {
  return types_.constant(
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(function_.getContext()), value));
}

Id FunctionWriter::as64(const llvm::Value* index) {
  const unsigned bits = index->getType()->getIntegerBitWidth();
  if (bits == 64) return id(index);
  if (bits > 64) refuse("an index", *index);
  return result(spv::Op::OpSConvert, types_.type(llvm::Type::getInt64Ty(function_.getContext())),
                {id(index)});
}

Id FunctionWriter::addressOf(const llvm::Value* pointer) {
  return result(spv::Op::OpConvertPtrToU,
                types_.type(llvm::Type::getInt64Ty(function_.getContext())), {id(pointer)});
}

Id FunctionWriter::typed(const llvm::Value* pointer, llvm::Type* type) {
  if (type->isIntegerTy(8)) return id(pointer);
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  return result(spv::Op::OpBitcast, types_.pointerTo(space, type), {id(pointer)});
}

std::vector<uint32_t> FunctionWriter::access(llvm::Align alignment, bool is_volatile) const {
  constexpr auto volatile_bit = static_cast<uint32_t>(spv::MemoryAccessMask::Volatile);
  constexpr auto aligned_bit = static_cast<uint32_t>(spv::MemoryAccessMask::Aligned);
  return {aligned_bit | (is_volatile ? volatile_bit : 0u),
          static_cast<uint32_t>(alignment.value())};
}

void FunctionWriter::branch(const Instruction& instruction) {
  const auto& branch = llvm::cast<llvm::BranchInst>(instruction);
  if (branch.isUnconditional())
    return body_.add(spv::Op::OpBranch, {block(branch.getSuccessor(0))});
  body_.add(spv::Op::OpBranchConditional, {id(branch.getCondition()), block(branch.getSuccessor(0)),
                                           block(branch.getSuccessor(1))});
}

void FunctionWriter::switch_(const Instruction& instruction) {
  const auto& choice = llvm::cast<llvm::SwitchInst>(instruction);
  const unsigned bits = choice.getCondition()->getType()->getIntegerBitWidth();
  if (bits == 1) refuse("a switch", instruction);
  std::vector<uint32_t> words{id(choice.getCondition()), block(choice.getDefaultDest())};
  for (const auto& one : choice.cases()) {
    const uint64_t value = one.getCaseValue()->getZExtValue();
    words.push_back(static_cast<uint32_t>(value));
    if (bits > 32) words.push_back(static_cast<uint32_t>(value >> 32));
    words.push_back(block(one.getCaseSuccessor()));
  }
  body_.add(spv::Op::OpSwitch, words);
}

void FunctionWriter::return_(const Instruction& instruction) {
  const llvm::Value* value = llvm::cast<llvm::ReturnInst>(instruction).getReturnValue();
  if (value)
    body_.add(spv::Op::OpReturnValue, {id(value)});
  else
    body_.add(spv::Op::OpReturn, {});
}

void FunctionWriter::unreachable(const Instruction&) { body_.add(spv::Op::OpUnreachable, {}); }

void FunctionWriter::phi(const Instruction& instruction) {
  const auto& phi = llvm::cast<llvm::PHINode>(instruction);
  std::vector<uint32_t> words;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> seen;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    if (!seen.insert(phi.getIncomingBlock(i)).second) continue;
    words.push_back(id(phi.getIncomingValue(i)));
    words.push_back(block(phi.getIncomingBlock(i)));
  }
  define(instruction, spv::Op::OpPhi, words);
}

}  // namespace weft::compiler::emit
