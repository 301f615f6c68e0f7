#include "compiler/passes/simd/joined_stores.h"

#include <optional>

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include "compiler/passes/simd/joined_loads.h"
#include "compiler/passes/simd/loop_evolution.h"
#include "compiler/passes/simd/neighbours.h"

namespace weft::compiler {
namespace {

using llvm::StoreInst;
using namespace llvm::PatternMatch;

constexpr size_t most_fields = 16;

uint64_t bytesOf(const StoreInst& store) {
  return store.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType()).getFixedValue();
}

// An address as an index, from which a number of bytes is a constant: of what does not wrap in 32
// bits scalar evolution tells that seldom.
struct Indexed {
  const llvm::Value *pointer, *index;
  int64_t bytes;
};

std::optional<Indexed> indexed(const llvm::Value& address) {
  auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(&address);
  auto* extended = element && element->getNumIndices() == 1
                       ? llvm::dyn_cast<llvm::SExtInst>(element->getOperand(1))
                       : nullptr;
  if (!extended) return std::nullopt;
  const llvm::Value* index = extended->getOperand(0);
  const llvm::APInt* more = nullptr;
  const llvm::Value* without = nullptr;
  int64_t number = 0;
  if (match(index, m_NSWAdd(m_Value(without), m_APInt(more))) ||
      match(index, m_DisjointOr(m_Value(without), m_APInt(more)))) {
    index = without;
    number = more->getSExtValue();
  }
  const uint64_t size =
      element->getDataLayout().getTypeAllocSize(element->getSourceElementType()).getFixedValue();
  return Indexed{element->getPointerOperand(), index, number * static_cast<int64_t>(size)};
}

class Records {
 public:
  Records(llvm::Function& lane, const LaneShapes& shapes)
      : lane_(lane), shapes_(shapes), analyses_(lane) {}

  bool join() {
    for (llvm::BasicBlock& block : lane_) {
      for (llvm::Instruction& instruction : block) {
        auto* store = llvm::dyn_cast<StoreInst>(&instruction);
        if (store && isField(*store))
          add(*store);
        else if (instruction.mayReadOrWriteMemory())
          close();
      }
      close();
    }
    for (const Record& record : records_) make(record);
    return !records_.empty();
  }

 private:
  struct Field {
    int64_t offset;
    StoreInst* store;
  };
  // By their places.
  using Record = llvm::SmallVector<Field, most_fields>;

  bool isField(const StoreInst& store) const {
    const llvm::Type* type = store.getValueOperand()->getType();
    return store.isSimple() && (type->isIntegerTy() || type->isFloatingPointTy()) &&
           type->getScalarSizeInBits() % 8 == 0 && isOutside(*store.getPointerOperand()) &&
           !shapes_.isUniform(store.getPointerOperand());
  }

  // To where the last one's are, unless it is in another object, which may be the same memory.
  void add(StoreInst& store) {
    const llvm::SCEV* place = evolution_.getSCEV(store.getPointerOperand());
    const auto distance = fields_.empty() ? std::nullopt : distanceFrom(place, store);
    if (!distance) {
      close();
      first_ = place;
    }
    fields_.push_back({distance.value_or(0), &store});
  }
  std::optional<int64_t> distanceFrom(const llvm::SCEV* place, const StoreInst& store) {
    const StoreInst& other = *fields_.front().store;
    if (store.getValueOperand()->getType() != other.getValueOperand()->getType() ||
        place->getType() != first_->getType())
      return std::nullopt;
    const auto one = indexed(*other.getPointerOperand()),
               next = indexed(*store.getPointerOperand());
    if (one && next && one->pointer == next->pointer && one->index == next->index)
      return next->bytes - one->bytes;
    auto* distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getMinusSCEV(place, first_));
    return distance ? std::optional(distance->getAPInt().getSExtValue()) : std::nullopt;
  }

  // All of it has been found: nothing reads or writes memory between the first field and the last.
  void close() {
    Record record(fields_.begin(), fields_.end());
    fields_.clear();
    if (record.size() < 2 || record.size() > most_fields) return;
    llvm::sort(record, [](const Field& a, const Field& b) { return a.offset < b.offset; });
    const uint64_t bytes = bytesOf(*record.front().store);
    for (size_t i = 1; i < record.size(); ++i)
      if (record[i].offset != record[i - 1].offset + static_cast<int64_t>(bytes)) return;
    if (followEachOther(*record.front().store, bytes, record.size())) records_.push_back(record);
  }
  bool followEachOther(StoreInst& first, uint64_t bytes, uint64_t count) const {
    llvm::Value* const pointer = first.getPointerOperand();
    const LaneShape shape = shapes_.of(pointer);
    if (shape.kind == LaneShape::linear) return shape.stride == static_cast<int64_t>(bytes * count);
    return recordIndex(pointer, bytes, count, shapes_).index;
  }

  static void make(const Record& record) {
    StoreInst* last = record.front().store;
    for (const Field& field : record)
      if (last->comesBefore(field.store)) last = field.store;
    llvm::IRBuilder<> builder(last);
    StoreInst& first = *record.front().store;
    auto* type = llvm::FixedVectorType::get(first.getValueOperand()->getType(), record.size());
    llvm::Value* all = llvm::PoisonValue::get(type);
    for (const auto& [i, field] : llvm::enumerate(record))
      all = builder.CreateInsertElement(all, field.store->getValueOperand(), i);
    StoreInst* const made =
        builder.CreateAlignedStore(all, first.getPointerOperand(), first.getAlign());
    made->setMetadata(llvm::LLVMContext::MD_access_group,
                      first.getMetadata(llvm::LLVMContext::MD_access_group));
    for (const Field& field : record) field.store->eraseFromParent();
  }

  llvm::Function& lane_;
  const LaneShapes& shapes_;
  LoopEvolution analyses_;
  llvm::ScalarEvolution& evolution_ = analyses_.evolution;
  const llvm::SCEV* first_ = nullptr;
  llvm::SmallVector<Field> fields_;
  std::vector<Record> records_;
};

}  // namespace

bool joinStoresOfRecords(llvm::Function& lane, const LaneShapes& shapes) {
  return Records(lane, shapes).join();
}

}  // namespace weft::compiler
