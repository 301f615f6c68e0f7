#include "compiler/gpu/unaligned.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

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

void split(llvm::StoreInst& store, llvm::FixedVectorType* type) {
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
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
        if (auto* type = unalignedVector(layout, load->getType(), load->getAlign()))
          split(*load, type);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        llvm::Type* stored = store->getValueOperand()->getType();
        if (auto* type = unalignedVector(layout, stored, store->getAlign())) split(*store, type);
      }
    }
}

}  // namespace weft::compiler
