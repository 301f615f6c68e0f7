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

MemoryAccess readAccess(const Instruction& instruction, size_t first) {
  MemoryAccess access;
  if (instruction.operands.size() <= first) return access;
  const uint32_t bits = instruction.operands[first];
  access.is_volatile = bits & volatile_bit;
  access.nontemporal = bits & nontemporal_bit;
  if (bits & aligned_bit) {
    const uint32_t bytes = instruction.operands.at(first + 1);
    if (!llvm::isPowerOf2_32(bytes)) throw Failure("an alignment of " + std::to_string(bytes));
    access.alignment = llvm::Align(bytes);
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
      return builder_.CreateICmpEQ(value(instruction.operands.at(0)),
                                   value(instruction.operands.at(1)));
    case Op::OpPtrNotEqual:
      return builder_.CreateICmpNE(value(instruction.operands.at(0)),
                                   value(instruction.operands.at(1)));
    case Op::OpPtrDiff:
      return emitPointerDifference(instruction);
    case Op::OpSizeOf: {
      llvm::Type* type = types_.llvm(types_.at(typeOf(instruction.operands.at(0))).element);
      const auto bytes = module_.module().getDataLayout().getTypeAllocSize(type);
      return llvm::ConstantInt::get(llvmType(instruction), bytes);
    }
    case Op::OpGenericPtrMemSemantics: {
      // Of OpenCL C's fence flags, which are these bits further down.
      const Argument pointer{
          generic(instruction.operands.at(0)),
          spellPointer(spellBuiltin("v"),
                       {.address_space = addressSpace(spv::StorageClass::Generic)})};
      llvm::Value* flags = callTyped("get_fence", builder_.getInt32Ty(), {pointer});
      return builder_.CreateShl(builder_.CreateZExtOrTrunc(flags, llvmType(instruction)), 8);
    }
    default:
      return nullptr;
  }
}

llvm::Value* FunctionReader::emitVariable(const Instruction& instruction) {
  const Type& pointer = types_.at(instruction.type);
  const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  llvm::BasicBlock& entry = function_.getEntryBlock();
  builder_.SetInsertPoint(&entry, entry.begin());
  llvm::AllocaInst* variable = builder_.CreateAlloca(types_.llvm(pointer.element));
  if (const auto* alignment =
          module_.instructions().decoration(instruction.result, spv::Decoration::Alignment))
    variable->setAlignment(llvm::Align(alignment->operands.at(0)));
  if (instruction.operands.size() > 1)
    builder_.CreateStore(value(instruction.operands[1]), variable);
  return variable;
}

llvm::Value* FunctionReader::emitLoad(const Instruction& instruction) {
  const MemoryAccess access = readAccess(instruction, 1);
  llvm::Type* type = llvmType(instruction);
  const llvm::Align alignment =
      access.alignment.value_or(module_.module().getDataLayout().getABITypeAlign(type));
  llvm::LoadInst* load = builder_.CreateAlignedLoad(type, value(instruction.operands.at(0)),
                                                    alignment, access.is_volatile);
  if (access.nontemporal) markNontemporal(*load);
  return load;
}

void FunctionReader::emitStore(const Instruction& instruction) {
  const MemoryAccess access = readAccess(instruction, 2);
  llvm::Value* stored = value(instruction.operands.at(1));
  const llvm::Align alignment = access.alignment.value_or(
      module_.module().getDataLayout().getABITypeAlign(stored->getType()));
  llvm::StoreInst* store = builder_.CreateAlignedStore(stored, value(instruction.operands.at(0)),
                                                       alignment, access.is_volatile);
  if (access.nontemporal) markNontemporal(*store);
}

void FunctionReader::emitCopy(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool sized = instruction.op == Op::OpCopyMemorySized;
  const size_t first = sized ? 3 : 2, second = behindAccess(instruction, first);
  const MemoryAccess to = readAccess(instruction, first);
  const MemoryAccess from = second < operands.size() ? readAccess(instruction, second) : to;
  const llvm::DataLayout& layout = module_.module().getDataLayout();
  llvm::Type* type = types_.llvm(types_.at(typeOf(operands.at(0))).element);
  llvm::Value* bytes =
      sized ? value(operands.at(2)) : builder_.getInt64(layout.getTypeAllocSize(type));
  const auto alignment = [&](const MemoryAccess& access) {
    return access.alignment || sized ? access.alignment : layout.getABITypeAlign(type);
  };
  builder_.CreateMemCpy(value(operands.at(0)), alignment(to), value(operands.at(1)),
                        alignment(from), bytes, to.is_volatile || from.is_volatile);
}

llvm::Value* FunctionReader::emitAccessChain(const Instruction& instruction, bool pointer_first) {
  const auto& operands = instruction.operands;
  const Type& base = types_.at(typeOf(operands.at(0)));
  if (base.op != Op::OpTypePointer) throw Failure("an access chain from what is no pointer");
  std::vector<llvm::Value*> indices;
  if (!pointer_first) indices.push_back(builder_.getInt32(0));
  for (size_t i = 1; i < operands.size(); ++i) {
    llvm::Value* index = value(operands[i]);
    // LLVM takes narrow indices for signed ones, as SPIR-V does; members are 32-bit constants.
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(index);
        constant && constant->getValue().isSignedIntN(32) && indices.size() > 0)
      index = builder_.getInt32(static_cast<uint32_t>(constant->getSExtValue()));
    indices.push_back(index);
  }
  llvm::Type* element = types_.llvm(base.element);
  llvm::Value* pointer = value(operands.at(0));
  const bool in_bounds =
      instruction.op == Op::OpInBoundsAccessChain || instruction.op == Op::OpInBoundsPtrAccessChain;
  return in_bounds ? builder_.CreateInBoundsGEP(element, pointer, indices)
                   : builder_.CreateGEP(element, pointer, indices);
}

llvm::Value* FunctionReader::emitPointerDifference(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  llvm::Type* element = types_.llvm(types_.at(typeOf(operands.at(0))).element);
  llvm::Value* count =
      builder_.CreatePtrDiff(element, value(operands.at(0)), value(operands.at(1)));
  return builder_.CreateSExtOrTrunc(count, llvmType(instruction));
}

}  // namespace weft::compiler::spirv
