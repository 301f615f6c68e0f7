#include "compiler/passes/regions.h"

#include <limits>
#include <optional>

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "compiler/passes/element_arrays.h"
#include "compiler/passes/lane_order.h"
#include "compiler/passes/lockstep.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/rematerialise.h"
#include "compiler/passes/uniformity.h"

namespace weft::compiler {
namespace {

using llvm::AllocaInst;
using llvm::BasicBlock;
using llvm::Function;
using llvm::Instruction;
using llvm::Value;

// A value on its way over barriers: the stack variable that stands for it in the body, and its
// place in the context or among the group's slots.
struct Carried {
  AllocaInst* variable;
  llvm::BitVector live;  // by barrier
  bool per_group;
  unsigned slot;

  std::pair<bool, unsigned> place() const { return {per_group, slot}; }
};

// A slot and the values that are kept there in turn.
struct Place {
  llvm::SmallVector<const Instruction*, 2> values;
  llvm::BitVector live;
  bool per_group;
  unsigned slot;
};

class Splitter {
 public:
  explicit Splitter(KernelBody& body) : body_(body), function_(*body.function) {}

  SplitKernel split();

 private:
  void placeVariables();
  void carryValues(const Uniformity* uniformity);
  void forgetRestrictions();
  unsigned keep(AllocaInst& variable, uint64_t size, const Uniformity& uniformity);
  unsigned slotFor(const Instruction& value, const llvm::BitVector& live, bool per_group);
  Region buildRegion(unsigned index);
  BasicBlock* start(unsigned index) const {
    return index == 0 ? first_ : barriers_[index - 1].continuation;
  }
  friend class RegionBuilder;

  KernelBody& body_;
  Function& function_;
  std::vector<Barrier> barriers_;
  BasicBlock* prologue_ = nullptr;  // variables, and what every region computes anew
  BasicBlock* first_ = nullptr;
  std::vector<Carried> carried_;
  std::vector<Place> places_;
  llvm::DenseMap<const BasicBlock*, unsigned> barrier_of_;
  llvm::MapVector<AllocaInst*, unsigned> variable_slots_;  // variables in the context
  SplitKernel result_;
};

// Builds the function of one region.
class RegionBuilder {
 public:
  RegionBuilder(Splitter& splitter, unsigned index);
  Region build();

 private:
  void cloneVariables();
  void clonePrologue();
  void cloneBlocks();
  void restore();
  void finishExits();
  void endAtBarrier(BasicBlock* block, unsigned barrier);
  void annotate();
  bool isForAllLanes();
  Value* hidden(unsigned parameter) {
    return region_.function->getArg(splitter_.body_.firstHidden() + parameter);
  }
  // The value of a group slot, and the pointer that takes its new value.
  Value* groupSlot(unsigned slot, bool result) {
    size_t slots = splitter_.result_.group_slots.size();
    size_t first = splitter_.function_.arg_size() + (result ? slots : 0);
    return region_.function->getArg(static_cast<unsigned>(first + slot));
  }
  Value* slotAddress(llvm::IRBuilder<>& builder, unsigned slot) {
    return splitter_.result_.layout.address(builder, slot, hidden(env::context),
                                            hidden(env::lane_capacity), hidden(env::lane));
  }

  Splitter& splitter_;
  unsigned index_;
  Region region_;
  BasicBlock* entry_ = nullptr;
  llvm::ValueToValueMapTy map_;
  llvm::SetVector<BasicBlock*> blocks_;   // of the body, in this region
  std::vector<AllocaInst*> temporaries_;  // stand for carried values
  // Values loaded from the context, and stores into it: where that is.
  llvm::DenseMap<Value*, std::pair<bool, unsigned>> restored_;
  llvm::SmallVector<std::pair<llvm::StoreInst*, std::pair<bool, unsigned>>> saves_;
};

// Integers of odd widths, conditions for one, have no vector form in memory.
llvm::Type* storageType(llvm::Type* type) {
  if (!type->isIntOrIntVectorTy()) return type;
  return type->getWithNewBitWidth(std::max(8u, llvm::bit_ceil(type->getScalarSizeInBits())));
}

Value* fromStorage(llvm::IRBuilder<>& builder, Value* stored, llvm::Type* type) {
  return stored->getType() == type ? stored : builder.CreateTrunc(stored, type);
}

llvm::StoreInst* storeToSlot(llvm::IRBuilder<>& builder, Value* value, Value* address) {
  llvm::Type* storage = storageType(value->getType());
  if (storage != value->getType()) value = builder.CreateZExt(value, storage);
  return builder.CreateStore(value, address);
}

RegionBuilder::RegionBuilder(Splitter& splitter, unsigned index)
    : splitter_(splitter), index_(index) {
  Function& body = splitter.function_;
  llvm::SmallVector<llvm::Type*> types(body.getFunctionType()->params());
  for (llvm::Type* type : splitter.result_.group_slots) types.push_back(type);
  for (size_t i = 0; i < splitter.result_.group_slots.size(); ++i)
    types.push_back(llvm::PointerType::get(body.getContext(), 0));
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(body.getContext()), types, false);
  region_.function =
      Function::Create(type, llvm::GlobalValue::InternalLinkage,
                       splitter.body_.name + ".region" + llvm::Twine(index), body.getParent());
  region_.function->setAttributes(body.getAttributes());
  region_.access_group = llvm::MDNode::getDistinct(body.getContext(), {});
  for (llvm::Argument& argument : body.args()) {
    map_[&argument] = region_.function->getArg(argument.getArgNo());
    map_[&argument]->setName(argument.getName());
  }
  entry_ = BasicBlock::Create(body.getContext(), "entry", region_.function);
}

Region RegionBuilder::build() {
  cloneVariables();
  clonePrologue();
  cloneBlocks();
  restore();
  finishExits();
  llvm::IRBuilder<> builder(entry_);
  builder.CreateBr(llvm::cast<BasicBlock>(map_[splitter_.start(index_)]));
  llvm::DominatorTree tree(*region_.function);
  llvm::PromoteMemToReg(temporaries_, tree);
  for (BasicBlock& block : *region_.function)
    if (block.getSinglePredecessor()) llvm::FoldSingleEntryPHINodes(&block);
  // What is stored just as it was loaded is there already.
  for (auto& [store, place] : saves_) {
    Value* value = store->getValueOperand();
    if (auto* extended = llvm::dyn_cast<llvm::ZExtInst>(value)) value = extended->getOperand(0);
    if (auto it = restored_.find(value); it != restored_.end() && it->second == place)
      store->eraseFromParent();
  }
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(*entry_)))
    if (llvm::isInstructionTriviallyDead(&instruction)) instruction.eraseFromParent();
  annotate();
  region_.loses_order = mayLoseOrder(*region_.function);
  region_.for_all_lanes = isForAllLanes();
  llvm::sort(region_.outcomes);
  return std::move(region_);
}

void RegionBuilder::cloneVariables() {
  llvm::IRBuilder<> builder(entry_);
  llvm::DenseMap<const Value*, unsigned> carried;
  for (Carried& value : splitter_.carried_) carried[value.variable] = 0;
  for (Instruction& instruction : *splitter_.prologue_) {
    auto* variable = llvm::dyn_cast<AllocaInst>(&instruction);
    if (!variable) continue;
    if (auto it = splitter_.variable_slots_.find(variable); it != splitter_.variable_slots_.end()) {
      map_[variable] = slotAddress(builder, it->second);
      continue;
    }
    auto* copy = llvm::cast<AllocaInst>(variable->clone());
    builder.Insert(copy, variable->getName());
    map_[variable] = copy;
    if (carried.contains(variable)) temporaries_.push_back(copy);
  }
}

void RegionBuilder::clonePrologue() {
  for (Instruction& instruction : *splitter_.prologue_) {
    if (llvm::isa<AllocaInst>(instruction) || instruction.isTerminator()) continue;
    Instruction* copy = instruction.clone();
    copy->insertInto(entry_, entry_->end());
    map_[&instruction] = copy;
    llvm::RemapInstruction(copy, map_, llvm::RF_NoModuleLevelChanges);
  }
}

void RegionBuilder::cloneBlocks() {
  llvm::SmallVector<BasicBlock*> work{splitter_.start(index_)};
  while (!work.empty()) {
    BasicBlock* block = work.pop_back_val();
    if (!blocks_.insert(block)) continue;
    if (splitter_.barrier_of_.contains(block)) continue;
    llvm::append_range(work, llvm::successors(block));
  }
  for (BasicBlock* block : blocks_)
    map_[block] = splitter_.barrier_of_.contains(block)
                      ? BasicBlock::Create(block->getContext(), "barrier", region_.function)
                      : llvm::CloneBasicBlock(block, map_, "", region_.function);
  for (BasicBlock* block : blocks_) {
    if (splitter_.barrier_of_.contains(block)) continue;
    for (llvm::PHINode& phi : block->phis()) {
      auto* copy = llvm::cast<llvm::PHINode>(map_[&phi]);
      for (unsigned i = copy->getNumIncomingValues(); i-- > 0;)
        if (!blocks_.contains(copy->getIncomingBlock(i)) ||
            splitter_.barrier_of_.contains(copy->getIncomingBlock(i)))
          copy->removeIncomingValue(i, /*DeletePHIIfEmpty=*/false);
    }
    for (Instruction& instruction : *llvm::cast<BasicBlock>(map_[block]))
      llvm::RemapInstruction(&instruction, map_, llvm::RF_NoModuleLevelChanges);
  }
}

// Loads what the barrier before this region saved.
void RegionBuilder::restore() {
  if (index_ == 0) return;
  llvm::IRBuilder<> builder(entry_);
  for (Carried& value : splitter_.carried_) {
    if (!value.live.test(index_ - 1)) continue;
    auto* variable = llvm::cast<AllocaInst>(map_[value.variable]);
    llvm::Type* type = variable->getAllocatedType();
    Value* stored = value.per_group
                        ? groupSlot(value.slot, false)
                        : builder.CreateLoad(storageType(type), slotAddress(builder, value.slot));
    Value* loaded = fromStorage(builder, stored, type);
    builder.CreateStore(loaded, variable);
    restored_[loaded] = value.place();
  }
}

void RegionBuilder::finishExits() {
  for (BasicBlock* block : blocks_) {
    auto* copy = llvm::cast<BasicBlock>(map_[block]);
    if (auto it = splitter_.barrier_of_.find(block); it != splitter_.barrier_of_.end()) {
      endAtBarrier(copy, it->second);
      region_.outcomes.push_back(it->second + 1);
    } else if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(copy->getTerminator())) {
      llvm::IRBuilder<> builder(end);
      unsigned done = static_cast<unsigned>(splitter_.barriers_.size()) + 1;
      builder.CreateRet(builder.getInt32(done));
      end->eraseFromParent();
      if (!llvm::is_contained(region_.outcomes, done)) region_.outcomes.push_back(done);
    }
  }
}

void RegionBuilder::endAtBarrier(BasicBlock* block, unsigned barrier) {
  llvm::IRBuilder<> builder(block);
  for (Carried& value : splitter_.carried_) {
    if (!value.live.test(barrier)) continue;
    auto* variable = llvm::cast<AllocaInst>(map_[value.variable]);
    Value* current = builder.CreateLoad(variable->getAllocatedType(), variable);
    Value* place = value.per_group ? groupSlot(value.slot, true) : slotAddress(builder, value.slot);
    llvm::StoreInst* store = storeToSlot(builder, current, place);
    saves_.push_back({store, value.place()});
  }
  if (needsFence(*splitter_.barriers_[barrier].call))
    builder.CreateFence(llvm::AtomicOrdering::AcquireRelease);
  builder.CreateRet(builder.getInt32(barrier + 1));
}

// Between barriers the lanes' accesses to shared memory are unordered, and those to the context are
// the lane's own. Stack variables are shared by the lanes, one after the other: as long as there
// are any, accesses that may reach them are not marked.
void RegionBuilder::annotate() {
  bool has_variables =
      llvm::any_of(*entry_, [](Instruction& i) { return llvm::isa<AllocaInst>(i); });
  for (Instruction& instruction : llvm::instructions(*region_.function)) {
    const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (!pointer || instruction.isVolatile() || instruction.isAtomic()) continue;
    unsigned space = pointer->getType()->getPointerAddressSpace();
    bool may_be_variable = has_variables && (space == 0 || space == 4) &&
                           !instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load) &&
                           llvm::getUnderlyingObject(pointer) != hidden(env::context);
    if (may_be_variable) continue;
    instruction.setMetadata(llvm::LLVMContext::MD_access_group, region_.access_group);
  }
}

// Is nothing left of it but what the group keeps, and on to the next barrier?
bool RegionBuilder::isForAllLanes() {
  const size_t results = splitter_.function_.arg_size() + splitter_.result_.group_slots.size();
  return llvm::all_of(llvm::instructions(*region_.function), [&](Instruction& instruction) {
    if (llvm::isa<llvm::FenceInst>(instruction)) return true;
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store) return !instruction.mayHaveSideEffects();
    auto* place = llvm::dyn_cast<llvm::Argument>(store->getPointerOperand());
    return place && place->getArgNo() >= results;
  });
}

SplitKernel Splitter::split() {
  llvm::removeUnreachableBlocks(function_);
  barriers_ = isolateBarriers(function_);
  reserveSubGroupSlots(body_.sub_groups, result_.layout);
  result_.has_meetings =
      llvm::any_of(barriers_, [](const Barrier& barrier) { return isMeeting(*barrier.call); });
  if (result_.has_meetings) sortByProgramOrder(function_, barriers_);
  for (unsigned i = 0; i < barriers_.size(); ++i) barrier_of_[barriers_[i].block] = i;
  prologue_ = &function_.getEntryBlock();
  first_ = prologue_->splitBasicBlock(prologue_->begin(), "start");
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_)))
    if (auto* variable = llvm::dyn_cast<AllocaInst>(&instruction);
        variable && llvm::isa<llvm::ConstantInt>(variable->getArraySize()))
      variable->moveBefore(prologue_->getTerminator());
  placeVariables();
  std::vector<bool> uniform_outcomes(barriers_.size() + 1, true);
  if (!barriers_.empty()) {
    Uniformity uniformity(body_);
    Lockstep lockstep(function_, barriers_, uniformity);
    for (unsigned i = 0; i <= barriers_.size(); ++i)
      uniform_outcomes[i] = lockstep.agreeFrom(*start(i));
    carryValues(lockstep.holds() ? &uniformity : nullptr);
    forgetRestrictions();
  }
  if (llvm::is_contained(uniform_outcomes, false)) {
    result_.state_slot = result_.layout.addPerLane(4, llvm::Align(4));
    result_.keeps_state = true;
  }
  result_.layout.finish();
  for (unsigned i = 0; i <= barriers_.size(); ++i) {
    result_.regions.push_back(RegionBuilder(*this, i).build());
    Region& region = result_.regions.back();
    region.uniform_outcome = uniform_outcomes[i];
    region.for_all_lanes = region.for_all_lanes && region.uniform_outcome;
    region.after_meeting = i > 0 && isMeeting(*barriers_[i - 1].call);
  }
  function_.eraseFromParent();
  body_.function = nullptr;
  return std::move(result_);
}

// A region does not see that a pointer which comes to it through memory was made from a `restrict`
// argument, and would take it for another object's.
void Splitter::forgetRestrictions() {
  constexpr unsigned any = std::numeric_limits<unsigned>::max();
  for (llvm::Argument& argument : function_.args())
    if (argument.hasNoAliasAttr() && llvm::PointerMayBeCaptured(&argument, /*ReturnCaptures=*/false,
                                                                /*StoreCaptures=*/true, any))
      argument.removeAttr(llvm::Attribute::NoAlias);
}

// An array whose indices are the same for all lanes lies element by element, so that they access
// whole vectors.
unsigned Splitter::keep(AllocaInst& variable, uint64_t size, const Uniformity& uniformity) {
  ElementArray array(variable);
  const auto is_uniform = [&](const Value* index) {
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(index))
      return argument->getArgNo() < body_.firstHidden();
    return uniformity.isUniform(*llvm::cast<Instruction>(index));
  };
  if (!uniformity.isKnown() || !array.isByElements() || !array.haveIndices(is_uniform))
    return result_.layout.addPerLane(size, variable.getAlign());
  Value* capacity = function_.getArg(body_.firstHidden() + env::lane_capacity);
  const llvm::Align alignment(llvm::bit_floor(array.elementBytes()));
  array.move(&variable, alignment, [&](llvm::IRBuilder<>& at, Value* base, Value* index) {
    Value* distance = ContextLayout::elementDistance(at, capacity);
    return at.CreateGEP(array.element(), base, at.CreateMul(index, distance));
  });
  return result_.layout.addSpread(array.count(), array.elementBytes());
}

// Decides which variables live in the context.
void Splitter::placeVariables() {
  const llvm::DataLayout& layout = function_.getDataLayout();
  std::optional<Uniformity> uniformity;
  bool large = allocaBytes(function_) > max_stack_bytes_per_lane;
  for (Instruction& instruction : *prologue_) {
    auto* variable = llvm::dyn_cast<AllocaInst>(&instruction);
    if (!variable) continue;
    uint64_t size = variable->getAllocationSize(layout)->getFixedValue();
    if (isLiveAcross(*variable, barriers_)) {
      if (!uniformity) uniformity.emplace(body_);
      variable_slots_[variable] = keep(*variable, size, *uniformity);
    } else if (large && size > 64) {
      variable_slots_[variable] = result_.layout.addPerGroup(size, variable->getAlign());
      result_.shares_variables = true;
    }
  }
  for (auto& [variable, slot] : variable_slots_)
    for (llvm::User* user : llvm::make_early_inc_range(variable->users()))
      if (auto* marker = llvm::dyn_cast<llvm::LifetimeIntrinsic>(user)) marker->eraseFromParent();
}

// Where a value is kept. What a loop changes and what it becomes share a place where no barrier
// needs both, so that nothing is copied from the one to the other between two turns.
unsigned Splitter::slotFor(const Instruction& value, const llvm::BitVector& live, bool per_group) {
  const auto related = [&](const Instruction* other) {
    const auto takes = [](const Instruction* phi, const Instruction* from) {
      return llvm::isa<llvm::PHINode>(phi) && llvm::is_contained(phi->operands(), from);
    };
    return takes(&value, other) || takes(other, &value);
  };
  for (Place& place : places_)
    if (place.per_group == per_group && !place.live.anyCommon(live) &&
        llvm::any_of(place.values, related)) {
      place.values.push_back(&value);
      place.live |= live;
      return place.slot;
    }
  const llvm::DataLayout& layout = function_.getDataLayout();
  unsigned slot = static_cast<unsigned>(result_.group_slots.size());
  llvm::Type* storage = storageType(value.getType());
  if (per_group) {
    result_.group_slots.push_back(storage);
  } else {
    slot = result_.layout.addPerLane(layout.getTypeAllocSize(storage),
                                     layout.getABITypeAlign(storage));
  }
  places_.push_back({{&value}, live, per_group, slot});
  return slot;
}

// `uniformity` is null where lanes are not in lockstep.
void Splitter::carryValues(const Uniformity* uniformity) {
  LiveAcross values = findLiveAcross(function_, barriers_);
  for (auto& [value, live] : values) moveToPrologue(*value, *prologue_);
  const auto forgetComputed = [&] {
    values.remove_if([&](auto& entry) { return entry.first->getParent() == prologue_; });
  };
  forgetComputed();
  std::optional<Uniformity> of_copies;
  if (uniformity && recomputeBehindBarriers(values, barriers_, *prologue_, *uniformity)) {
    uniformity = &of_copies.emplace(body_);
    values = findLiveAcross(function_, barriers_);
    forgetComputed();
  }
  llvm::SmallPtrSet<Instruction*, 16> per_group;
  for (auto& [value, live] : values)
    if (uniformity && uniformity->isUniform(*value)) per_group.insert(value);
  llvm::SmallVector<unsigned> slots;  // found before values turn into variables
  for (auto& [value, live] : values)
    slots.push_back(slotFor(*value, live, per_group.contains(value)));
  for (auto [entry, slot] : llvm::zip_equal(values, slots)) {
    AllocaInst* variable = llvm::DemoteRegToStack(*entry.first, /*VolatileLoads=*/false,
                                                  prologue_->getTerminator()->getIterator());
    carried_.push_back({variable, entry.second, per_group.contains(entry.first), slot});
  }
}

}  // namespace

SplitKernel splitAtBarriers(KernelBody& body) { return Splitter(body).split(); }

}  // namespace weft::compiler
