#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {
namespace {

using spv::Op;

enum class Gives : uint8_t { number, wide_number, number_per_dimension, mask };

struct WorkItemFunction {
  spv::BuiltIn builtin;
  const char* name;
  Gives gives = Gives::number;
};

constexpr WorkItemFunction work_item_functions[] = {
    {spv::BuiltIn::GlobalInvocationId, "get_global_id", Gives::number_per_dimension},
    {spv::BuiltIn::GlobalSize, "get_global_size", Gives::number_per_dimension},
    {spv::BuiltIn::GlobalOffset, "get_global_offset", Gives::number_per_dimension},
    {spv::BuiltIn::LocalInvocationId, "get_local_id", Gives::number_per_dimension},
    {spv::BuiltIn::WorkgroupSize, "get_local_size", Gives::number_per_dimension},
    {spv::BuiltIn::EnqueuedWorkgroupSize, "get_enqueued_local_size", Gives::number_per_dimension},
    {spv::BuiltIn::WorkgroupId, "get_group_id", Gives::number_per_dimension},
    {spv::BuiltIn::NumWorkgroups, "get_num_groups", Gives::number_per_dimension},
    {spv::BuiltIn::WorkDim, "get_work_dim"},
    {spv::BuiltIn::GlobalLinearId, "get_global_linear_id", Gives::wide_number},
    {spv::BuiltIn::LocalInvocationIndex, "get_local_linear_id", Gives::wide_number},
    {spv::BuiltIn::SubgroupSize, "get_sub_group_size"},
    {spv::BuiltIn::SubgroupMaxSize, "get_max_sub_group_size"},
    {spv::BuiltIn::NumSubgroups, "get_num_sub_groups"},
    {spv::BuiltIn::NumEnqueuedSubgroups, "get_enqueued_num_sub_groups"},
    {spv::BuiltIn::SubgroupId, "get_sub_group_id"},
    {spv::BuiltIn::SubgroupLocalInvocationId, "get_sub_group_local_id"},
    {spv::BuiltIn::SubgroupEqMask, "get_sub_group_eq_mask", Gives::mask},
    {spv::BuiltIn::SubgroupGeMask, "get_sub_group_ge_mask", Gives::mask},
    {spv::BuiltIn::SubgroupGtMask, "get_sub_group_gt_mask", Gives::mask},
    {spv::BuiltIn::SubgroupLeMask, "get_sub_group_le_mask", Gives::mask},
    {spv::BuiltIn::SubgroupLtMask, "get_sub_group_lt_mask", Gives::mask},
};

void applyParameterAttribute(llvm::Argument& argument, uint32_t attribute, llvm::Type* pointee) {
  using llvm::Attribute;
  constexpr Attribute::AttrKind kinds[] = {
      Attribute::ZExt,    Attribute::SExt,      Attribute::ByVal,    Attribute::StructRet,
      Attribute::NoAlias, Attribute::NoCapture, Attribute::ReadOnly, Attribute::ReadNone};
  if (attribute >= std::size(kinds)) return;
  const Attribute::AttrKind kind = kinds[attribute];
  if (!Attribute::isTypeAttrKind(kind))
    argument.addAttr(kind);
  else if (pointee)
    argument.addAttr(Attribute::get(argument.getContext(), kind, pointee));
}

}  // namespace

void FunctionReader::read(std::span<const Instruction> body) {
  for (const Instruction& instruction : body)
    if (instruction.op == Op::OpFunctionParameter) readParameter(instruction);
  for (const Block& block : makeBlocks(body))
    for (const Instruction& instruction : block) emit(instruction);
  finishPhis();
  for (llvm::BasicBlock& made : function_)
    if (!made.getTerminator()) throw Failure("a block without an end");
}

llvm::Value* FunctionReader::evaluate(const Instruction& instruction) {
  builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.context(), "", &function_));
  setFastMath(instruction);
  return emitValue(instruction);
}

llvm::BasicBlock* FunctionReader::block(Id id) const {
  const auto found = blocks_.find(id);
  if (found == blocks_.end()) throw Failure("%" + std::to_string(id) + " is not a label");
  return found->second;
}

llvm::BasicBlock* FunctionReader::target(Id id) const {
  llvm::BasicBlock* const found = block(id);
  checked::demand(found, "a branch from behind the end of a block");
  return found;
}

Id FunctionReader::typeOf(Id id) const {
  const auto found = types_of_.find(id);
  const Id type = found == types_of_.end() ? module_.typeOf(id) : found->second;
  if (!type) throw Failure("%" + std::to_string(id) + " has no type");
  return type;
}

llvm::Value* FunctionReader::value(Id id) {
  const auto found = values_.find(id);
  if (found != values_.end()) return found->second;
  if (llvm::Value* outer = module_.value(id)) return outer;
  if (const spv::BuiltIn* builtin = module_.builtinVariable(id))
    return builtinVariable(id, *builtin);
  if (const uint32_t* sampler = module_.sampler(id)) {
    llvm::Type* type = types_.llvm(module_.typeOf(id));
    llvm::Type* parameters[] = {builder_.getInt32Ty()};
    llvm::Function* make = module_.function("__translate_sampler_initializer",
                                            llvm::FunctionType::get(type, parameters, false));
    llvm::CallInst* call = builder_.CreateCall(make, builder_.getInt32(*sampler));
    call->setCallingConv(make->getCallingConv());
    return call;
  }
  throw Failure("%" + std::to_string(id) + " is used before it is defined");
}

// A variable of the function that holds what the work-item functions say; the optimiser takes it
// apart again.
llvm::Value* FunctionReader::builtinVariable(Id id, spv::BuiltIn builtin) {
  llvm::Value*& variable = builtin_variables_[id];
  if (variable) return variable;
  const auto row = std::find_if(std::begin(work_item_functions), std::end(work_item_functions),
                                [&](const auto& other) { return other.builtin == builtin; });
  if (row == std::end(work_item_functions))
    throw Failure("builtin variable " + std::to_string(static_cast<uint32_t>(builtin)));
  const Type& pointer = types_.at(module_.typeOf(id));
  if (pointer.op != Op::OpTypePointer) throw Failure("a variable that is not reached by a pointer");
  llvm::Type* type = types_.llvm(pointer.element);
  constexpr uint32_t components[] = {0, 0, 3, 4};  // by what it gives
  const uint32_t expected = components[static_cast<size_t>(row->gives)];
  checked::demand(type->isIntOrIntVectorTy() && types_.at(pointer.element).count == expected,
                  "a builtin variable of another type than it has");
  const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  llvm::BasicBlock& entry = function_.getEntryBlock();
  builder_.SetInsertPoint(&entry, entry.begin());
  variable = builder_.CreateAlloca(type);
  llvm::Type* scalar = type->getScalarType();
  llvm::Value* content = nullptr;
  if (row->gives == Gives::number_per_dimension) {
    content = llvm::PoisonValue::get(type);
    for (uint32_t i = 0; i < 3; ++i) {
      llvm::Value* one = callTyped(row->name, builder_.getInt64Ty(), {unsignedNumber(i)});
      content = builder_.CreateInsertElement(content, builder_.CreateZExtOrTrunc(one, scalar), i);
    }
  } else if (row->gives == Gives::mask) {
    content = callTyped(row->name, type, {});
  } else {
    const bool wide = row->gives == Gives::wide_number;
    llvm::Type* returned = wide ? builder_.getInt64Ty() : builder_.getInt32Ty();
    content = builder_.CreateZExtOrTrunc(callTyped(row->name, returned, {}), scalar);
  }
  builder_.CreateStore(content, variable);
  return variable;
}

void FunctionReader::readParameter(const Instruction& instruction) {
  if (parameters_.size() >= function_.arg_size()) throw Failure("a parameter too many");
  llvm::Argument& argument = *function_.getArg(static_cast<unsigned>(parameters_.size()));
  values_[instruction.result] = &argument;
  types_of_[instruction.result] = instruction.type;
  parameters_.push_back(instruction.result);
  const Instructions& in = module_.instructions();
  const Type& type = types_.at(instruction.type);
  llvm::Type* pointee =
      type.op == Op::OpTypePointer && type.element ? types_.llvm(type.element) : nullptr;
  for (const auto* decoration : in.decorations(instruction.result, spv::Decoration::FuncParamAttr))
    applyParameterAttribute(argument, decoration->operands.at(0), pointee);
  if (const auto* alignment = in.decoration(instruction.result, spv::Decoration::Alignment))
    argument.addAttr(llvm::Attribute::getWithAlignment(
        module_.context(), checked::alignment(alignment->operands.at(0))));
  else if (type.op == Op::OpTypePointer && pointee && pointee->isSized())
    argument.addAttr(llvm::Attribute::getWithAlignment(
        module_.context(), module_.module().getDataLayout().getABITypeAlign(pointee)));
}

void FunctionReader::emit(const Instruction& instruction) {
  setFastMath(instruction);
  const llvm::BasicBlock* const current = builder_.GetInsertBlock();
  const bool is_label = instruction.op == Op::OpLabel;
  if (!is_label && current && current->getTerminator())
    throw Failure("an instruction behind the end of a block");
  if (emitControl(instruction)) return;
  if (instruction.type) types_of_[instruction.result] = instruction.type;
  llvm::Value* made = emitValue(instruction);
  if (instruction.type) checked::ofType(made, llvmType(instruction));
  if (instruction.result) values_[instruction.result] = made;
}

// The groups of instructions say null for what is not theirs; void calls give a value, too.
llvm::Value* FunctionReader::emitValue(const Instruction& instruction) {
  if (instruction.op == Op::OpFunctionCall) return emitCall(instruction);
  if (instruction.op == Op::OpUndef) return llvm::UndefValue::get(llvmType(instruction));
  if (instruction.op == Op::OpExtInst) return emitOpenCl(instruction);
  if (llvm::Value* made = emitArithmetic(instruction)) return made;
  if (llvm::Value* made = emitMemory(instruction)) return made;
  if (llvm::Value* made = emitComposite(instruction)) return made;
  if (llvm::Value* made = emitAtomic(instruction)) return made;
  if (llvm::Value* made = emitSynchronisation(instruction)) return made;
  if (llvm::Value* made = emitImage(instruction)) return made;
  if (llvm::Value* made = emitGroup(instruction)) return made;
  if (llvm::Value* made = emitSubGroup(instruction)) return made;
  if (llvm::Value* made = emitIntelSubGroup(instruction)) return made;
  if (llvm::Value* made = emitDeviceQueue(instruction)) return made;
  if (llvm::Value* made = emitExtension(instruction)) return made;
  if (llvm::Value* made = emitPipe(instruction)) return made;
  throw Failure("instruction " + std::to_string(static_cast<uint32_t>(instruction.op)) +
                " is not supported");
}

bool FunctionReader::emitControl(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (module_.instructions().saysNothing(instruction)) return true;
  switch (instruction.op) {
    case Op::OpLabel:
      builder_.SetInsertPoint(block(instruction.result));
      return true;
    case Op::OpLoopMerge:
    case Op::OpSelectionMerge:
    case Op::OpLifetimeStart:
    case Op::OpLifetimeStop:
    case Op::OpNop:
    case Op::OpLine:
    case Op::OpNoLine:
      return true;
    case Op::OpPhi: {
      llvm::Type* type = llvmType(instruction);
      checked::demand(type->isFirstClassType(), "a phi of what is no value");
      llvm::PHINode* phi = builder_.CreatePHI(type, operands.size() / 2);
      phis_.emplace_back(phi, &instruction);
      values_[instruction.result] = phi;
      types_of_[instruction.result] = instruction.type;
      return true;
    }
    case Op::OpBranch:
      builder_.CreateBr(target(operands.at(0)));
      return true;
    case Op::OpBranchConditional:
      builder_.CreateCondBr(checked::truth(value(operands.at(0))), target(operands.at(1)),
                            target(operands.at(2)));
      return true;
    case Op::OpSwitch:
      emitSwitch(instruction);
      return true;
    case Op::OpReturn:
    case Op::OpReturnValue:
      emitReturn(instruction);
      return true;
    case Op::OpUnreachable:
      builder_.CreateUnreachable();
      return true;
    default:
      return false;
  }
}

void FunctionReader::emitSwitch(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  llvm::Value* selector = value(operands.at(0));
  const unsigned words = wordsOfLiterals(instruction);
  auto* type = llvm::cast<llvm::IntegerType>(checked::integer(selector)->getType());
  llvm::SwitchInst* made = builder_.CreateSwitch(selector, target(operands.at(1)));
  for (size_t i = 2; i + words < operands.size(); i += words + 1) {
    const llvm::APInt number(64, instruction.number(i, words));
    auto* literal = llvm::ConstantInt::get(module_.context(), number.trunc(type->getBitWidth()));
    made->addCase(llvm::cast<llvm::ConstantInt>(literal), target(operands[i + words]));
  }
}

unsigned FunctionReader::wordsOfLiterals(const Instruction& choice) const {
  auto* type = llvm::dyn_cast<llvm::IntegerType>(types_.llvm(typeOf(choice.operands.at(0))));
  if (!type) throw Failure("a switch over what is no integer");
  return type->getBitWidth() > 32 ? 2 : 1;
}

void FunctionReader::emitReturn(const Instruction& instruction) {
  if (instruction.op == Op::OpReturn)
    builder_.CreateRetVoid();
  else
    builder_.CreateRet(value(instruction.operands.at(0)));
}

void FunctionReader::finishPhis() {
  for (const auto& [phi, instruction] : phis_) {
    const auto& operands = instruction->operands;
    for (size_t i = 0; i + 1 < operands.size(); i += 2) {
      llvm::BasicBlock* const from = block(operands[i + 1]);
      // Translators say it once for each edge, too.
      if (!from || phi->getBasicBlockIndex(from) >= 0) continue;
      // LLVM counts edges, of which a switch may have several to one block.
      const auto edges =
          std::max<ptrdiff_t>(1, llvm::count(llvm::successors(from), phi->getParent()));
      llvm::Value* brought = checked::ofType(value(operands[i]), phi->getType());
      for (ptrdiff_t edge = 0; edge < edges; ++edge) phi->addIncoming(brought, from);
    }
  }
}

llvm::Value* FunctionReader::emitCall(const Instruction& instruction) {
  auto* callee = llvm::dyn_cast_or_null<llvm::Function>(module_.value(instruction.operands.at(0)));
  if (!callee) throw Failure("a call of what is no function");
  if (callee->arg_size() + 1 != instruction.operands.size())
    throw Failure("a call with the wrong number of arguments");
  std::vector<llvm::Value*> arguments;
  for (size_t i = 1; i < instruction.operands.size(); ++i)
    arguments.push_back(checked::ofType(value(instruction.operands[i]),
                                        callee->getFunctionType()->getParamType(i - 1)));
  llvm::CallInst* made = builder_.CreateCall(callee, arguments);
  made->setCallingConv(callee->getCallingConv());
  for (const llvm::Argument& parameter : callee->args())
    if (llvm::Type* type = parameter.getParamByValType())
      made->addParamAttr(parameter.getArgNo(),
                         llvm::Attribute::getWithByValType(module_.context(), type));
  return made;
}

}  // namespace weft::compiler::spirv
