// Vectors, arrays and structures as values.
#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {
namespace {

using spv::Op;

}  // namespace

llvm::Value* FunctionReader::emitComposite(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  // Members by number; the innermost may be a vector's.
  const auto path = [&](size_t first) {
    return std::vector<unsigned>(operands.begin() + static_cast<ptrdiff_t>(first), operands.end());
  };
  switch (instruction.op) {
    case Op::OpCompositeConstruct:
      return emitConstruct(instruction);
    case Op::OpCompositeExtract: {
      llvm::Value* part = value(operands.at(0));
      for (const unsigned index : path(1)) {
        checked::member(part->getType(), index);
        part = part->getType()->isVectorTy() ? builder_.CreateExtractElement(part, index)
                                             : builder_.CreateExtractValue(part, index);
      }
      return part;
    }
    case Op::OpCompositeInsert: {
      // From the inside out: each level is the outer one with a changed member.
      const std::vector<unsigned> indices = path(2);
      std::vector<llvm::Value*> levels = {value(operands.at(1))};
      for (size_t i = 0; i + 1 < indices.size(); ++i) {
        checked::demand(levels.back()->getType()->isAggregateType(), "a composite is expected");
        checked::member(levels.back()->getType(), indices[i]);
        levels.push_back(builder_.CreateExtractValue(levels.back(), indices[i]));
      }
      llvm::Value* part = value(operands.at(0));
      if (!indices.empty())
        checked::ofType(part, checked::member(levels.back()->getType(), indices.back()));
      for (size_t i = indices.size(); i-- > 0;)
        part = levels[i]->getType()->isVectorTy()
                   ? builder_.CreateInsertElement(levels[i], part, indices[i])
                   : builder_.CreateInsertValue(levels[i], part, indices[i]);
      return part;
    }
    case Op::OpVectorExtractDynamic:
      return builder_.CreateExtractElement(checked::vector(value(operands.at(0))),
                                           checked::integer(value(operands.at(1))));
    case Op::OpVectorInsertDynamic: {
      llvm::Value* whole = checked::vector(value(operands.at(0)));
      llvm::Value* part = checked::ofType(value(operands.at(1)), whole->getType()->getScalarType());
      return builder_.CreateInsertElement(whole, part, checked::integer(value(operands.at(2))));
    }
    case Op::OpVectorShuffle:
      return emitShuffle(instruction);
    case Op::OpCopyObject:
    case Op::OpCopyLogical:
      return value(operands.at(0));
    default:
      return nullptr;
  }
}

llvm::Value* FunctionReader::emitConstruct(const Instruction& instruction) {
  llvm::Type* type = llvmType(instruction);
  llvm::Value* whole = llvm::PoisonValue::get(type);
  unsigned next = 0;
  const auto append = [&](llvm::Value* part) {
    checked::ofType(part, checked::member(type, next));
    whole = type->isVectorTy() ? builder_.CreateInsertElement(whole, part, next)
                               : builder_.CreateInsertValue(whole, part, next);
    ++next;
  };
  for (const Id id : instruction.operands) {
    llvm::Value* part = value(id);
    // A vector may be made of smaller ones.
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(part->getType());
    if (!vector || !type->isVectorTy()) {
      append(part);
      continue;
    }
    for (unsigned i = 0; i < vector->getNumElements(); ++i)
      append(builder_.CreateExtractElement(part, i));
  }
  return whole;
}

llvm::Value* FunctionReader::emitShuffle(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  llvm::Value* first = value(operands.at(0));
  llvm::Value* second = value(operands.at(1));
  const auto* one = llvm::dyn_cast<llvm::FixedVectorType>(first->getType());
  const auto* two = llvm::dyn_cast<llvm::FixedVectorType>(second->getType());
  if (!one || !two) throw Failure("a shuffle of what are no vectors");
  const uint32_t count = one->getNumElements();
  const auto* made = llvm::dyn_cast<llvm::FixedVectorType>(llvmType(instruction));
  checked::demand(made && made->getNumElements() == operands.size() - 2 &&
                      made->getElementType() == one->getElementType() &&
                      made->getElementType() == two->getElementType(),
                  "a shuffle to a vector of another type");
  // Component by component: the vectors may have unlike lengths, which LLVM's shuffles do not take.
  llvm::Value* result = llvm::PoisonValue::get(llvmType(instruction));
  for (uint32_t i = 2; i < operands.size(); ++i) {
    const uint32_t index = operands[i];
    if (index == ~0u) continue;
    if (index >= count + two->getNumElements()) throw Failure("a shuffle beyond its vectors");
    llvm::Value* part = index < count ? builder_.CreateExtractElement(first, index)
                                      : builder_.CreateExtractElement(second, index - count);
    result = builder_.CreateInsertElement(result, part, i - 2);
  }
  return result;
}

}  // namespace weft::compiler::spirv
