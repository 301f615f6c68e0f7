#include "compiler/gpu/spirv/types.h"

#include <llvm/Analysis/ConstantFolding.h>

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/Type.h>
#include <llvm/Support/raw_ostream.h>

namespace weft::compiler::emit {
namespace {

constexpr unsigned largest_vectors[] = {2, 3, 4, 8, 16};

template <class T>
[[noreturn]] void refusePrinted(const std::string& what, const T& printed) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printed.print(stream);
  refuse(what + ": " + text);
}

}  // namespace

void refuse(const std::string& what) { throw Inexpressible{what}; }
void refuse(const std::string& what, const llvm::Type& type) { refusePrinted(what, type); }
void refuse(const std::string& what, const llvm::Value& value) { refusePrinted(what, value); }

void Words::add(spv::Op op, llvm::ArrayRef<uint32_t> operands) {
  words_.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | static_cast<uint32_t>(op));
  words_.insert(words_.end(), operands.begin(), operands.end());
}

std::vector<uint32_t> literal(llvm::StringRef text) {
  std::vector<uint32_t> words(text.size() / 4 + 1, 0);
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(words.data()));
  return words;
}

spv::StorageClass storageClass(unsigned space) {
  switch (space) {
    case generic_space:
      return spv::StorageClass::Generic;
    case global_space:
      return spv::StorageClass::CrossWorkgroup;
    case local_space:
      return spv::StorageClass::Workgroup;
    case private_space:
      return spv::StorageClass::Function;
  }
  refuse("an address space of number " + std::to_string(space));
}

void Types::decorate(Id id, spv::Decoration decoration, llvm::ArrayRef<uint32_t> operands) {
  std::vector<uint32_t> words{id, static_cast<uint32_t>(decoration)};
  words.insert(words.end(), operands.begin(), operands.end());
  decorations.add(spv::Op::OpDecorate, words);
}

Id Types::type(llvm::Type* type) {
  if (const auto known = types_.find(type); known != types_.end()) return known->second;
  const Id made = make(type);
  types_[type] = made;
  return made;
}

Id Types::make(llvm::Type* type) {
  if (type->isVoidTy()) {
    const Id id = newId();
    declarations.add(spv::Op::OpTypeVoid, {id});
    return id;
  }
  if (type->isIntegerTy()) return makeInteger(type->getIntegerBitWidth());
  if (type->isHalfTy() || type->isFloatTy() || type->isDoubleTy())
    return makeFloat(type->getPrimitiveSizeInBits());
  if (type->isPointerTy()) return bytes(type->getPointerAddressSpace());
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) return makeVector(*vector);
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) return makeArray(*array);
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) return makeStruct(*structure);
  if (auto* opaque = llvm::dyn_cast<llvm::TargetExtType>(type)) return makeOpaque(*opaque);
  refuse("a type", *type);
}

// Images and samplers, as Clang writes them: behind the type that says nothing, an image has the
// numbers that SPIR-V wants.
Id Types::makeOpaque(llvm::TargetExtType& type) {
  if (type.getName() == "spirv.Sampler") {
    const Id id = newId();
    declarations.add(spv::Op::OpTypeSampler, {id});
    return id;
  }
  if (type.getName() != "spirv.Image") refuse("a type", type);
  need(spv::Capability::ImageBasic);
  if (type.getIntParameter(0) == static_cast<unsigned>(spv::Dim::Dim1D))
    need(spv::Capability::Sampled1D);
  std::vector<uint32_t> words{0, this->type(type.getTypeParameter(0))};
  llvm::append_range(words, type.int_params());
  words[0] = newId();
  declarations.add(spv::Op::OpTypeImage, words);
  return words[0];
}

Id Types::sampledImage(llvm::Type* image) {
  const Id type = this->type(image);
  Id& known = sampled_images_[type];
  if (known) return known;
  known = newId();
  declarations.add(spv::Op::OpTypeSampledImage, {known, type});
  return known;
}

Id Types::makeInteger(unsigned bits) {
  if (const auto known = integers_.find(bits); known != integers_.end()) return known->second;
  const Id id = newId();
  integers_[bits] = id;
  if (bits == 1) {
    declarations.add(spv::Op::OpTypeBool, {id});
    return id;
  }
  if (bits == 8)
    need(spv::Capability::Int8);
  else if (bits == 16)
    need(spv::Capability::Int16);
  else if (bits == 64)
    need(spv::Capability::Int64);
  else if (bits != 32)
    refuse("an integer of " + std::to_string(bits) + " bits");
  declarations.add(spv::Op::OpTypeInt, {id, bits, 0});
  return id;
}

Id Types::makeFloat(unsigned bits) {
  if (bits == 16) need(spv::Capability::Float16);
  if (bits == 64) need(spv::Capability::Float64);
  const Id id = newId();
  declarations.add(spv::Op::OpTypeFloat, {id, bits});
  return id;
}

Id Types::makeVector(llvm::FixedVectorType& type) {
  const unsigned count = type.getNumElements();
  if (!llvm::is_contained(largest_vectors, count)) refuse("a vector", type);
  if (count > 4) need(spv::Capability::Vector16);
  const Id element = this->type(type.getElementType());
  const Id id = newId();
  declarations.add(spv::Op::OpTypeVector, {id, element, count});
  return id;
}

Id Types::makeArray(llvm::ArrayType& type) {
  if (type.getNumElements() == 0 || type.getNumElements() > UINT32_MAX)
    refuse("an array's size", type);
  const Id element = this->type(type.getElementType());
  const Id length = number(type.getContext(), static_cast<uint32_t>(type.getNumElements()));
  const Id id = newId();
  declarations.add(spv::Op::OpTypeArray, {id, element, length});
  return id;
}

Id Types::makeStruct(llvm::StructType& type) {
  if (type.isOpaque()) refuse("a type", type);
  std::vector<uint32_t> words{0};
  for (llvm::Type* member : type.elements()) words.push_back(this->type(member));
  words[0] = newId();
  declarations.add(spv::Op::OpTypeStruct, words);
  if (type.isPacked()) decorate(words[0], spv::Decoration::CPacked);
  return words[0];
}

Id Types::pointerTo(unsigned space, Id pointee) {
  Id& known = pointers_[{space, pointee}];
  if (known) return known;
  if (space == generic_space) need(spv::Capability::GenericPointer);
  known = newId();
  declarations.add(spv::Op::OpTypePointer,
                   {known, static_cast<uint32_t>(storageClass(space)), pointee});
  return known;
}

Id Types::bytes(unsigned space) { return pointerTo(space, makeInteger(8)); }

Id Types::functionType(Id result, llvm::ArrayRef<Id> parameters) {
  std::vector<Id> key{result};
  key.insert(key.end(), parameters.begin(), parameters.end());
  Id& known = functions_[key];
  if (known) return known;
  known = newId();
  key.insert(key.begin(), known);
  declarations.add(spv::Op::OpTypeFunction, key);
  return known;
}

Id Types::number(llvm::LLVMContext& context, uint32_t value) {
  return constant(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value));
}

Id Types::undefined(llvm::Type* type) { return constant(llvm::UndefValue::get(type)); }

Id Types::constant(const llvm::Constant* constant) {
  if (const auto known = constants_.find(constant); known != constants_.end()) return known->second;
  const Id made = makeConstant(constant);
  constants_[constant] = made;
  return made;
}

Id Types::makeConstant(const llvm::Constant* constant) {
  const Id type = this->type(constant->getType());
  const auto plain = [&](spv::Op op) {
    const Id id = newId();
    declarations.add(op, {type, id});
    return id;
  };
  if (llvm::isa<llvm::UndefValue>(constant)) return plain(spv::Op::OpUndef);
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(constant)) {
    if (integer->getBitWidth() == 1)
      return plain(integer->isZero() ? spv::Op::OpConstantFalse : spv::Op::OpConstantTrue);
    return literalOf(constant->getType(), integer->getValue());
  }
  if (const auto* real = llvm::dyn_cast<llvm::ConstantFP>(constant))
    return literalOf(constant->getType(), real->getValueAPF().bitcastToAPInt());
  if (constant->isNullValue()) return plain(spv::Op::OpConstantNull);
  if (constant->getType()->isPointerTy()) return pointerConstant(constant);
  // Taking vectors apart leaves elements of bitcasts, which take the layout to be folded.
  if (const llvm::Constant* folded = llvm::ConstantFoldConstant(constant, layout_);
      folded != constant)
    return this->constant(folded);
  return composite(constant);
}

// A variable's address, or what is cast to another space.
Id Types::pointerConstant(const llvm::Constant* constant) {
  const auto cast = [&](spv::Op op, Id from) {
    const std::vector<uint32_t> words{type(constant->getType()), newId(), static_cast<uint32_t>(op),
                                      from};
    declarations.add(spv::Op::OpSpecConstantOp, words);
    return words[1];
  };
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant))
    return cast(spv::Op::OpBitcast, variables_(*variable));
  if (const auto* place = llvm::dyn_cast<llvm::GEPOperator>(constant)) return placeConstant(*place);
  const auto* moved = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(constant);
  if (!moved) refuse("a constant", *constant);
  const auto* from = llvm::cast<llvm::Constant>(moved->getPointerOperand());
  if (from->isNullValue()) return this->constant(llvm::Constant::getNullValue(constant->getType()));
  if (constant->getType()->getPointerAddressSpace() == generic_space)
    return cast(spv::Op::OpPtrCastToGeneric, this->constant(from));
  refuse("a constant", *constant);
}

// So many bytes behind another address.
Id Types::placeConstant(const llvm::GEPOperator& place) {
  llvm::APInt offset(64, 0);
  const auto* from = llvm::cast<llvm::Constant>(place.getPointerOperand());
  if (!place.accumulateConstantOffset(layout_, offset)) refuse("a constant", place);
  const Id base = constant(from);
  const Id bytes = constant(llvm::ConstantInt::get(place.getContext(), offset));
  const auto op =
      place.isInBounds() ? spv::Op::OpInBoundsPtrAccessChain : spv::Op::OpPtrAccessChain;
  const std::vector<uint32_t> words{type(place.getType()), newId(), static_cast<uint32_t>(op), base,
                                    bytes};
  declarations.add(spv::Op::OpSpecConstantOp, words);
  return words[1];
}

Id Types::literalOf(llvm::Type* type, const llvm::APInt& bits) {
  const Id type_id = this->type(type), id = newId();
  const uint64_t value = bits.getZExtValue();
  std::vector<uint32_t> words{type_id, id, static_cast<uint32_t>(value)};
  if (bits.getBitWidth() > 32) words.push_back(static_cast<uint32_t>(value >> 32));
  declarations.add(spv::Op::OpConstant, words);
  return id;
}

Id Types::composite(const llvm::Constant* constant) {
  std::vector<uint32_t> words{type(constant->getType()), 0};
  for (unsigned i = 0;; ++i) {
    const llvm::Constant* element = constant->getAggregateElement(i);
    if (!element) break;
    words.push_back(this->constant(element));
  }
  if (words.size() == 2) refuse("a constant", *constant);
  words[1] = newId();
  declarations.add(spv::Op::OpConstantComposite, words);
  return words[1];
}

}  // namespace weft::compiler::emit
