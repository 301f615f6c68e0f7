// Device-side enqueue, as calls of the builtin library's functions (cl/device_queue.cl).
#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {
namespace {

using spv::Op;

constexpr unsigned generic_space = 4;

struct QueryRow {
  Op op;
  const char* name;
  size_t invoked;  // the operand that is the function
  enum class Takes : uint8_t { kernel, kernel_and_block, range, count } takes;
};

constexpr QueryRow queries[] = {
    {Op::OpGetKernelWorkGroupSize, "__get_kernel_work_group_size_impl", 0,
     QueryRow::Takes::kernel_and_block},
    {Op::OpGetKernelPreferredWorkGroupSizeMultiple,
     "__get_kernel_preferred_work_group_size_multiple_impl", 0, QueryRow::Takes::kernel_and_block},
    {Op::OpGetKernelNDrangeSubGroupCount, "__get_kernel_sub_group_count_for_ndrange_impl", 1,
     QueryRow::Takes::range},
    {Op::OpGetKernelNDrangeMaxSubGroupSize, "__get_kernel_max_sub_group_size_for_ndrange_impl", 1,
     QueryRow::Takes::range},
    {Op::OpGetKernelLocalSizeForSubgroupCount, "__weft_kernel_sub_group_local_size", 1,
     QueryRow::Takes::count},
    {Op::OpGetKernelMaxNumSubgroups, "__weft_kernel_max_sub_groups", 0, QueryRow::Takes::kernel},
};

// OpenCL C's ndrange_t.
void checkRange(llvm::Type* type) {
  llvm::LLVMContext& context = type->getContext();
  auto* sizes = llvm::ArrayType::get(llvm::Type::getInt64Ty(context), 3);
  if (type != llvm::StructType::get(llvm::Type::getInt32Ty(context), sizes, sizes, sizes))
    throw Failure("a range that is not of the type that ranges have");
}

llvm::Constant* address(llvm::Function* kernel) {
  return llvm::ConstantExpr::getAddrSpaceCast(
      kernel, llvm::PointerType::get(kernel->getContext(), generic_space));
}

}  // namespace

// The function itself is an ordinary one, which may be called, too, and whose first parameter
// points where its author likes.
llvm::Function* Reader::blockKernel(Id invoked) {
  llvm::Function*& kernel = block_kernels_[invoked];
  if (kernel) return kernel;
  auto* function = llvm::dyn_cast_or_null<llvm::Function>(value(invoked));
  if (!function || function->arg_empty() || !function->getReturnType()->isVoidTy())
    throw Failure("what is enqueued is no function with an argument and without a result");
  llvm::SmallVector<llvm::Type*> parameters;
  for (const llvm::Argument& argument : function->args()) {
    const bool first = argument.getArgNo() == 0;
    if (!argument.getType()->isPointerTy() ||
        (!first && argument.getType()->getPointerAddressSpace() !=
                       addressSpace(spv::StorageClass::Workgroup)))
      throw Failure("a function that is enqueued takes what cannot be given to it");
    parameters.push_back(first ? llvm::PointerType::get(context_, generic_space)
                               : argument.getType());
  }
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_), parameters, false);
  kernel = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "block_kernel",
                                  module_.get());
  kernel->setCallingConv(llvm::CallingConv::SPIR_KERNEL);
  kernel->setConvergent();
  kernel->setDoesNotThrow();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "", kernel));
  llvm::SmallVector<llvm::Value*> arguments;
  for (llvm::Argument& argument : kernel->args())
    arguments.push_back(builder.CreateAddrSpaceCast(
        &argument, function->getFunctionType()->getParamType(argument.getArgNo())));
  builder.CreateCall(function, arguments)->setCallingConv(function->getCallingConv());
  builder.CreateRetVoid();
  return kernel;
}

llvm::Value* FunctionReader::callPlain(const char* name, llvm::Type* result,
                                       llvm::ArrayRef<llvm::Value*> values) {
  llvm::SmallVector<llvm::Type*> types;
  for (const llvm::Value* value : values) types.push_back(value->getType());
  llvm::Function* function = module_.function(name, llvm::FunctionType::get(result, types, false));
  llvm::CallInst* made = builder_.CreateCall(function, values);
  made->setCallingConv(function->getCallingConv());
  made->setDoesNotThrow();
  return made;
}

llvm::AllocaInst* FunctionReader::variable(llvm::Type* type) {
  const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  llvm::BasicBlock& entry = function_.getEntryBlock();
  builder_.SetInsertPoint(&entry, entry.begin());
  return builder_.CreateAlloca(type);
}

llvm::Value* FunctionReader::generic(Id pointer) {
  llvm::Value* given = value(pointer);
  llvm::Type* type = builder_.getPtrTy(generic_space);
  if (!given->getType()->isPointerTy()) throw Failure("a pointer is expected");
  // A null pointer is one wherever it points.
  if (llvm::isa<llvm::ConstantPointerNull>(given)) return llvm::Constant::getNullValue(type);
  return builder_.CreateAddrSpaceCast(given, type);
}

// A number of any width.
llvm::Value* FunctionReader::number(Id id, llvm::Type* type) {
  llvm::Value* given = value(id);
  if (!given->getType()->isIntegerTy()) throw Failure("an integer is expected");
  return builder_.CreateZExtOrTrunc(given, type);
}

// The specification says a structure; translators give its address.
llvm::Value* FunctionReader::rangeAddress(Id id) {
  llvm::Value* given = value(id);
  if (given->getType()->isPointerTy())
    return builder_.CreateAddrSpaceCast(given, builder_.getPtrTy());
  checkRange(given->getType());
  llvm::AllocaInst* range = variable(given->getType());
  builder_.CreateStore(given, range);
  return range;
}

// As an array. Here, too, translators give addresses.
llvm::Value* FunctionReader::localSizes(std::span<const Id> sizes) {
  llvm::Type* wide = builder_.getInt64Ty();
  if (sizes.empty()) return llvm::ConstantPointerNull::get(builder_.getPtrTy());
  auto* type = llvm::ArrayType::get(wide, sizes.size());
  llvm::AllocaInst* array = variable(type);
  for (size_t i = 0; i < sizes.size(); ++i) {
    llvm::Value* size = value(sizes[i])->getType()->isPointerTy()
                            ? builder_.CreateLoad(wide, value(sizes[i]))
                            : number(sizes[i], wide);
    builder_.CreateStore(
        size, builder_.CreateConstInBoundsGEP2_64(type, array, 0, static_cast<uint64_t>(i)));
  }
  return array;
}

llvm::Value* FunctionReader::emitEnqueueKernel(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  constexpr size_t fixed = 10;
  if (operands.size() < fixed) throw Failure("an enqueue without all of its operands");
  if (types_.at(typeOf(operands[0])).op != Op::OpTypeQueue) throw Failure("a queue is expected");
  llvm::Type* word = builder_.getInt32Ty();
  const std::span<const Id> sizes = std::span(operands).subspan(fixed);
  return callPlain("__weft_enqueue_kernel", word,
                   {value(operands[0]), number(operands[1], word), rangeAddress(operands[2]),
                    number(operands[3], word), generic(operands[4]), generic(operands[5]),
                    address(module_.blockKernel(operands[6])), generic(operands[7]),
                    number(operands[8], word), number(operands[9], word),
                    builder_.getInt32(static_cast<uint32_t>(sizes.size())), localSizes(sizes)});
}

llvm::Value* FunctionReader::emitEnqueueMarker(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const Id event = types_.at(typeOf(operands.at(2))).element;
  const Spelling element = types_.spelling(event, Sign::signed_);
  return callTyped(
      "enqueue_marker", builder_.getInt32Ty(),
      {argument(operands.at(0)),
       {number(operands.at(1), builder_.getInt32Ty()), spellBuiltin("j")},
       {generic(operands[2]),
        spellPointer(element, {.address_space = generic_space, .constant = true})},
       {generic(operands.at(3)), spellPointer(element, {.address_space = generic_space})}});
}

// The block itself is not looked at.
llvm::Value* FunctionReader::emitKernelQuery(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  for (const QueryRow& row : queries) {
    if (row.op != instruction.op) continue;
    llvm::Value* kernel = address(module_.blockKernel(operands.at(row.invoked)));
    llvm::Value* block = llvm::Constant::getNullValue(builder_.getPtrTy(generic_space));
    llvm::Type* word = builder_.getInt32Ty();
    switch (row.takes) {
      case QueryRow::Takes::kernel:
        return callPlain(row.name, word, {kernel});
      case QueryRow::Takes::kernel_and_block:
        return callPlain(row.name, word, {kernel, block});
      case QueryRow::Takes::range:
        return callPlain(row.name, word, {rangeAddress(operands[0]), kernel, block});
      case QueryRow::Takes::count:
        return callPlain(row.name, word, {number(operands[0], word), kernel});
    }
  }
  return nullptr;
}

// Sizes that are not given are 1, but those of work-groups that the device is to choose 0.
llvm::Value* FunctionReader::emitRange(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  constexpr unsigned members[] = {2, 3, 1};  // of the operands: global size, local size, offset
  constexpr unsigned local = 3, offset = 1;
  llvm::Type* wide = builder_.getInt64Ty();
  checkRange(llvmType(instruction));
  llvm::Value* range = llvm::PoisonValue::get(llvmType(instruction));
  unsigned dimensions = 1;
  for (size_t i = 0; i < std::size(members); ++i) {
    llvm::Value* given = value(operands.at(i));
    const auto* array = llvm::dyn_cast<llvm::ArrayType>(given->getType());
    checked::demand((array ? array->getElementType() : given->getType())->isIntegerTy(),
                    "a range of what are no integers");
    dimensions = array ? static_cast<unsigned>(array->getNumElements()) : 1;
    if (dimensions < 1 || dimensions > 3) throw Failure("a range of more than three dimensions");
    llvm::Value* first = nullptr;
    for (unsigned d = 0; d < 3; ++d) {
      llvm::Value* size = nullptr;
      if (d < dimensions)
        size =
            builder_.CreateZExtOrTrunc(array ? builder_.CreateExtractValue(given, d) : given, wide);
      else if (members[i] == local)
        size = builder_.CreateZExt(builder_.CreateIsNotNull(first), wide);
      else
        size = builder_.getInt64(members[i] == offset ? 0 : 1);
      if (d == 0) first = size;
      range = builder_.CreateInsertValue(range, size, {members[i], d});
    }
  }
  return builder_.CreateInsertValue(range, builder_.getInt32(dimensions), 0);
}

llvm::Value* FunctionReader::emitEvent(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  llvm::Type* none = builder_.getVoidTy();
  const auto event = [&] { return argument(operands.at(0)); };
  switch (instruction.op) {
    case Op::OpCreateUserEvent:
      return call("create_user_event", instruction.type, {});
    case Op::OpRetainEvent:
      return callTyped("retain_event", none, {event()});
    case Op::OpReleaseEvent:
      return callTyped("release_event", none, {event()});
    case Op::OpIsValidEvent:
      return callTyped("is_valid_event", builder_.getInt1Ty(), {event()});
    case Op::OpSetUserEventStatus:
      return callTyped("set_user_event_status", none, {event(), argument(operands.at(1))});
    case Op::OpCaptureEventProfilingInfo: {
      const Spelling any = spellPointer(spellBuiltin("v"), {.address_space = 1});
      return callTyped("capture_event_profiling_info", none,
                       {event(), argument(operands.at(1)), {value(operands.at(2)), any}});
    }
    default:
      return nullptr;
  }
}

llvm::Value* FunctionReader::emitDeviceQueue(const Instruction& instruction) {
  if (llvm::Value* made = emitEvent(instruction)) return made;
  if (llvm::Value* made = emitKernelQuery(instruction)) return made;
  switch (instruction.op) {
    case Op::OpGetDefaultQueue:
      return call("get_default_queue", instruction.type, {});
    case Op::OpBuildNDRange:
      return emitRange(instruction);
    case Op::OpEnqueueKernel:
      return emitEnqueueKernel(instruction);
    case Op::OpEnqueueMarker:
      return emitEnqueueMarker(instruction);
    default:
      return nullptr;
  }
}

}  // namespace weft::compiler::spirv
