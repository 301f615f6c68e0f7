#include "compiler/passes/simd/lane_arrays.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

namespace weft::compiler {
namespace {

using llvm::AllocaInst;
using llvm::Instruction;
using llvm::Value;

constexpr const char* interleaved = "weft.interleaved";
constexpr uint64_t most_moves = 64;  // of elements that are copied or filled at once

// An array and all that uses it.
class LaneArray {
 public:
  explicit LaneArray(AllocaInst& variable)
      : variable_(variable), layout_(variable.getDataLayout()) {}

  bool canBeInterleaved() {
    if (!variable_.isStaticAlloca() || !variable_.getAllocatedType()->isArrayTy()) return false;
    pointers_.push_back(&variable_);
    for (size_t i = 0; i < pointers_.size(); ++i) {
      Value* pointer = pointers_[i];
      for (llvm::User* user : pointer->users())
        if (!take(*llvm::cast<Instruction>(user), pointer)) return false;
    }
    if (!element_ || total() % bytes_ != 0) return false;
    return llvm::all_of(llvm::drop_begin(pointers_),
                        [&](Value* p) { return stepsByElements(p); }) &&
           llvm::all_of(moves_, [&](auto* move) { return isMovable(*move); });
  }

  void interleave(unsigned width) {
    for (llvm::MemIntrinsic* move : moves_) expand(*move);
    llvm::LLVMContext& context = variable_.getContext();
    llvm::IRBuilder<> builder(&variable_);
    row_ = llvm::ArrayType::get(element_, width);
    AllocaInst* all = builder.CreateAlloca(llvm::ArrayType::get(row_, total() / bytes_), nullptr,
                                           variable_.getName());
    all->setAlignment(std::max(variable_.getAlign(), llvm::Align(64)));
    all->setMetadata(interleaved, llvm::MDNode::get(context, {}));
    for (Instruction* end : lifetimes_) end->eraseFromParent();
    llvm::DenseMap<Value*, Value*> made{{&variable_, all}};
    for (Value* pointer : llvm::drop_begin(pointers_)) {
      auto& element = *llvm::cast<llvm::GetElementPtrInst>(pointer);
      made[pointer] = moved(element, made.lookup(element.getPointerOperand()));
    }
    for (Value* pointer : llvm::reverse(pointers_)) {
      pointer->replaceAllUsesWith(made.lookup(pointer));
      llvm::cast<Instruction>(pointer)->eraseFromParent();
    }
  }

 private:
  uint64_t total() const {
    return layout_.getTypeAllocSize(variable_.getAllocatedType()).getFixedValue();
  }

  bool take(Instruction& user, Value* pointer) {
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

  struct Offset {
    llvm::MapVector<Value*, llvm::APInt> variable;
    llvm::APInt constant{64, 0};
  };
  std::optional<Offset> offsetOf(Value* pointer) const {
    Offset offset;
    if (!llvm::cast<llvm::GEPOperator>(pointer)->collectOffset(layout_, 64, offset.variable,
                                                               offset.constant))
      return std::nullopt;
    return offset;
  }
  bool divides(const llvm::APInt& distance) const {
    return distance.getSExtValue() % static_cast<int64_t>(bytes_) == 0;
  }
  bool stepsByElements(Value* pointer) const {
    const std::optional<Offset> offset = offsetOf(pointer);
    return offset && divides(offset->constant) &&
           llvm::all_of(offset->variable, [&](const auto& part) { return divides(part.second); });
  }

  bool isMovable(llvm::MemIntrinsic& move) const {
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

  void expand(llvm::MemIntrinsic& move) {
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

  // The address of the first lane's element.
  Value* moved(llvm::GetElementPtrInst& element, Value* base) const {
    const std::optional<Offset> offset = offsetOf(&element);
    llvm::IRBuilder<> builder(&element);
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
    return builder.CreateGEP(row_, base, index, element.getName());
  }

  AllocaInst& variable_;
  const llvm::DataLayout& layout_;
  llvm::Type* element_ = nullptr;
  uint64_t bytes_ = 0;
  llvm::ArrayType* row_ = nullptr;  // what all lanes have at one index
  std::vector<Value*> pointers_;    // the array's and what is computed from it, in order
  llvm::SmallVector<Instruction*> lifetimes_;
  llvm::SmallVector<llvm::MemIntrinsic*> moves_;
};

llvm::SmallVector<AllocaInst*> arraysIn(llvm::Function& lane) {
  llvm::SmallVector<AllocaInst*> arrays;
  for (Instruction& instruction : llvm::instructions(lane))
    if (auto* variable = llvm::dyn_cast<AllocaInst>(&instruction);
        variable && variable->getAllocatedType()->isArrayTy())
      arrays.push_back(variable);
  return arrays;
}

}  // namespace

void interleaveArrays(llvm::Function& lane, unsigned width) {
  for (AllocaInst* variable : arraysIn(lane))
    if (LaneArray array(*variable); array.canBeInterleaved()) array.interleave(width);
}

bool isInterleaved(const AllocaInst& variable) { return variable.hasMetadata(interleaved); }

bool hasInterleavedArrays(llvm::Function& lane) {
  return llvm::any_of(arraysIn(lane), [](AllocaInst* array) { return isInterleaved(*array); });
}

bool scattersArrays(llvm::Function& lane, const LaneShapes& shapes) {
  return llvm::any_of(arraysIn(lane), [&](AllocaInst* variable) {
    if (!isInterleaved(*variable)) return true;
    llvm::SmallVector<Value*> open{variable};
    while (!open.empty())
      for (llvm::User* user : open.pop_back_val()->users()) {
        if (!llvm::isa<llvm::GetElementPtrInst>(user)) continue;
        if (shapes.isVarying(user)) return true;
        open.push_back(user);
      }
    return false;
  });
}

}  // namespace weft::compiler
