#include "compiler/builtins/printf_arguments.h"

#include <cstring>

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

using llvm::Value;

void store(llvm::IRBuilder<>& builder, Value* base, uint64_t offset, Value* value) {
  Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
  builder.CreateAlignedStore(value, address, llvm::commonAlignment(llvm::Align(8), offset));
}

}  // namespace

PrintfArgument describeArgument(llvm::Type* type, const llvm::DataLayout& layout) {
  PrintfArgument argument{};
  llvm::Type* element = type->getScalarType();
  argument.kind = element->isPointerTy()         ? PrintfKind::pointer
                  : element->isFloatingPointTy() ? PrintfKind::floating
                                                 : PrintfKind::integer;
  argument.element_bytes = static_cast<uint8_t>(layout.getTypeStoreSize(element));
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  argument.count = vector ? vector->getNumElements() : 1;
  return argument;
}

uint64_t packedBytes(const PrintfArgument& argument) {
  const uint64_t data = uint64_t{argument.element_bytes} * argument.count;
  return sizeof argument + (data + 7) / 8 * 8;
}

uint64_t packedHead(const PrintfArgument& argument) {
  uint64_t head = 0;
  std::memcpy(&head, &argument, sizeof head);
  return head;
}

void storeArgument(llvm::IRBuilder<>& builder, Value* address, Value* value) {
  const llvm::DataLayout& layout = builder.GetInsertBlock()->getModule()->getDataLayout();
  const PrintfArgument argument = describeArgument(value->getType(), layout);
  const uint64_t head = packedHead(argument);
  store(builder, address, 0, builder.getInt64(head));
  if (!value->getType()->isVectorTy()) return store(builder, address, sizeof head, value);
  // Element by element: a three-element vector's store would be four wide.
  for (unsigned e = 0; e < argument.count; ++e)
    store(builder, address, sizeof head + uint64_t{e} * argument.element_bytes,
          builder.CreateExtractElement(value, e));
}

}  // namespace weft::compiler
