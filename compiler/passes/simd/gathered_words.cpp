#include "compiler/passes/simd/gathered_words.h"

#include <bit>

#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

using llvm::Value;

constexpr uint64_t word_bytes = 4;

// The words that elements lie in, and from which bit on.
struct Words {
  Value* pointers;
  Value* bits;  // i64
};

Words findWords(llvm::IRBuilder<>& builder, Value* pointers, uint64_t bytes) {
  const llvm::DataLayout& layout = builder.GetInsertBlock()->getDataLayout();
  const auto splat = [&](Value* number) {
    return builder.CreateVectorSplat(
        llvm::cast<llvm::VectorType>(pointers->getType())->getElementCount(), number);
  };
  const auto bitsOf = [&](Value* places, uint64_t unit) {
    return builder.CreateShl(
        builder.CreateAnd(places, splat(builder.getInt64(word_bytes / unit - 1))),
        splat(builder.getInt64(std::countr_zero(8 * unit))));
  };
  auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(pointers);
  const bool of_one_base = element && element->getNumIndices() == 1 &&
                           !element->getPointerOperand()->getType()->isVectorTy() &&
                           element->getOperand(1)->getType()->isVectorTy();
  const uint64_t unit =
      of_one_base ? layout.getTypeAllocSize(element->getSourceElementType()).getFixedValue() : 0;
  // Counted in elements of the base, the words' places have as few bits as those of the elements:
  // processors gather more at once then.
  if (unit == 1 || (unit == bytes && unit < word_bytes)) {
    Value* base = element->getPointerOperand();
    Value* before =
        builder.CreateAnd(builder.CreatePtrToInt(base, builder.getInt64Ty()), word_bytes - 1);
    Value* index = element->getOperand(1);
    index =
        builder.CreateSExtOrTrunc(index, index->getType()->getWithNewType(builder.getInt64Ty()));
    Value* places =
        builder.CreateAdd(index, splat(builder.CreateLShr(before, std::countr_zero(unit))));
    Value* words =
        builder.CreateAShr(places, splat(builder.getInt64(std::countr_zero(word_bytes / unit))));
    base = builder.CreateGEP(builder.getInt8Ty(), base, builder.CreateNeg(before));
    return {builder.CreateGEP(builder.getInt32Ty(), base, words), bitsOf(places, unit)};
  }
  Value* places =
      builder.CreatePtrToInt(pointers, pointers->getType()->getWithNewType(builder.getInt64Ty()));
  Value* words = builder.CreateAnd(places, splat(builder.getInt64(~(word_bytes - 1))));
  return {builder.CreateIntToPtr(words, pointers->getType()), bitsOf(places, 1)};
}

}  // namespace

bool comeInWords(uint64_t bytes, unsigned address_space) {
  constexpr unsigned global_space = 1, constant_space = 2, local_space = 3;
  return bytes < word_bytes && (address_space == global_space || address_space == constant_space ||
                                address_space == local_space);
}

Value* gatherFromWords(llvm::IRBuilder<>& builder, llvm::Type* element, Value* pointers,
                       Value* mask) {
  auto* all = llvm::cast<llvm::VectorType>(pointers->getType());
  const unsigned bits = element->getScalarSizeInBits();
  const Words words = findWords(builder, pointers, bits / 8);
  auto* numbers = llvm::VectorType::get(builder.getInt32Ty(), all->getElementCount());
  Value* found = builder.CreateMaskedGather(numbers, words.pointers, llvm::Align(word_bytes), mask);
  found = builder.CreateLShr(found, builder.CreateTrunc(words.bits, numbers));
  found = builder.CreateTrunc(
      found, llvm::VectorType::get(builder.getIntNTy(bits), all->getElementCount()));
  return builder.CreateBitCast(found, llvm::VectorType::get(element, all->getElementCount()));
}

}  // namespace weft::compiler
