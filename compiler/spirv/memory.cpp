// Variables, loads, stores and addresses.
#include <bit>

#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {
namespace {

using spv::Op;

struct MemoryAccess {
  bool is_volatile = false;
  bool nontemporal = false;
  llvm::MaybeAlign alignment;
};

constexpr uint32_t volatile_bit = 1, aligned_bit = 2, nontemporal_bit = 4;

// `zero`: an alignment of 0 stands for one that is not known.
enum class Zero { refused, unknown };
MemoryAccess readAccess(const Instruction& instruction, size_t first, Zero zero = Zero::refused) {
  MemoryAccess access;
  if (instruction.operands.size() <= first) return access;
  const uint32_t bits = instruction.operands[first];
  access.is_volatile = bits & volatile_bit;
  access.nontemporal = bits & nontemporal_bit;
  if (bits & aligned_bit) {
    const uint32_t bytes = instruction.operands.at(first + 1);
    if (bytes != 0 || zero == Zero::refused) access.alignment = checked::alignment(bytes);
  }
  return access;
}

// Since version 1.4 a copy may say first how it writes, then how it reads.
size_t behindAccess(const Instruction& instruction, size_t first) {
  if (instruction.operands.size() <= first) return first;
  constexpr uint32_t with_operand = aligned_bit | 8 | 16;  // and pointers made available, visible
  return first + 1 + static_cast<size_t>(std::popcount(instruction.operands[first] & with_operand));
}

void markNontemporal(llvm::Instruction& made) {
  llvm::LLVMContext& context = made.getContext();
  auto* one =
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1));
  made.setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context, one));
}

}  // namespace

llvm::Value* FunctionReader::emitMemory(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::OpVariable:
      return emitVariable(instruction);
    case Op::OpLoad:
      return emitLoad(instruction);
    case Op::OpStore:
      emitStore(instruction);
      return builder_.getTrue();
    case Op::OpCopyMemory:
    case Op::OpCopyMemorySized:
      emitCopy(instruction);
      return builder_.getTrue();
    case Op::OpAccessChain:
    case Op::OpInBoundsAccessChain:
      return emitAccessChain(instruction, false);
    case Op::OpPtrAccessChain:
    case Op::OpInBoundsPtrAccessChain:
      return emitAccessChain(instruction, true);
    case Op::OpPtrEqual:
    case Op::OpPtrNotEqual: {
      llvm::Value* left = checked::pointer(value(instruction.operands.at(0)));
      llvm::Value* right = checked::ofType(value(instruction.operands.at(1)), left->getType());
      return instruction.op == Op::OpPtrEqual ? builder_.CreateICmpEQ(left, right)
                                              : builder_.CreateICmpNE(left, right);
    }
    case Op::OpPtrDiff:
      return emitPointerDifference(instruction);
    case Op::OpSizeOf: {
      const auto bytes =
          module_.module().getDataLayout().getTypeAllocSize(pointee(instruction.operands.at(0)));
      checked::demand(llvmType(instruction)->isIntegerTy(), "a size that is no integer");
      return llvm::ConstantInt::get(llvmType(instruction), bytes);
    }
    case Op::OpGenericPtrMemSemantics: {
      // Of OpenCL C's fence flags, which are these bits further down.
      const Argument pointer{
          generic(instruction.operands.at(0)),
          spellPointer(spellBuiltin("v"),
                       {.address_space = addressSpace(spv::StorageClass::Generic)})};
      llvm::Value* flags = callTyped("get_fence", builder_.getInt32Ty(), {pointer});
      checked::demand(llvmType(instruction)->isIntegerTy(), "semantics that are no integer");
      return builder_.CreateShl(builder_.CreateZExtOrTrunc(flags, llvmType(instruction)), 8);
    }
    default:
      return nullptr;
  }
}

// What a pointer points to, where that is in memory.
llvm::Type* FunctionReader::pointee(Id pointer) const {
  const Type& type = types_.at(typeOf(pointer));
  if (type.op != Op::OpTypePointer) throw Failure("a pointer is expected");
  return checked::sized(types_.llvm(type.element));
}

llvm::Value* FunctionReader::emitVariable(const Instruction& instruction) {
  const Type& pointer = types_.at(instruction.type);
  const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  llvm::BasicBlock& entry = function_.getEntryBlock();
  builder_.SetInsertPoint(&entry, entry.begin());
  llvm::AllocaInst* variable = builder_.CreateAlloca(checked::sized(types_.llvm(pointer.element)));
  if (const auto* alignment =
          module_.instructions().decoration(instruction.result, spv::Decoration::Alignment))
    variable->setAlignment(checked::alignment(alignment->operands.at(0)));
  if (instruction.operands.size() > 1)
    builder_.CreateStore(
        checked::ofType(value(instruction.operands[1]), variable->getAllocatedType()), variable);
  return variable;
}

llvm::Value* FunctionReader::emitLoad(const Instruction& instruction) {
  const MemoryAccess access = readAccess(instruction, 1);
  llvm::Type* type = checked::sized(llvmType(instruction));
  const llvm::Align alignment =
      access.alignment.value_or(module_.module().getDataLayout().getABITypeAlign(type));
  llvm::LoadInst* load = builder_.CreateAlignedLoad(
      type, checked::pointer(value(instruction.operands.at(0))), alignment, access.is_volatile);
  if (access.nontemporal) markNontemporal(*load);
  return load;
}

void FunctionReader::emitStore(const Instruction& instruction) {
  const MemoryAccess access = readAccess(instruction, 2);
  llvm::Value* stored = value(instruction.operands.at(1));
  const llvm::Align alignment = access.alignment.value_or(
      module_.module().getDataLayout().getABITypeAlign(checked::sized(stored->getType())));
  llvm::StoreInst* store = builder_.CreateAlignedStore(
      stored, checked::pointer(value(instruction.operands.at(0))), alignment, access.is_volatile);
  if (access.nontemporal) markNontemporal(*store);
}

void FunctionReader::emitCopy(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool sized = instruction.op == Op::OpCopyMemorySized;
  const size_t first = sized ? 3 : 2, second = behindAccess(instruction, first);
  // LLVM's translator writes 0 for copies of bytes that LLVM knows no alignment of.
  const Zero zero = sized ? Zero::unknown : Zero::refused;
  const MemoryAccess to = readAccess(instruction, first, zero);
  const MemoryAccess from = second < operands.size() ? readAccess(instruction, second, zero) : to;
  const llvm::DataLayout& layout = module_.module().getDataLayout();
  llvm::Type* type = sized ? nullptr : pointee(operands.at(0));
  llvm::Value* bytes = sized ? checked::integer(value(operands.at(2)))
                             : builder_.getInt64(layout.getTypeAllocSize(type));
  llvm::Value* destination = checked::pointer(value(operands.at(0)));
  llvm::Value* source = checked::pointer(value(operands.at(1)));
  const auto alignment = [&](const MemoryAccess& access) {
    return access.alignment || sized ? access.alignment : layout.getABITypeAlign(type);
  };
  builder_.CreateMemCpy(destination, alignment(to), source, alignment(from), bytes,
                        to.is_volatile || from.is_volatile);
}

llvm::Value* FunctionReader::emitAccessChain(const Instruction& instruction, bool pointer_first) {
  const auto& operands = instruction.operands;
  const Type& base = types_.at(typeOf(operands.at(0)));
  if (base.op != Op::OpTypePointer) throw Failure("an access chain from what is no pointer");
  std::vector<llvm::Value*> indices;
  if (!pointer_first) indices.push_back(builder_.getInt32(0));
  for (size_t i = 1; i < operands.size(); ++i) {
    llvm::Value* index = checked::integer(value(operands[i]));
    // LLVM takes narrow indices for signed ones, as SPIR-V does; members are 32-bit constants.
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(index);
        constant && constant->getValue().isSignedIntN(32) && indices.size() > 0)
      index = builder_.getInt32(static_cast<uint32_t>(constant->getSExtValue()));
    indices.push_back(index);
  }
  llvm::Type* element = checked::sized(types_.llvm(base.element));
  llvm::Value* pointer = checked::pointer(value(operands.at(0)));
  checked::demand(llvm::GetElementPtrInst::getIndexedType(element, indices),
                  "an access chain to what is not there");
  const bool in_bounds =
      instruction.op == Op::OpInBoundsAccessChain || instruction.op == Op::OpInBoundsPtrAccessChain;
  return in_bounds ? builder_.CreateInBoundsGEP(element, pointer, indices)
                   : builder_.CreateGEP(element, pointer, indices);
}

llvm::Value* FunctionReader::emitPointerDifference(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  llvm::Value* left = checked::pointer(value(operands.at(0)));
  llvm::Value* right = checked::ofType(value(operands.at(1)), left->getType());
  llvm::Value* count = builder_.CreatePtrDiff(pointee(operands[0]), left, right);
  checked::demand(llvmType(instruction)->isIntegerTy(), "a difference that is no integer");
  return builder_.CreateSExtOrTrunc(count, llvmType(instruction));
}

}  // namespace weft::compiler::spirv
