#include "compiler/passes/element_arrays.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Operator.h>

namespace weft::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

constexpr uint64_t most_moves = 64;  // of elements that are copied or filled at once

}  // namespace

ElementArray::ElementArray(llvm::AllocaInst& variable)
    : variable_(variable), layout_(variable.getDataLayout()) {}

bool ElementArray::isByElements() {
  if (!variable_.isStaticAlloca() || !variable_.getAllocatedType()->isArrayTy()) return false;
  pointers_.push_back(&variable_);
  for (size_t i = 0; i < pointers_.size(); ++i) {
    Value* pointer = pointers_[i];
    for (llvm::User* user : pointer->users())
      if (!take(*llvm::cast<Instruction>(user), pointer)) return false;
  }
  if (!element_ || total() % bytes_ != 0) return false;
  return llvm::all_of(llvm::drop_begin(pointers_), [&](Value* p) { return stepsByElements(p); }) &&
         llvm::all_of(moves_, [&](auto* move) { return isMovable(*move); });
}

bool ElementArray::haveIndices(llvm::function_ref<bool(const Value*)> condition) const {
  return llvm::all_of(llvm::drop_begin(pointers_), [&](Value* pointer) {
    return llvm::all_of(llvm::cast<llvm::GetElementPtrInst>(pointer)->indices(),
                        [&](const llvm::Use& index) {
                          return llvm::isa<llvm::Constant>(index) || condition(index);
                        });
  });
}

void ElementArray::move(Value* base, llvm::Align alignment, Place place) {
  for (llvm::MemIntrinsic* move : moves_) expand(*move);
  for (Instruction* end : lifetimes_) end->eraseFromParent();
  llvm::DenseMap<Value*, Value*> made{{&variable_, base}};
  for (Value* pointer : llvm::drop_begin(pointers_)) {
    auto& element = *llvm::cast<llvm::GetElementPtrInst>(pointer);
    llvm::IRBuilder<> builder(&element);
    made[pointer] =
        place(builder, made.lookup(element.getPointerOperand()), indexOf(builder, pointer));
    made[pointer]->takeName(pointer);
  }
  for (Value* pointer : llvm::reverse(pointers_)) {
    for (llvm::User* user : pointer->users()) {
      auto* access = llvm::cast<Instruction>(user);
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(access))
        load->setAlignment(std::min(load->getAlign(), alignment));
      else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(access))
        store->setAlignment(std::min(store->getAlign(), alignment));
    }
    if (made.lookup(pointer) == pointer) continue;
    pointer->replaceAllUsesWith(made.lookup(pointer));
    llvm::cast<Instruction>(pointer)->eraseFromParent();
  }
}

uint64_t ElementArray::total() const {
  return layout_.getTypeAllocSize(variable_.getAllocatedType()).getFixedValue();
}

bool ElementArray::take(Instruction& user, Value* pointer) {
  if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(&user)) {
    pointers_.push_back(element);
    return element->getType()->isPointerTy();
  }
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&user);
      intrinsic && intrinsic->isLifetimeStartOrEnd()) {
    lifetimes_.push_back(intrinsic);
    return pointer == &variable_;
  }
  if (auto* move = llvm::dyn_cast<llvm::MemIntrinsic>(&user)) {
    moves_.push_back(move);
    return true;
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&user);
      store && (store->getValueOperand() == pointer || !store->isSimple()))
    return false;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&user); load && !load->isSimple()) return false;
  if (!llvm::isa<llvm::LoadInst, llvm::StoreInst>(user)) return false;
  llvm::Type* type = llvm::getLoadStoreType(&user);
  const uint64_t bytes = layout_.getTypeStoreSize(type).getFixedValue();
  if (!element_) {
    element_ = type;
    bytes_ = bytes;
    return layout_.getTypeAllocSize(type).getFixedValue() == bytes;
  }
  return bytes == bytes_;
}

std::optional<ElementArray::Offset> ElementArray::offsetOf(Value* pointer) const {
  Offset offset;
  if (!llvm::cast<llvm::GEPOperator>(pointer)->collectOffset(layout_, 64, offset.variable,
                                                             offset.constant))
    return std::nullopt;
  return offset;
}

bool ElementArray::divides(const llvm::APInt& distance) const {
  return distance.getSExtValue() % static_cast<int64_t>(bytes_) == 0;
}

bool ElementArray::stepsByElements(Value* pointer) const {
  const std::optional<Offset> offset = offsetOf(pointer);
  return offset && divides(offset->constant) &&
         llvm::all_of(offset->variable, [&](const auto& part) { return divides(part.second); });
}

bool ElementArray::isMovable(llvm::MemIntrinsic& move) const {
  auto* length = llvm::dyn_cast<llvm::ConstantInt>(move.getLength());
  if (!length || move.isVolatile() || length->getZExtValue() % bytes_ != 0 ||
      length->getZExtValue() / bytes_ > most_moves)
    return false;
  if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&move)) {
    auto* byte = llvm::dyn_cast<llvm::Constant>(fill->getValue());
    return byte && byte->isNullValue();
  }
  auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&move);
  return copy && llvm::getUnderlyingObject(copy->getRawSource()) != &variable_;
}

void ElementArray::expand(llvm::MemIntrinsic& move) {
  llvm::IRBuilder<> builder(&move);
  auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&move);
  const uint64_t count = llvm::cast<llvm::ConstantInt>(move.getLength())->getZExtValue() / bytes_;
  for (uint64_t i = 0; i < count; ++i) {
    const auto at = [&](Value* base) {
      return builder.CreateConstGEP1_64(builder.getInt8Ty(), base, i * bytes_);
    };
    const auto alignment = [&](llvm::MaybeAlign first) {
      return llvm::commonAlignment(first.valueOrOne(), i * bytes_);
    };
    Value* value = llvm::Constant::getNullValue(element_);
    if (copy)
      value = builder.CreateAlignedLoad(element_, at(copy->getRawSource()),
                                        alignment(copy->getSourceAlign()));
    Value* place = at(move.getRawDest());
    if (place != move.getRawDest()) pointers_.push_back(place);
    builder.CreateAlignedStore(value, place, alignment(move.getDestAlign()));
  }
  move.eraseFromParent();
}

Value* ElementArray::indexOf(llvm::IRBuilder<>& builder, Value* pointer) const {
  const std::optional<Offset> offset = offsetOf(pointer);
  const auto elements = [&](const llvm::APInt& distance) {
    return builder.getInt64(
        static_cast<uint64_t>(distance.getSExtValue() / static_cast<int64_t>(bytes_)));
  };
  Value* index = elements(offset->constant);
  for (const auto& [value, distance] : offset->variable) {
    Value* steps = builder.CreateMul(builder.CreateSExtOrTrunc(value, builder.getInt64Ty()),
                                     elements(distance));
    index = builder.CreateAdd(index, steps);
  }
  return index;
}

}  // namespace weft::compiler
