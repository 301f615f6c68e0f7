// SPV_INTEL_subgroups: shuffles of any type, and blocks of memory that a sub-group moves together.
#include <algorithm>

#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {
namespace {

using spv::Op;

// "The pointer must be 32-bit aligned", whatever is there.
llvm::Align alignmentIn(llvm::Type* type) {
  return llvm::Align(std::min<uint64_t>(4, type->getScalarSizeInBits() / 8));
}

}  // namespace

llvm::Value* FunctionReader::subGroupNumber(const char* function) {
  return callTyped(function, builder_.getInt32Ty(), {});
}

// What the work-item with that number in the sub-group has as `data`, element by element: OpenCL C
// has the function for scalars.
llvm::Value* FunctionReader::shuffle(Id data, llvm::Value* lane) {
  llvm::Value* given = value(data);
  checked::ofType(lane, builder_.getInt32Ty());
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(given->getType());
  const Type& type = types_.at(typeOf(data));
  const Spelling spelling = types_.spelling(vector ? type.element : typeOf(data), Sign::signed_);
  const auto one = [&](llvm::Value* element) {
    return callTyped("sub_group_shuffle", element->getType(),
                     {{element, spelling}, {lane, spellBuiltin("j")}});
  };
  if (!vector) return one(given);
  llvm::Value* result = llvm::PoisonValue::get(given->getType());
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    result = builder_.CreateInsertElement(result, one(builder_.CreateExtractElement(given, i)), i);
  return result;
}

// The same of two values one behind the other, `lane` from 0 to twice the sub-group's size.
llvm::Value* FunctionReader::shuffleOfTwo(Id low, Id high, llvm::Value* lane) {
  checked::ofType(value(high), value(low)->getType());
  llvm::Value* size = subGroupNumber("get_max_sub_group_size");
  llvm::Value* is_low = builder_.CreateICmpULT(lane, size);
  llvm::Value* within = builder_.CreateSelect(is_low, lane, builder_.CreateSub(lane, size));
  return builder_.CreateSelect(is_low, shuffle(low, within), shuffle(high, within));
}

// Calls `access(address, i)` for the element with number i of what this work-item has of a block:
// the sub-group's work-items have neighbours, the next element is a sub-group further.
template <class F>
void FunctionReader::forEachOfBlock(Id pointer, llvm::Type* type, F&& access) {
  llvm::Type* element = type->getScalarType();
  checked::demand(element->isIntegerTy() || element->isFloatingPointTy(),
                  "a block of what are no numbers");
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  llvm::Value* lane = subGroupNumber("get_sub_group_local_id");
  llvm::Value* size = subGroupNumber("get_max_sub_group_size");
  for (unsigned i = 0; i < (vector ? vector->getNumElements() : 1); ++i) {
    llvm::Value* place = builder_.CreateAdd(lane, builder_.CreateMul(size, builder_.getInt32(i)));
    access(builder_.CreateGEP(element, checked::pointer(value(pointer)),
                              builder_.CreateZExt(place, builder_.getInt64Ty())),
           i);
  }
}

llvm::Value* FunctionReader::emitBlockRead(const Instruction& instruction) {
  llvm::Type* type = llvmType(instruction);
  llvm::Value* result = llvm::PoisonValue::get(type);
  forEachOfBlock(instruction.operands.at(0), type, [&](llvm::Value* address, unsigned i) {
    llvm::Value* loaded =
        builder_.CreateAlignedLoad(type->getScalarType(), address, alignmentIn(type));
    result = type->isVectorTy() ? builder_.CreateInsertElement(result, loaded, i) : loaded;
  });
  return result;
}

void FunctionReader::emitBlockWrite(const Instruction& instruction) {
  llvm::Value* data = value(instruction.operands.at(1));
  llvm::Type* type = data->getType();
  forEachOfBlock(instruction.operands.at(0), type, [&](llvm::Value* address, unsigned i) {
    llvm::Value* stored = type->isVectorTy() ? builder_.CreateExtractElement(data, i) : data;
    builder_.CreateAlignedStore(stored, address, alignmentIn(type));
  });
}

llvm::Value* FunctionReader::emitIntelSubGroup(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const auto lane = [&] { return subGroupNumber("get_sub_group_local_id"); };
  const auto places = [&](size_t i) {
    return checked::ofType(value(operands.at(i)), builder_.getInt32Ty());
  };
  switch (instruction.op) {
    case Op::OpSubgroupShuffleINTEL:
      return shuffle(operands.at(0), value(operands.at(1)));
    case Op::OpSubgroupShuffleXorINTEL:
      return shuffle(operands.at(0), builder_.CreateXor(lane(), places(1)));
    // "... Current for the invocation with [the] sum of this one's and Delta, [or] Next [where that
    // is past the end]."
    case Op::OpSubgroupShuffleDownINTEL:
      return shuffleOfTwo(operands.at(0), operands.at(1), builder_.CreateAdd(lane(), places(2)));
    // Previous is before Current, and the place counts from the start of Previous.
    case Op::OpSubgroupShuffleUpINTEL:
      return shuffleOfTwo(
          operands.at(0), operands.at(1),
          builder_.CreateSub(builder_.CreateAdd(lane(), subGroupNumber("get_max_sub_group_size")),
                             places(2)));
    case Op::OpSubgroupBlockReadINTEL:
      return emitBlockRead(instruction);
    case Op::OpSubgroupBlockWriteINTEL:
      emitBlockWrite(instruction);
      return builder_.getTrue();
    default:
      return nullptr;
  }
}

}  // namespace weft::compiler::spirv
