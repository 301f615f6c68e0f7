// Atomics, barriers and work-group functions, as the functions of OpenCL C that do the same.
#include "compiler/builtins/builtins.h"
#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {
namespace {

using spv::Op;

struct AtomicRow {
  Op op;
  const char* name;
  Sign sign;
};

constexpr AtomicRow fetches[] = {
    {Op::OpAtomicExchange, "atomic_exchange_explicit", Sign::signed_},
    {Op::OpAtomicIAdd, "atomic_fetch_add_explicit", Sign::signed_},
    {Op::OpAtomicISub, "atomic_fetch_sub_explicit", Sign::signed_},
    {Op::OpAtomicSMin, "atomic_fetch_min_explicit", Sign::signed_},
    {Op::OpAtomicUMin, "atomic_fetch_min_explicit", Sign::unsigned_},
    {Op::OpAtomicSMax, "atomic_fetch_max_explicit", Sign::signed_},
    {Op::OpAtomicUMax, "atomic_fetch_max_explicit", Sign::unsigned_},
    {Op::OpAtomicAnd, "atomic_fetch_and_explicit", Sign::signed_},
    {Op::OpAtomicOr, "atomic_fetch_or_explicit", Sign::signed_},
    {Op::OpAtomicXor, "atomic_fetch_xor_explicit", Sign::signed_},
    {Op::OpAtomicFAddEXT, "atomic_fetch_add_explicit", Sign::signed_},
    {Op::OpAtomicFMinEXT, "atomic_fetch_min_explicit", Sign::signed_},
    {Op::OpAtomicFMaxEXT, "atomic_fetch_max_explicit", Sign::signed_},
};

struct GroupRow {
  Op op;
  const char* operation;
  Sign sign;
};

constexpr GroupRow groups[] = {
    {Op::OpGroupIAdd, "add", Sign::signed_},
    {Op::OpGroupFAdd, "add", Sign::signed_},
    {Op::OpGroupSMin, "min", Sign::signed_},
    {Op::OpGroupUMin, "min", Sign::unsigned_},
    {Op::OpGroupFMin, "min", Sign::signed_},
    {Op::OpGroupSMax, "max", Sign::signed_},
    {Op::OpGroupUMax, "max", Sign::unsigned_},
    {Op::OpGroupFMax, "max", Sign::signed_},
    // SPV_KHR_uniform_group_instructions.
    {Op::OpGroupIMulKHR, "mul", Sign::signed_},
    {Op::OpGroupFMulKHR, "mul", Sign::signed_},
    {Op::OpGroupBitwiseAndKHR, "and", Sign::signed_},
    {Op::OpGroupBitwiseOrKHR, "or", Sign::signed_},
    {Op::OpGroupBitwiseXorKHR, "xor", Sign::signed_},
    {Op::OpGroupLogicalAndKHR, "logical_and", Sign::signed_},
    {Op::OpGroupLogicalOrKHR, "logical_or", Sign::signed_},
    {Op::OpGroupLogicalXorKHR, "logical_xor", Sign::signed_},
};

template <typename Row, size_t size>
const Row* find(const Row (&rows)[size], Op op) {
  for (const Row& row : rows)
    if (row.op == op) return &row;
  return nullptr;
}

}  // namespace

llvm::Value* FunctionReader::callTyped(std::string_view name, llvm::Type* result,
                                       const Arguments& arguments) {
  std::vector<Spelling> spellings;
  std::vector<llvm::Value*> values;
  std::vector<llvm::Type*> types;
  for (const Argument& argument : arguments) {
    spellings.push_back(argument.spelling);
    values.push_back(argument.value);
    types.push_back(argument.value->getType());
  }
  llvm::Function* function =
      module_.function(mangle(name, spellings), llvm::FunctionType::get(result, types, false));
  llvm::CallInst* made = builder_.CreateCall(function, values);
  made->setCallingConv(function->getCallingConv());
  made->setConvergent();
  made->setDoesNotThrow();
  return made;
}

llvm::Value* FunctionReader::call(std::string_view name, Id result, const Arguments& arguments) {
  return callTyped(name, types_.llvm(result), arguments);
}

FunctionReader::Argument FunctionReader::argument(Id id, Sign sign) {
  return {value(id), types_.spelling(typeOf(id), sign)};
}

FunctionReader::Argument FunctionReader::constantPointer(Id id, Sign sign) {
  return {value(id), types_.pointerSpelling(typeOf(id), sign, {.constant = true})};
}

FunctionReader::Argument FunctionReader::size(Id id) {
  return {number(id, builder_.getInt64Ty()), spellBuiltin("m")};
}

FunctionReader::Argument FunctionReader::unsignedNumber(uint32_t number) {
  return {builder_.getInt32(number), spellBuiltin("j")};
}

FunctionReader::Argument FunctionReader::enumeration(std::string_view name, uint32_t number) {
  return {builder_.getInt32(number), spellEnumeration(name)};
}

// What a work-item owns is reached through a generic pointer: OpenCL C has no functions for it.
FunctionReader::Argument FunctionReader::atomicPointer(Id id, Sign sign) {
  const Type& type = types_.at(typeOf(id));
  if (addressSpace(type.storage) != 0)
    return {value(id), types_.pointerSpelling(typeOf(id), sign, {.atomic = true})};
  return {generic(id), spellPointer(types_.spelling(type.element, sign),
                                    {.address_space = addressSpace(spv::StorageClass::Generic),
                                     .atomic = true})};
}

// OpenCL C's memory_scope of SPIR-V's.
FunctionReader::Argument FunctionReader::scope(Id id) {
  constexpr uint32_t scopes[] = {3, 2, 1, 4, 0};
  const uint64_t number = module_.number(id);
  if (number >= std::size(scopes)) throw Failure("scope " + std::to_string(number));
  return enumeration("memory_scope", scopes[number]);
}

FunctionReader::Argument FunctionReader::order(Id semantics) {
  const auto bits = static_cast<uint32_t>(module_.number(semantics));
  constexpr std::pair<spv::MemorySemanticsMask, uint32_t> orders[] = {
      {spv::MemorySemanticsMask::SequentiallyConsistent, 5},
      {spv::MemorySemanticsMask::AcquireRelease, 4},
      {spv::MemorySemanticsMask::Release, 3},
      {spv::MemorySemanticsMask::Acquire, 2}};
  for (const auto& [bit, number] : orders)
    if (bits & static_cast<uint32_t>(bit)) return enumeration("memory_order", number);
  return enumeration("memory_order", 0);
}

llvm::Value* FunctionReader::emitAtomic(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (const AtomicRow* row = find(fetches, instruction.op))
    return call(row->name, instruction.type,
                {atomicPointer(operands.at(0), row->sign), argument(operands.at(3), row->sign),
                 order(operands.at(2)), scope(operands.at(1))});
  const auto pointer = [&] { return atomicPointer(operands.at(0), Sign::signed_); };
  switch (instruction.op) {
    case Op::OpAtomicLoad:
      return call("atomic_load_explicit", instruction.type,
                  {pointer(), order(operands.at(2)), scope(operands.at(1))});
    case Op::OpAtomicStore:
      return callTyped(
          "atomic_store_explicit", builder_.getVoidTy(),
          {pointer(), argument(operands.at(3)), order(operands.at(2)), scope(operands.at(1))});
    case Op::OpAtomicIIncrement:
    case Op::OpAtomicIDecrement: {
      const char* name = instruction.op == Op::OpAtomicIIncrement ? "atomic_fetch_add_explicit"
                                                                  : "atomic_fetch_sub_explicit";
      checked::demand(llvmType(instruction)->isIntegerTy(), "an integer is expected");
      const Argument one{llvm::ConstantInt::get(llvmType(instruction), 1),
                         types_.spelling(instruction.type, Sign::signed_)};
      return call(name, instruction.type,
                  {pointer(), one, order(operands.at(2)), scope(operands.at(1))});
    }
    case Op::OpAtomicCompareExchange:
    case Op::OpAtomicCompareExchangeWeak:
      return emitCompareExchange(instruction);
    case Op::OpAtomicFlagTestAndSet:
      return callTyped("atomic_flag_test_and_set_explicit", builder_.getInt1Ty(),
                       {pointer(), order(operands.at(2)), scope(operands.at(1))});
    case Op::OpAtomicFlagClear:
      return callTyped("atomic_flag_clear_explicit", builder_.getVoidTy(),
                       {pointer(), order(operands.at(2)), scope(operands.at(1))});
    default:
      return nullptr;
  }
}

// OpenCL C's function says whether it exchanged, and stores what it found where it was told what to
// expect; SPIR-V's gives what it found.
llvm::Value* FunctionReader::emitCompareExchange(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const Type& pointer = types_.at(typeOf(operands.at(0)));
  const Spelling element = types_.spelling(pointer.element, Sign::signed_);
  llvm::Type* type = checked::sized(llvmType(instruction));
  llvm::Value* expected = nullptr;
  {
    const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
    llvm::BasicBlock& entry = function_.getEntryBlock();
    builder_.SetInsertPoint(&entry, entry.begin());
    expected = builder_.CreateAlloca(type);
  }
  builder_.CreateStore(checked::ofType(value(operands.at(5)), type), expected);
  Qualifiers qualifiers;
  llvm::Value* given = expected;
  const Argument updated = atomicPointer(operands.at(0), Sign::signed_);
  const auto* updated_type = llvm::cast<llvm::PointerType>(updated.value->getType());
  if (updated_type->getAddressSpace() == addressSpace(spv::StorageClass::Generic)) {
    qualifiers.address_space = updated_type->getAddressSpace();
    given = builder_.CreateAddrSpaceCast(expected, updated.value->getType());
  }
  callTyped("atomic_compare_exchange_strong_explicit", builder_.getInt1Ty(),
            {updated,
             {given, spellPointer(element, qualifiers)},
             argument(operands.at(4)),
             order(operands.at(2)),
             order(operands.at(3)),
             scope(operands.at(1))});
  return builder_.CreateLoad(type, expected);
}

// CLK_LOCAL_MEM_FENCE and its like.
uint32_t FunctionReader::fenceFlags(Id semantics) {
  const auto bits = static_cast<uint32_t>(module_.number(semantics));
  constexpr std::pair<spv::MemorySemanticsMask, uint32_t> flags[] = {
      {spv::MemorySemanticsMask::WorkgroupMemory, 1},
      {spv::MemorySemanticsMask::CrossWorkgroupMemory, 2},
      {spv::MemorySemanticsMask::ImageMemory, 4}};
  uint32_t result = 0;
  for (const auto& [bit, flag] : flags)
    if (bits & static_cast<uint32_t>(bit)) result |= flag;
  return result;
}

// The barrier orders what the group's work-items see of each other: only others need fences.
llvm::Value* FunctionReader::emitNamedBarrier(Id barrier, Id memory, Id semantics) {
  llvm::Type* none = builder_.getVoidTy();
  const bool beyond_group = module_.number(memory) < static_cast<uint64_t>(spv::Scope::Workgroup);
  const auto fence = [&] {
    if (beyond_group)
      callTyped("atomic_work_item_fence", none,
                {unsignedNumber(fenceFlags(semantics)), order(semantics), scope(memory)});
  };
  fence();
  llvm::Value* made = callPlain(named_barrier_call.data(), none, {value(barrier)});
  fence();
  return made;
}

llvm::Value* FunctionReader::emitSynchronisation(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  llvm::Type* none = builder_.getVoidTy();
  switch (instruction.op) {
    case Op::OpControlBarrier: {
      const auto execution = static_cast<spv::Scope>(module_.number(operands.at(0)));
      const char* name =
          execution == spv::Scope::Subgroup ? "sub_group_barrier" : "work_group_barrier";
      return callTyped(name, none,
                       {unsignedNumber(fenceFlags(operands.at(2))), scope(operands.at(1))});
    }
    case Op::OpMemoryBarrier:
      return callTyped("atomic_work_item_fence", none,
                       {unsignedNumber(fenceFlags(operands.at(1))), order(operands.at(1)),
                        scope(operands.at(0))});
    case Op::OpNamedBarrierInitialize: {
      llvm::GlobalVariable* barrier = module_.namedBarrier();
      callPlain("__weft_named_barrier_init", none,
                {barrier, number(operands.at(0), builder_.getInt32Ty())});
      return barrier;
    }
    case Op::OpMemoryNamedBarrier:
      return emitNamedBarrier(operands.at(0), operands.at(1), operands.at(2));
    case Op::OpGroupAsyncCopy:
      return call("async_work_group_strided_copy", instruction.type,
                  {argument(operands.at(1)), constantPointer(operands.at(2)), size(operands.at(3)),
                   size(operands.at(4)), argument(operands.at(5))});
    case Op::OpGroupWaitEvents:
      return callTyped("wait_group_events", none,
                       {argument(operands.at(1)), argument(operands.at(2))});
    default:
      return nullptr;
  }
}

llvm::Value* FunctionReader::emitGroup(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const auto prefix = [&] {
    const auto group = static_cast<spv::Scope>(module_.number(operands.at(0)));
    return std::string(group == spv::Scope::Subgroup ? "sub_group_" : "work_group_");
  };
  if (const GroupRow* row = find(groups, instruction.op)) {
    constexpr const char* operations[] = {"reduce_", "scan_inclusive_", "scan_exclusive_"};
    if (operands.at(1) >= std::size(operations)) throw Failure("a group operation");
    return callWithTruth(prefix() + operations[operands[1]] + row->operation, instruction,
                         {valueOrTruth(operands.at(2), row->sign)});
  }
  switch (instruction.op) {
    case Op::OpGroupAll:
    case Op::OpGroupAny: {
      llvm::Value* predicate =
          builder_.CreateZExt(checked::truth(value(operands.at(1))), builder_.getInt32Ty());
      const char* name = instruction.op == Op::OpGroupAll ? "all" : "any";
      return builder_.CreateIsNotNull(
          callTyped(prefix() + name, builder_.getInt32Ty(), {{predicate, spellBuiltin("i")}}));
    }
    case Op::OpGroupBroadcast: {
      Arguments arguments = {argument(operands.at(1))};
      llvm::Value* place = checked::integers(value(operands.at(2)));
      const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(place->getType());
      if (prefix() == "sub_group_") {
        arguments.push_back(smallNumber(operands.at(2), "j"));
        return call("sub_group_broadcast", instruction.type, arguments);
      }
      for (unsigned i = 0; i < (vector ? vector->getNumElements() : 1); ++i) {
        llvm::Value* one = vector ? builder_.CreateExtractElement(place, i) : place;
        arguments.push_back(
            {builder_.CreateZExtOrTrunc(one, builder_.getInt64Ty()), spellBuiltin("m")});
      }
      return call(prefix() + "broadcast", instruction.type, arguments);
    }
    default:
      return nullptr;
  }
}

}  // namespace weft::compiler::spirv
