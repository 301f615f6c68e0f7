#include "compiler/passes/swapped_arrays.h"

#include <algorithm>
#include <optional>

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/passes/unroller.h"

namespace weft::compiler {
namespace {

using llvm::AllocaInst;
using llvm::Instruction;
using llvm::Value;

constexpr uint64_t most_bytes = 4096;           // together
constexpr uint64_t most_exchanged_bytes = 256;  // of one

// An element of an array.
struct Place {
  AllocaInst* array;
  uint64_t index;
};

uint64_t elementBytes(const AllocaInst& array, const llvm::DataLayout& layout) {
  return layout.getTypeAllocSize(array.getAllocatedType()->getArrayElementType()).getFixedValue();
}

std::optional<Place> placeOf(Value* pointer, const llvm::DataLayout& layout) {
  llvm::APInt bytes(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  auto* array = llvm::dyn_cast<AllocaInst>(
      pointer->stripAndAccumulateConstantOffsets(layout, bytes, /*AllowNonInbounds=*/true));
  if (!array || !array->isStaticAlloca() || !array->getAllocatedType()->isArrayTy() ||
      bytes.isNegative())
    return std::nullopt;
  const uint64_t element = elementBytes(*array, layout);
  if (element == 0 || bytes.getZExtValue() % element != 0) return std::nullopt;
  return Place{array, bytes.getZExtValue() / element};
}

bool isChoice(const Value* value) {
  return llvm::isa<llvm::PHINode, llvm::SelectInst>(value) && value->getType()->isPointerTy();
}

llvm::iterator_range<llvm::User::op_iterator> chosen(Instruction& choice) {
  return {choice.op_begin() + (llvm::isa<llvm::SelectInst>(choice) ? 1 : 0), choice.op_end()};
}

// Pointers that are one of several, and the arrays that they may go to.
struct Group {
  llvm::SetVector<Instruction*> choices;
  llvm::MapVector<AllocaInst*, uint64_t> arrays;  // where in the joint one each begins
};

// Adds all that the group's first choice takes part in. False if something that is no such array
// does, too.
bool complete(Group& group, const llvm::DataLayout& layout) {
  bool arrays_only = true;
  for (size_t i = 0; i < group.choices.size(); ++i) {
    for (Value* value : chosen(*group.choices[i])) {
      if (isChoice(value)) {
        group.choices.insert(llvm::cast<Instruction>(value));
      } else if (const auto place = placeOf(value, layout)) {
        group.arrays.insert({place->array, 0});
      } else {
        arrays_only = false;
      }
    }
    for (llvm::User* user : group.choices[i]->users())
      if (isChoice(user)) group.choices.insert(llvm::cast<Instruction>(user));
  }
  return arrays_only;
}

// What each array begins at a multiple of: that many elements are aligned as the array is.
uint64_t stepOf(const AllocaInst& array, const llvm::DataLayout& layout) {
  return std::max<uint64_t>(1, array.getAlign().value() / elementBytes(array, layout));
}

// Arrays of the same elements, whose alignment is a number of these.
bool canJoin(const Group& group, const llvm::DataLayout& layout) {
  if (group.arrays.size() < 2) return false;
  const AllocaInst& first = *group.arrays.front().first;
  uint64_t bytes = 0;
  for (const auto& [array, begin] : group.arrays) {
    const uint64_t element = elementBytes(*array, layout), alignment = array->getAlign().value();
    if (array->getAllocatedType()->getArrayElementType() !=
            first.getAllocatedType()->getArrayElementType() ||
        (element % alignment != 0 && alignment % element != 0))
      return false;
    bytes += array->getAllocationSize(layout)->getFixedValue();
  }
  return bytes <= most_bytes;
}

class Joint {
 public:
  Joint(Group& group, const llvm::DataLayout& layout) : group_(group), layout_(layout) {}

  void make() {
    joinArrays();
    for (Instruction* choice : group_.choices) addNumber(*choice);
    for (Instruction* choice : group_.choices) fillNumber(*choice);
    for (Instruction* choice : group_.choices) replace(*choice);
    for (Instruction* choice : group_.choices) choice->eraseFromParent();
    for (const auto& [array, begin] : group_.arrays) moveInto(*array, begin);
  }

 private:
  void joinArrays() {
    AllocaInst& first = *group_.arrays.front().first;
    uint64_t elements = 0;
    llvm::Align alignment;
    for (auto& [array, begin] : group_.arrays) {
      begin = llvm::alignTo(elements, stepOf(*array, layout_));
      elements = begin + array->getAllocatedType()->getArrayNumElements();
      alignment = std::max(alignment, array->getAlign());
    }
    element_ = first.getAllocatedType()->getArrayElementType();
    llvm::IRBuilder<> builder(&first.getFunction()->getEntryBlock().front());
    joint_ =
        builder.CreateAlloca(llvm::ArrayType::get(element_, elements), nullptr, first.getName());
    joint_->setAlignment(alignment);
    number_ = builder.getInt32Ty();
  }

  // Of the joint array's elements.
  Value* numberOf(Value* pointer) {
    if (isChoice(pointer)) return numbers_.lookup(pointer);
    const Place place = *placeOf(pointer, layout_);
    return llvm::ConstantInt::get(number_, group_.arrays.lookup(place.array) + place.index);
  }

  void addNumber(Instruction& choice) {
    llvm::IRBuilder<> builder(&choice);
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&choice))
      numbers_[&choice] = builder.CreatePHI(number_, phi->getNumIncomingValues());
    else
      numbers_[&choice] =
          llvm::SelectInst::Create(choice.getOperand(0), llvm::PoisonValue::get(number_),
                                   llvm::PoisonValue::get(number_), "", &choice);
  }
  void fillNumber(Instruction& choice) {
    Instruction* number = numbers_.lookup(&choice);
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&choice)) {
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
        llvm::cast<llvm::PHINode>(number)->addIncoming(numberOf(phi->getIncomingValue(i)),
                                                       phi->getIncomingBlock(i));
      return;
    }
    number->setOperand(1, numberOf(choice.getOperand(1)));
    number->setOperand(2, numberOf(choice.getOperand(2)));
  }
  // Where they are used, so that no pass makes choices of pointers again as it moves code around.
  void replace(Instruction& choice) {
    for (llvm::Use& use : llvm::make_early_inc_range(choice.uses())) {
      auto* user = llvm::cast<Instruction>(use.getUser());
      if (isChoice(user)) continue;
      llvm::IRBuilder<> builder(user);
      Value* pointer = builder.CreateInBoundsGEP(element_, joint_, numbers_.lookup(&choice));
      if (pointer->getType() != choice.getType())
        pointer = builder.CreateAddrSpaceCast(pointer, choice.getType());
      use.set(pointer);
    }
    choice.replaceAllUsesWith(llvm::PoisonValue::get(choice.getType()));
  }

  void moveInto(AllocaInst& array, uint64_t begin) {
    for (llvm::User* user : llvm::make_early_inc_range(array.users()))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
          call && call->isLifetimeStartOrEnd())
        call->eraseFromParent();
    llvm::IRBuilder<> builder(joint_->getNextNode());
    array.replaceAllUsesWith(builder.CreateConstInBoundsGEP1_64(element_, joint_, begin));
    array.eraseFromParent();
  }

  Group& group_;
  const llvm::DataLayout& layout_;
  llvm::Type* element_ = nullptr;
  llvm::Type* number_ = nullptr;
  AllocaInst* joint_ = nullptr;
  llvm::DenseMap<const Value*, Instruction*> numbers_;
};

// The array that a pointer goes to in the first turn, and another pointer in the next, to which it
// goes then. Null if it is none.
const AllocaInst* exchangedArray(const llvm::PHINode& pointer, const llvm::Loop& loop) {
  const llvm::BasicBlock *const latch = loop.getLoopLatch(), *const before =
                                                                 loop.getLoopPredecessor();
  if (!latch || !before || !pointer.getType()->isPointerTy()) return nullptr;
  const auto* other = llvm::dyn_cast<llvm::PHINode>(pointer.getIncomingValueForBlock(latch));
  const bool exchanges = other && other != &pointer && other->getParent() == loop.getHeader() &&
                         other->getIncomingValueForBlock(latch) == &pointer;
  if (!exchanges) return nullptr;
  return llvm::dyn_cast<AllocaInst>(
      llvm::getUnderlyingObject(pointer.getIncomingValueForBlock(before)));
}

// Small ones that become variables then, as far as can be told: nobody takes one of them by such a
// pointer behind the loop, and the loops in it are unrolled.
bool exchangesVariables(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  constexpr size_t most_instructions = 400;
  constexpr unsigned most_turns = 32;
  const llvm::DataLayout& layout = loop.getHeader()->getDataLayout();
  const auto is_inside = [&](const llvm::User* user) {
    return loop.contains(llvm::cast<Instruction>(user));
  };
  bool any = false;
  for (const llvm::PHINode& pointer : loop.getHeader()->phis()) {
    const AllocaInst* const array = exchangedArray(pointer, loop);
    if (!array) continue;
    const auto bytes = array->getAllocationSize(layout);
    if (!bytes || bytes->getKnownMinValue() > most_exchanged_bytes ||
        !llvm::all_of(pointer.users(), is_inside))
      return false;
    any = true;
  }
  return any && lengthOf(loop) <= most_instructions &&
         llvm::all_of(loop.getLoopsInPreorder(), [&](const llvm::Loop* inner) {
           const unsigned turns = evolution.getSmallConstantTripCount(inner);
           return inner == &loop || (turns != 0 && turns <= most_turns);
         });
}

}  // namespace

bool joinSwappedArrays(llvm::Function& body) {
  bool any = false;
  const llvm::DataLayout& layout = body.getDataLayout();
  llvm::SmallPtrSet<const Instruction*, 8> seen;
  llvm::SmallVector<Instruction*> choices;
  for (Instruction& instruction : llvm::instructions(body))
    if (isChoice(&instruction)) choices.push_back(&instruction);
  for (Instruction* choice : choices) {
    if (seen.contains(choice)) continue;
    Group group;
    group.choices.insert(choice);
    const bool arrays_only = complete(group, layout);
    seen.insert(group.choices.begin(), group.choices.end());
    if (!arrays_only || !canJoin(group, layout)) continue;
    Joint(group, layout).make();
    any = true;
  }
  return any;
}

bool exchangesArrays(const llvm::Loop& loop) {
  return llvm::any_of(loop.getHeader()->phis(), [&](const llvm::PHINode& pointer) {
    return exchangedArray(pointer, loop) != nullptr;
  });
}

bool unrollExchanges(llvm::Function& body, llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  return Unroller(body, analyses).unroll(2, [&](llvm::Loop& loop) {
    return exchangesVariables(loop, evolution);
  });
}

}  // namespace weft::compiler
