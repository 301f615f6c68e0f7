// The code of several lanes at once, made from the code of one.
//
// Control flow that is the same for all lanes stays; where lanes part, what they may reach is laid
// out in a row and each block runs for the lanes of its mask (partial linearisation, Moll and Hack
// 2018): of the blocks that wait for their lanes the first in topological order is always next. A
// loop that lanes leave in different turns runs until none is left in it.
#pragma once

#include <vector>

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/exchanges.h"
#include "compiler/passes/simd/lane_marks.h"
#include "compiler/passes/simd/lane_shapes.h"
#include "compiler/passes/simd/neighbours.h"
#include "compiler/passes/simd/vector_forms.h"

namespace weft::compiler {

inline constexpr int64_t widest_stride = 4;  // elements; further apart they are gathered
// Bytes of an element that is loaded for some of the lanes in steps; smaller ones are gathered, as
// few processors have masks for them.
inline constexpr uint64_t least_masked = 4;

struct VectorOptions {
  unsigned width = 16;
  bool whole = true;              // all lanes run; else a last parameter says how many
  bool outcome_per_lane = false;  // return a vector of outcomes, not the one of all lanes
  bool masks_gathers = true;      // the processor does; otherwise each lane would have a branch
  bool masks_bytes = true;        // so for loads of neighbouring bytes and half words
  unsigned pixel_lanes = 0;       // pixel_calls.h
  unsigned permuted_lanes = 0;    // of 32 bits, by one instruction; 0: none
};

class VectorBody {
 public:
  VectorBody(llvm::Function& lane, const LaneParameters& parameters, ControlLevels& levels,
             const LaneShapes& shapes, const VectorOptions& options);

  // The parameters are those of the lane function, for the first lane, and unless all run an i64,
  // the number of lanes, at least one.
  llvm::Function* emit();

 private:
  using Value = llvm::Value;
  using Parts = llvm::SmallVector<Value*, 1>;
  struct NodeState {
    llvm::BasicBlock* entry = nullptr;
    llvm::BitVector deferred;  // nodes whose lanes wait until this one is done
    llvm::AllocaInst* mask = nullptr;
    Value* value = nullptr;           // of the mask; null: all lanes
    llvm::Constant* known = nullptr;  // the mask if it is not empty, where only places tell it
    bool nonempty = false;
  };
  struct LevelState {
    std::vector<NodeState> nodes;
    Value* mask = nullptr;  // null: all lanes
    llvm::AllocaInst* live = nullptr;
    llvm::BasicBlock* after = nullptr;  // where a divergent loop ends
  };
  using Phis = llvm::SmallVector<llvm::AllocaInst*, 1>;

  // vector_control.cpp
  void createBlocks();
  void createVariables(Level& level);
  void emitLevel(Level& level);
  void emitBlock(Level& level, unsigned index);
  void resetLevel(Level& level);
  void guard(Level& level, unsigned index);
  bool mayBeEmpty(const Level& level, unsigned index) const;
  bool isGuarded(const Level& level, unsigned index) const;
  void emitTerminator(Level& level, unsigned index);
  void partLanes(Level& level, unsigned index, llvm::BranchInst& branch);
  llvm::BasicBlock* afterLoop(Level& level);
  void closeLoop(Level& level, Value* live);
  void takeEdge(llvm::BasicBlock* from, llvm::BasicBlock* to, Value* mask);
  void assignPhi(llvm::PHINode& phi, llvm::BasicBlock* from, Value* mask);
  bool blends(const llvm::BasicBlock* block) const;
  llvm::BasicBlock* target(llvm::BasicBlock* from, llvm::BasicBlock* to);
  llvm::BasicBlock* route(Level& level, llvm::BitVector waiting);
  Value* maskOf(Level& level, unsigned index);
  Value* both(Value* mask, Value* condition);
  Value* anyOf(Value* mask);
  Value* allLanes();
  void emitReturn(llvm::ReturnInst& end);
  void repairDominance();

  // vector_values.cpp
  Value* scalar(Value* value);
  Parts parts(Value* value);
  Value* wide(Value* value) { return parts(value).front(); }
  bool isScalar(const Value* value) const {
    return !wides_.contains(value) && shapes_.isUniform(value);
  }
  Value* widened(Value* value, llvm::Type* type, bool is_signed);
  void setScalar(const llvm::Instruction& instruction, Value* value) {
    scalars_[&instruction] = value;
  }
  void setParts(const llvm::Instruction& instruction, Parts value) {
    wides_[&instruction] = std::move(value);
  }
  Value* linearVector(Value* base, int64_t stride);
  Value* iota(llvm::Type* type, int64_t stride);
  llvm::BasicBlock* newBlock(const char* name) {
    return llvm::BasicBlock::Create(lane_.getContext(), name, function_);
  }
  llvm::FixedVectorType* vectorOf(llvm::Type* type) const {
    return llvm::FixedVectorType::get(type, options_.width);
  }
  Value* interleave(const Parts& parts);
  Parts deinterleave(Value* all, unsigned count);
  Value* lastLane(Value* vector);

  // vector_instructions.cpp
  void emit(llvm::Instruction& instruction);
  void emitScalar(llvm::Instruction& instruction, bool keep_flags);
  void emitVariable(llvm::AllocaInst& variable);
  void emitWide(llvm::Instruction& instruction);
  Value* widePart(llvm::Instruction& instruction, llvm::ArrayRef<Parts> operands, unsigned part);
  Value* divisor(llvm::Instruction& instruction, Value* value);
  Value* divide(llvm::Instruction& instruction, Value* left, unsigned part);
  Parts regroup(llvm::CastInst& cast);
  Parts elements(llvm::Instruction& instruction);
  void emitElementAddress(llvm::GetElementPtrInst& element);
  void emitSerial(llvm::Instruction& instruction);
  std::optional<unsigned> onlyLane() const;
  void emitForLane(llvm::Instruction& instruction, unsigned lane);
  Value* laneOf(Value* value, Value* lane);

  // vector_memory.cpp
  void emitLoad(llvm::LoadInst& load);
  void emitStore(llvm::StoreInst& store);
  struct Access;
  Access describe(llvm::Instruction& access, Value* pointer, llvm::Type* type);
  Parts loadBlock(const Access& access, Value* first, llvm::Instruction& from);
  Parts loadReversed(const Access& access, Value* first);
  Parts loadSame(const Access& access, const NeighbourIndex& index, llvm::Instruction& from);
  Value* loadInPage(llvm::Type* type, Value* first, const Access& access, Value* mask,
                    const llvm::Instruction& from);
  Parts loadStrided(const Access& access, unsigned stride, Value* first, llvm::Instruction& from);
  Parts gather(const Access& access, llvm::Instruction& from);
  Parts gatherRows(const Access& access, llvm::Instruction& from);
  Parts columns(llvm::ArrayRef<Value*> rows);
  bool turnsRows(llvm::Type* element, unsigned count) const;
  void storeBlock(const Access& access, Value* first, const Parts& value, llvm::Instruction& from);
  void scatter(const Access& access, const Parts& value, llvm::Instruction& from);
  Value* wideAddress(Value* pointer);
  Value* pointers(const Access& access, unsigned part);
  Value* maskOfGathers() const { return options_.masks_gathers ? mask_ : nullptr; }
  Value* runningOnly(Value* pointers, llvm::Type* type, llvm::Align alignment);
  Value* firstIndex(Value* number, const NeighbourIndex& index, Value* first);
  Value* firstAddress(Value* pointer, const NeighbourIndex& index, Value* first);
  Value* fitsExtended(const NeighbourIndex& index, Value* first);
  struct Sequence {
    Value* first;
    Value* follow;
  };
  Sequence sequence(Value* number, int64_t stride);
  Parts eitherWay(const Access& access, const NeighbourIndex& index,
                  llvm::function_ref<Parts(Value*)> together, llvm::function_ref<Parts()> apart);
  Value* maskOfParts(unsigned count);

  // near_loads.cpp
  Parts gatherNear(const Access& access, const NeighbourIndex& index, llvm::Instruction& from);
  struct Places {
    Value* first;
    Value* more;
  };
  Places placesOf(Value* number);
  Value* areInside(Value* places);
  Value* isInOnePage(Value* address, uint64_t bytes);
  Value* takeFrom(const Access& access, Value* address, Value* places,
                  const llvm::Instruction& from);

  // vector_updates.cpp
  void emitUnited(llvm::AtomicRMWInst& update);
  void emitUpdates(llvm::Instruction& update);
  void updateLanes(const llvm::Instruction& update, unsigned count,
                   llvm::function_ref<Value*(Value*)> lanes);
  void keepUpdatesFew(const llvm::DominatorTree& tree);

  // vector_calls.cpp
  void emitCall(llvm::CallBase& call);
  llvm::Value* ofRunning(llvm::Value* argument);
  llvm::Value* callForm(const VectorForm& form, const llvm::CallBase& call,
                        llvm::ArrayRef<llvm::Value*> arguments);
  void emitMark(llvm::Instruction& call, LaneMark mark);
  bool emitIntrinsic(llvm::CallBase& call);
  bool emitVariant(llvm::CallBase& call);
  bool emitPixels(llvm::CallBase& call);

  // exchanges.cpp
  void emitExchange(llvm::CallInst& call, Exchange exchange);
  void emitShuffle(llvm::CallInst& call);
  Value* permuted(Value* numbers, Value* places);
  Value* permutedWords(Value* numbers, Value* places);
  Value* takenFromMemory(Value* numbers, Value* places);

  llvm::Function& lane_;
  LaneParameters parameters_;
  ControlLevels& levels_;
  const LaneShapes& shapes_;
  VectorOptions options_;
  llvm::Function* function_ = nullptr;
  llvm::IRBuilder<> builder_;
  llvm::BasicBlock* entry_ = nullptr;
  Value* mask_ = nullptr;        // of the code being made; null: all lanes
  Value* entry_mask_ = nullptr;  // of the function
  llvm::DenseMap<const Value*, Value*> scalars_;
  llvm::DenseMap<const Value*, Parts> wides_;
  llvm::DenseMap<const llvm::PHINode*, Phis> phis_;
  llvm::DenseMap<const Level*, LevelState> states_;
  std::vector<llvm::AllocaInst*> variables_;
};

// Into how many vectors a value of this type is taken apart, and of what; 0 if it cannot be.
unsigned partCount(llvm::Type* type);
llvm::Type* partType(llvm::Type* type, unsigned part);

// Are scattered vectors of the source, of `count` elements, loaded whole by each lane?
bool loadsRows(llvm::Type* element, unsigned count);

// Is it an atomic operation of which nobody wants the old value?
bool isUpdate(const llvm::Instruction& instruction);

// Is it an atomic operation that all lanes do to one object, so that one can do it for all?
bool unitesLanes(const llvm::Instruction& instruction, const LaneShapes& shapes);

// Is it an integer division that vectors do as one of floating-point numbers?
bool dividesAsFloats(const llvm::Instruction& instruction);
// The divisor, if it is the same for all lanes, or would be where zero is replaced by one; else
// null.
llvm::Value* uniformDivisor(const llvm::Instruction& instruction, const LaneShapes& shapes);

}  // namespace weft::compiler
