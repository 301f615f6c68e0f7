#include "compiler/passes/simd/joined_loads.h"

#include <algorithm>

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "compiler/passes/simd/loop_evolution.h"
#include "compiler/passes/simd/neighbours.h"
#include "compiler/passes/simd/vector_body.h"
#include "compiler/passes/simd/vector_report.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::LoadInst;
using llvm::Value;

enum AddressSpace : unsigned { private_space = 0, generic_space = 4 };

// Elements. Pairs, each gathered as one number, gain little, and processors gather slowly.
constexpr size_t shortest = 4;

bool writesOutside(const Instruction& instruction) {
  auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  const bool is_private =
      store && store->isSimple() &&
      llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand()));
  return instruction.mayHaveSideEffects() && !is_private;
}

uint64_t bytesOf(const LoadInst& load) {
  return load.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue();
}

bool isCandidate(const LoadInst& load, const LaneShapes& shapes) {
  return isOutside(*load.getPointerOperand()) && isApart(load, shapes);
}

// What is added to an address, as far as it is a number; of one that grows in a loop, at the start.
const llvm::SCEVConstant* numberIn(const llvm::SCEV* place) {
  if (auto* growing = llvm::dyn_cast<llvm::SCEVAddRecExpr>(place))
    return numberIn(growing->getStart());
  auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(place);
  return sum ? llvm::dyn_cast<llvm::SCEVConstant>(sum->getOperand(0)) : nullptr;
}

class JoinedLoads {
 public:
  JoinedLoads(llvm::Function& lane, const LaneShapes& shapes, unsigned width)
      : lane_(lane), shapes_(shapes), width_(width), analyses_(lane) {}

  bool run() {
    for (BasicBlock& block : lane_) findRows(block);
    for (const Row& row : rows_) joinLoads(row.loads, *row.first, row.bytes);
    return !rows_.empty();
  }

 private:
  struct Place {
    int64_t offset;
    size_t order;  // among those of the group
    LoadInst* load;
  };
  struct Row {
    llvm::SmallVector<LoadInst*> loads;
    LoadInst* first;
    int64_t bytes;
  };

  void findRows(BasicBlock& block) {
    for (Instruction& instruction : block) {
      auto* load = llvm::dyn_cast<LoadInst>(&instruction);
      if (writesOutside(instruction))
        close();
      else if (load && isCandidate(*load, shapes_))
        add(*load);
    }
    close();
  }

  void add(LoadInst& load) {
    const llvm::SCEV* place = evolution_.getSCEV(load.getPointerOperand());
    const llvm::SCEVConstant* number = numberIn(place);
    const int64_t offset = number ? number->getAPInt().getSExtValue() : 0;
    if (number) place = evolution_.getMinusSCEV(place, number);
    auto& group = groups_[{place, load.getType()}];
    group.push_back({offset, group.size(), &load});
  }

  // Nothing they could load has been written since the first of them was to run.
  void close() {
    for (auto& [key, group] : groups_) {
      llvm::stable_sort(group, [](const Place& a, const Place& b) { return a.offset < b.offset; });
      const auto bytes = static_cast<int64_t>(bytesOf(*group.front().load));
      for (llvm::ArrayRef<Place> left = group; !left.empty();) {
        size_t length = 1;
        while (length < left.size() && left[length].offset == left[length - 1].offset + bytes)
          ++length;
        divide(left.take_front(length), key.second);
        left = left.drop_front(length);
      }
    }
    groups_.clear();
  }

  // Into the longest rows that are loaded whole.
  void divide(llvm::ArrayRef<Place> places, llvm::Type* element) {
    while (places.size() >= shortest) {
      size_t length = std::min<size_t>(llvm::bit_floor(places.size()), width_);
      while (length >= shortest && !loadsRows(element, length)) length /= 2;
      if (length < shortest) return;
      const auto part = places.take_front(length);
      const auto first =
          std::min_element(part.begin(), part.end(),
                           [](const Place& a, const Place& b) { return a.order < b.order; });
      Row& row = rows_.emplace_back();
      for (const Place& place : part) row.loads.push_back(place.load);
      row.first = first->load;
      row.bytes = first->offset - part.front().offset;
      places = places.drop_front(length);
    }
  }

  llvm::Function& lane_;
  const LaneShapes& shapes_;
  unsigned width_;
  LoopEvolution analyses_;
  llvm::ScalarEvolution& evolution_ = analyses_.evolution;
  llvm::MapVector<std::pair<const llvm::SCEV*, llvm::Type*>, llvm::SmallVector<Place>> groups_;
  std::vector<Row> rows_;
};

}  // namespace

bool isOutside(const Value& pointer) {
  const unsigned space = pointer.getType()->getPointerAddressSpace();
  return space != private_space && space != generic_space;
}

bool isApart(const LoadInst& load, const LaneShapes& shapes) {
  const llvm::Type* type = load.getType();
  if (!load.isSimple() || type->isVectorTy() || type->isPointerTy() ||
      partCount(load.getType()) != 1)
    return false;
  switch (accessForm(load, shapes, /*masked=*/false)) {
    case AccessForm::scattered:
      return true;
    case AccessForm::tested: {
      auto* pointer = const_cast<Value*>(load.getPointerOperand());
      if (sameIndex(pointer, bytesOf(load), shapes).index) return false;
      return !neighbourIndex(pointer, bytesOf(load), shapes).index ||
             isOfRows(pointer, bytesOf(load), shapes);
    }
    default:
      return false;
  }
}

void joinLoads(llvm::ArrayRef<LoadInst*> row, LoadInst& first, int64_t bytes) {
  llvm::IRBuilder<> builder(&first);
  auto* type = llvm::FixedVectorType::get(first.getType(), row.size());
  Value* place = first.getPointerOperand();
  if (bytes != 0)
    place = builder.CreatePtrAdd(place, builder.getInt64(-static_cast<uint64_t>(bytes)));
  LoadInst* all = builder.CreateAlignedLoad(type, place, row.front()->getAlign());
  llvm::AAMDNodes types = first.getAAMetadata();
  bool invariant = true;
  for (const LoadInst* load : row) {
    types = types.merge(load->getAAMetadata());
    invariant &= load->hasMetadata(llvm::LLVMContext::MD_invariant_load);
  }
  all->setAAMetadata(types);
  if (invariant) all->copyMetadata(first, {llvm::LLVMContext::MD_invariant_load});
  for (size_t i = 0; i < row.size(); ++i)
    row[i]->replaceAllUsesWith(builder.CreateExtractElement(all, i));
  for (LoadInst* load : row) load->eraseFromParent();
}

bool joinLoadsSideBySide(llvm::Function& lane, const LaneShapes& shapes, unsigned width) {
  const auto candidates = llvm::count_if(llvm::instructions(lane), [&](const Instruction& one) {
    auto* load = llvm::dyn_cast<LoadInst>(&one);
    return load && isCandidate(*load, shapes);
  });
  return static_cast<size_t>(candidates) >= shortest && JoinedLoads(lane, shapes, width).run();
}

}  // namespace weft::compiler
