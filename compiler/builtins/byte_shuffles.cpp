#include "compiler/builtins/byte_shuffles.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace weft::compiler {
namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr unsigned register_bytes = 16;

unsigned elementsOf(const Value& vector) {
  return llvm::cast<llvm::FixedVectorType>(vector.getType())->getNumElements();
}

// `vector` with `count` elements: its first ones, or itself and something behind it.
Value* resized(Builder& builder, Value* vector, unsigned count) {
  llvm::SmallVector<int> places;
  for (unsigned i = 0; i < count; ++i)
    places.push_back(i < elementsOf(*vector) ? static_cast<int>(i) : llvm::PoisonMaskElem);
  return places.size() == elementsOf(*vector) ? vector
                                              : builder.CreateShuffleVector(vector, places);
}

Value* each(Value* vector, uint64_t value) {
  return llvm::ConstantInt::get(vector->getType(), value);
}

// What says for each byte which one of a register it is.
Value* bytePlaces(Builder& builder, Value* places, unsigned count) {
  constexpr uint64_t both = 0x0202, upper = 0x0100;
  places = builder.CreateAnd(places, each(places, count - 1));
  auto* bytes = llvm::FixedVectorType::get(builder.getInt8Ty(), register_bytes);
  if (places->getType()->getScalarSizeInBits() == 8)
    return resized(builder, places, register_bytes);
  places = builder.CreateAdd(builder.CreateMul(places, each(places, both)), each(places, upper));
  return builder.CreateBitCast(places, bytes);
}

Value* shuffled(Builder& builder, Value* data, Value* places, unsigned count) {
  const unsigned elements = register_bytes * 8 / data->getType()->getScalarSizeInBits();
  llvm::Type* element = data->getType()->getScalarType();
  data = resized(builder, data, elements);
  Value* order = bytePlaces(builder, places, count);
  Value* result = builder.CreateIntrinsic(llvm::Intrinsic::x86_ssse3_pshuf_b_128, {},
                                          {builder.CreateBitCast(data, order->getType()), order});
  result = builder.CreateBitCast(result, llvm::FixedVectorType::get(element, elements));
  return resized(builder, result, elementsOf(*places));
}

bool hasInstruction(const llvm::Type* type) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector) return false;
  const unsigned count = vector->getNumElements();
  return vector->getElementType()->isIntegerTy(8)
             ? count == 8 || count == 16
             : vector->getElementType()->isIntegerTy(16) && count == 8;
}

void lower(llvm::CallInst& call) {
  Builder builder(&call);
  Value* places = call.getArgOperand(call.arg_size() - 1);
  const unsigned count = elementsOf(*call.getArgOperand(0));
  Value* result = shuffled(builder, call.getArgOperand(0), places, count);
  if (call.arg_size() == 3) {
    Value* second =
        builder.CreateICmpNE(builder.CreateAnd(places, each(places, count)), each(places, 0));
    result = builder.CreateSelect(second, shuffled(builder, call.getArgOperand(1), places, count),
                                  result);
  }
  call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

}  // namespace

void lowerByteShuffles(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const llvm::StringRef name = function.getName();
    if (!function.isDeclaration() ||
        !(name.starts_with("_Z7shuffleDv") || name.starts_with("_Z8shuffle2Dv")) ||
        !llvm::all_of(function.args(),
                      [](const llvm::Argument& a) { return hasInstruction(a.getType()); }))
      continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users()))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) lower(*call);
  }
}

}  // namespace weft::compiler
