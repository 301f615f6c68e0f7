#include "compiler/gpu/unaligned.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace weft::compiler {
namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr uint64_t word_bytes = 4;

// Null if the access may stay as it is.
llvm::FixedVectorType* unalignedVector(const llvm::DataLayout& layout, llvm::Type* type,
                                       llvm::Align alignment) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector || alignment >= layout.getPrefTypeAlign(vector)) return nullptr;
  // Elements that are not whole bytes have no addresses.
  return vector->getScalarSizeInBits() % 8 == 0 ? vector : nullptr;
}

// One access to memory after another, from the lowest address up.
template <class Access>
void forEachElement(Builder& builder, Value* address, llvm::FixedVectorType* type,
                    llvm::Align alignment, Access&& access) {
  const uint64_t bytes = type->getScalarSizeInBits() / 8;
  for (unsigned i = 0; i < type->getNumElements(); ++i)
    access(i, builder.CreateConstGEP1_64(builder.getInt8Ty(), address, i * bytes),
           llvm::commonAlignment(alignment, i * bytes));
}

void split(llvm::LoadInst& load, llvm::FixedVectorType* type) {
  Builder builder(&load);
  Value* result = llvm::PoisonValue::get(type);
  forEachElement(builder, load.getPointerOperand(), type, load.getAlign(),
                 [&](unsigned i, Value* address, llvm::Align alignment) {
                   Value* element = builder.CreateAlignedLoad(type->getElementType(), address,
                                                              alignment, load.isVolatile());
                   result = builder.CreateInsertElement(result, element, i);
                 });
  load.replaceAllUsesWith(result);
  load.eraseFromParent();
}

// A word's chars, which most often are aligned as the word all the same: pixels, for one. Then they
// are stored as one.
void storeAligned(llvm::StoreInst& store, llvm::FixedVectorType* type) {
  const llvm::DataLayout& layout = store.getDataLayout();
  const auto bytes = layout.getTypeStoreSize(type).getFixedValue();
  if (type->getScalarSizeInBits() != 8 || bytes != word_bytes || store.isVolatile()) return;
  Builder builder(&store);
  Value* const address = store.getPointerOperand();
  Value* const number = builder.CreatePtrToInt(address, layout.getIntPtrType(address->getType()));
  Value* const rest = builder.CreateAnd(number, word_bytes - 1);
  llvm::Instruction* aligned = nullptr;
  llvm::Instruction* other = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(builder.CreateIsNull(rest), &store, &aligned, &other);
  Builder(aligned).CreateAlignedStore(store.getValueOperand(), address, llvm::Align(word_bytes));
  store.moveBefore(other);
}

void split(llvm::StoreInst& store, llvm::FixedVectorType* type) {
  storeAligned(store, type);
  Builder builder(&store);
  forEachElement(builder, store.getPointerOperand(), type, store.getAlign(),
                 [&](unsigned i, Value* address, llvm::Align alignment) {
                   Value* element = builder.CreateExtractElement(store.getValueOperand(), i);
                   builder.CreateAlignedStore(element, address, alignment, store.isVolatile());
                 });
  store.eraseFromParent();
}

}  // namespace

void splitUnalignedVectors(llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  llvm::SmallVector<llvm::Instruction*> accesses;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction)) accesses.push_back(&instruction);
  for (llvm::Instruction* access : accesses) {
    auto* const store = llvm::dyn_cast<llvm::StoreInst>(access);
    auto* const type = unalignedVector(layout, llvm::getLoadStoreType(access),
                                       llvm::getLoadStoreAlignment(access));
    if (!type) continue;
    if (store)
      split(*store, type);
    else
      split(*llvm::cast<llvm::LoadInst>(access), type);
  }
}

}  // namespace weft::compiler
