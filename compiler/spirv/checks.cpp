#include "compiler/spirv/checks.h"

namespace weft::compiler::spirv::checked {
namespace {

unsigned components(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getNumElements() : 0;
}

}  // namespace

void demand(bool kept, const char* otherwise) {
  if (!kept) throw Failure(otherwise);
}

llvm::Value* integers(llvm::Value* value) {
  demand(value->getType()->isIntOrIntVectorTy(), "an integer is expected");
  return value;
}

llvm::Value* floats(llvm::Value* value) {
  demand(value->getType()->isFPOrFPVectorTy(), "a floating-point number is expected");
  return value;
}

llvm::Value* integer(llvm::Value* value) {
  demand(value->getType()->isIntegerTy(), "one integer is expected");
  return value;
}

llvm::Value* truth(llvm::Value* value) {
  demand(value->getType()->isIntegerTy(1), "a truth value is expected");
  return value;
}

llvm::Value* pointer(llvm::Value* value) {
  demand(value->getType()->isPointerTy(), "a pointer is expected");
  return value;
}

llvm::Value* vector(llvm::Value* value) {
  demand(value->getType()->isVectorTy(), "a vector is expected");
  return value;
}

llvm::Value* ofType(llvm::Value* value, const llvm::Type* type) {
  demand(value->getType() == type, "a value of another type is expected");
  return value;
}

llvm::Value* shapedAs(llvm::Value* value, const llvm::Type* type) {
  demand(components(value->getType()) == components(type),
         "a vector of another number of components is expected");
  return value;
}

llvm::Type* sized(llvm::Type* type) {
  demand(type->isSized(), "a type without a size where memory is meant");
  return type;
}

llvm::Align alignment(uint64_t bytes) {
  if (!llvm::isPowerOf2_64(bytes) || bytes > llvm::Value::MaximumAlignment)
    throw Failure("an alignment of " + std::to_string(bytes));
  return llvm::Align(bytes);
}

llvm::Type* member(llvm::Type* whole, unsigned index) {
  llvm::Type* found = nullptr;
  if (!whole->isVectorTy())
    found = llvm::ExtractValueInst::getIndexedType(whole, index);
  else if (index < components(whole))
    found = whole->getScalarType();
  demand(found, "a composite has no such member");
  return found;
}

}  // namespace weft::compiler::spirv::checked
