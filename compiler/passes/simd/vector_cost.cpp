#include "compiler/passes/simd/vector_cost.h"

#include <algorithm>
#include <cmath>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/builtins/number_parts.h"
#include "compiler/passes/local_atomics.h"
#include "compiler/passes/pixel_calls.h"
#include "compiler/passes/simd/gathered_words.h"
#include "compiler/passes/simd/loop_evolution.h"
#include "compiler/passes/simd/table_loads.h"
#include "compiler/passes/simd/turn_vectors.h"
#include "compiler/passes/simd/upper_halves.h"
#include "compiler/passes/simd/vector_body.h"
#include "compiler/passes/simd/vector_report.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr unsigned longest_unrolled = 32;
constexpr size_t longest_straight = 250;  // instructions that LLVM's vectoriser does well
constexpr int most_broadcast = 8;         // loads; of matmul_tiled, with more, LLVM's were slower
constexpr unsigned register_bits = 512;
constexpr double turns = 8;                    // of a loop of unknown length
constexpr unsigned deepest = 3;                // loops
constexpr double taken = 0.5;                  // how often a lane enters a masked block
constexpr double library_call = 20;            // of a math function, for one lane
constexpr double pixel_call = 20;              // for one lane
constexpr double pixels_call = 20;             // for a register of them, and
constexpr double pixels_lane = 1.5;            // each
constexpr double float_part = 8;               // of one lane
constexpr double serial_step = 5;              // of a loop over the lanes,
constexpr double running_step = 10;            // over those that run
constexpr double taken_out = 1;                // of a vector of addresses, one
constexpr double local_update = 4;             // an atomic of local memory, which one thread has
constexpr double far_line = 6;                 // a cache line for one element
constexpr double handed_over = 3;              // from lane to lane, through memory
constexpr double float_quotient = 4;           // or root, of one lane,
constexpr double float_quotients = 10;         // of a register of them, and
constexpr double quotient_latency = 4;         // for a lane, where no loop brings others to do
constexpr double converted = 2.5;              // a lane's integer to a float or back, and rounding
constexpr double division = 10;                // of integers
constexpr double quotient = 60, product = 14;  // of vectors of them, as floating-point numbers
constexpr double upper_half = 3, upper_halves = 14;  // of 64-bit products
constexpr double strided_access = 3;
constexpr double neighbour_test = 6;
constexpr double loaded_row = 3.5;
constexpr double gathered_byte = 4.6;    // one after the other
constexpr double unequal_turns = 2;      // of the lanes of a loop that they leave one by one
constexpr double nearly_equal = 1.2;     // where they count from lane to lane, to the same number
constexpr double turns_of_vectors = 10;  // of a loop that LLVM makes vectors of
constexpr double mispredicted = 4;       // a branch by what is loaded or computed, on average

double accessCost(const Instruction& access, const LaneShapes& shapes, unsigned width,
                  const GatherCost& gathers) {
  const Value* pointer = llvm::getLoadStorePointerOperand(&access);
  auto* store = llvm::dyn_cast<llvm::StoreInst>(&access);
  llvm::Type* type = store ? store->getValueOperand()->getType() : access.getType();
  const unsigned count = std::max(1u, partCount(type));
  const uint64_t bits = access.getDataLayout().getTypeSizeInBits(type).getFixedValue() / count;
  const LaneShape shape = shapes.of(pointer);
  if (shape.kind == LaneShape::uniform) return 1;
  const double registers = std::ceil(static_cast<double>(width * bits * count) / register_bits);
  if (shape.kind == LaneShape::linear) {
    const auto distance = static_cast<uint64_t>(std::abs(shape.stride)) * 8;
    if (distance == bits * count) return registers * (count > 1 ? 2 : 1);
    if (distance <= 4 * bits && !store) return strided_access * registers;
  }
  auto* place = const_cast<Value*>(pointer);
  const uint64_t bytes = access.getDataLayout().getTypeStoreSize(type).getFixedValue();
  if (accessForm(access, shapes, false) == AccessForm::tested &&
      !(store == nullptr && isOfRows(place, bytes, shapes))) {
    const bool strided = !neighbourIndex(place, bytes, shapes).index;
    return registers * (strided ? strided_access : count > 1 ? 2 : 1) + neighbour_test;
  }
  // Bytes and half words have no gather of their own.
  const bool in_words =
      !store && comeInWords(bits / 8, pointer->getType()->getPointerAddressSpace());
  const double each = in_words    ? gathers.from_word
                      : bits < 32 ? gathered_byte
                      : store     ? gathers.scattered
                                  : gathers.word;
  if (!store && loadsRows(partType(type, 0), count))
    return gathers.start + (bits * count <= 64 ? gathers.word : loaded_row) * width + 2 * registers;
  // What one lane loads or stores as one vector takes a gather for each element.
  return count * (gathers.start + each * (count > 1 ? 2.2 : 1) * width);
}

// One lane after the other uses the source's vectors.
VectorCost elementwise(llvm::Type* type, unsigned width) {
  const unsigned count = std::max(1u, partCount(type));
  const double bits = partType(type, 0)->getPrimitiveSizeInBits().getFixedValue() > 32 ? 64 : 32;
  return {width * std::ceil(count * bits / register_bits),
          count * std::ceil(width * bits / register_bits)};
}

// Do lanes take several steps for what vectors have one for?
bool converts(const Instruction& instruction) {
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::floor:
      case llvm::Intrinsic::ceil:
      case llvm::Intrinsic::trunc:
      case llvm::Intrinsic::rint:
      case llvm::Intrinsic::nearbyint:
      case llvm::Intrinsic::roundeven:
        return true;
      default:
        return false;
    }
  }
  return llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst, llvm::FPToSIInst, llvm::FPToUIInst>(
      instruction);
}

bool isQuotient(const Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return instruction.getOpcode() == Instruction::FDiv ||
         (call && call->getIntrinsicID() == llvm::Intrinsic::sqrt);
}

VectorCost quotientCost(const Instruction& instruction, unsigned width) {
  const VectorCost each = elementwise(instruction.getType(), width);
  return {float_quotient * each.lanes, float_quotients * each.vectors};
}

}  // namespace

VectorCost instructionCost(const Instruction& instruction, const LaneShapes& shapes, bool masked,
                           double share, unsigned width, const GatherCost& gathers) {
  if (llvm::isa<llvm::PHINode, llvm::AllocaInst, llvm::BranchInst>(instruction)) return {0, 0};
  if (llvm::getLoadStorePointerOperand(&instruction) && !instruction.isAtomic())
    return {1.0 * width, accessCost(instruction, shapes, width, gathers)};
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    if (isFromTable(*call)) return {1.0 * width, costFromTable(*call, width)};
    if (calledNumberPart(instruction)) return {float_part * width, 1.5};
    if (laneMark(instruction)) return {0, 4};
    if (exchangeOf(instruction)) return {handed_over * width, 2};
    if (isQuotient(*call)) return quotientCost(*call, width);
    if (llvm::isTriviallyVectorizable(call->getIntrinsicID())) {
      const VectorCost cost = elementwise(call->getType(), width);
      return {cost.lanes * (converts(*call) ? converted : 1), cost.vectors * 1.5};
    }
    if (call->getType()->isVoidTy() && llvm::isa<llvm::IntrinsicInst>(call)) return {0, 0};
    if (isPixelCall(*call))
      return {pixel_call * width,
              pixels_call * std::ceil(width * 32.0 / register_bits) + pixels_lane * width};
    const double count = std::max(1u, partCount(call->getType()));
    if (hasVectorForm(*call)) return {library_call * width, library_call * 2 * count};
    return {library_call * width, (library_call + serial_step) * width};
  }
  if (llvm::isa<llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst>(
          instruction))
    return {0.25 * width, 0};  // in vectors they only name parts
  if (!shapes.isVarying(&instruction)) return {1.0 * width, 1};
  if (instruction.isAtomic()) {
    const double once = isMarkedLocal(instruction) ? local_update : library_call;
    if (unitesLanes(instruction, shapes))
      return {once * width,
              once + 2 * std::log2(width) * elementwise(instruction.getType(), width).vectors};
    const double step = masked ? running_step : isUpdate(instruction) ? taken_out : serial_step;
    // A loop over the lanes that get there, if not all do.
    return {once * width, (once + step) * width * share};
  }
  if (leadsToUpperHalf(instruction)) return {0, 0};
  if (upperHalf(instruction)) {
    const VectorCost each = elementwise(instruction.getType(), width);
    return {upper_half * each.lanes, upper_halves * each.vectors};
  }
  if (isQuotient(instruction)) return quotientCost(instruction, width);
  if (dividesAsFloats(instruction))
    return {division * width, uniformDivisor(instruction, shapes) ? product : quotient};
  if (instruction.isIntDivRem() && !llvm::isa<llvm::Constant>(instruction.getOperand(1)))
    return {division * width, (division + 2) * width};
  if (llvm::isa<llvm::GetElementPtrInst>(instruction)) return {0.5 * width, 1};
  const VectorCost cost = elementwise(instruction.getType(), width);
  return {cost.lanes * (converts(instruction) ? converted : 1), cost.vectors};
}

bool isRecurrence(const Instruction& instruction, const Level& level) {
  if (!level.loop || !instruction.getType()->isFPOrFPVectorTy()) return false;
  return llvm::any_of(instruction.users(), [&](const llvm::User* user) {
    auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
    return phi && phi->getParent() == level.loop->getHeader() &&
           llvm::is_contained(instruction.operands(), phi);
  });
}

double turnsOf(const Level& level) {
  double result = 1;
  const Level* at = &level;
  for (unsigned depth = 0; at->loop && depth < deepest; at = at->parent, ++depth) result *= turns;
  return result;
}

namespace {

// Is it made of comparisons of what grows from lane to lane with what is the same for all? Lanes
// next to each other hardly differ in it then. Others of its operands have to be `accepted`.
bool isByPlace(const Value* condition, const LaneShapes& shapes,
               llvm::function_ref<bool(const Value*)> accepted) {
  if (shapes.isUniform(condition)) return true;
  auto* instruction = llvm::dyn_cast<Instruction>(condition);
  if (!instruction) return false;
  const bool combines = llvm::isa<llvm::BinaryOperator, llvm::SelectInst>(instruction) &&
                        instruction->getType()->isIntegerTy(1);
  if (!combines && !llvm::isa<llvm::ICmpInst>(instruction)) return false;
  return llvm::all_of(instruction->operands(), [&](const Value* operand) {
    if (combines) return isByPlace(operand, shapes, accepted);
    if (auto* cast = llvm::dyn_cast<llvm::CastInst>(operand)) operand = cast->getOperand(0);
    return !shapes.isVarying(operand) || accepted(operand);
  });
}

const llvm::BranchInst* branchOf(const llvm::BasicBlock& block) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  return branch && branch->isConditional() ? branch : nullptr;
}

// How much longer lanes stay in a loop on account of others.
double idleTurns(const Level& level, const LaneShapes& shapes) {
  if (!level.divergent) return 1;
  llvm::SmallVector<llvm::BasicBlock*> exiting;
  level.loop->getExitingBlocks(exiting);
  const bool by_place = llvm::all_of(exiting, [&](const llvm::BasicBlock* block) {
    const llvm::BranchInst* branch = branchOf(*block);
    return branch && isByPlace(branch->getCondition(), shapes, [](auto*) { return false; });
  });
  return by_place ? nearly_equal : unequal_turns;
}

// What the end of a block costs a lane alone that goes one way or the other by its own data.
double branchCost(const llvm::BasicBlock& block, const LaneShapes& shapes) {
  const llvm::BranchInst* branch = branchOf(block);
  if (!branch || !shapes.varies(&block)) return 0;
  const auto by_ids = [&](const Value* operand) { return isMadeOfIds(operand, shapes); };
  return isByPlace(branch->getCondition(), shapes, by_ids) ? 0 : mispredicted;
}

}  // namespace

double shareOf(const llvm::BasicBlock& block, const ControlLevels& levels) {
  return levels.isMasked(&block) && !levels.levelOf(&block).divergent ? taken : 1;
}

VectorCost vectorCost(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                      const FarLoads& far, unsigned width, const GatherCost& gathers) {
  VectorCost total;
  const BlockSet by_turns = blocksOfTurnVectors(lane, shapes);
  for (llvm::BasicBlock& block : lane) {
    const Level* level = &levels.levelOf(&block);
    const double weight = turnsOf(*level);
    double idle = 1;
    const bool masked = levels.isMasked(&block) || level->divergent;
    const double chance = shareOf(block, levels);
    const double turns_at_once = by_turns.contains(&block) ? turns_of_vectors : 1;
    for (unsigned depth = 0; level->loop && depth < deepest; level = level->parent, ++depth)
      idle *= idleTurns(*level, shapes);
    total.lanes += branchCost(block, shapes) * width * weight * chance / turns_at_once;
    for (Instruction& instruction : block) {
      VectorCost cost = instructionCost(instruction, shapes, masked, chance, width, gathers);
      if (isRecurrence(instruction, levels.levelOf(&block))) {
        cost.lanes += recurrence_latency * width;
        cost.vectors += recurrence_latency;
      }
      if (isQuotient(instruction) && !levels.levelOf(&block).loop && shapes.isVarying(&instruction))
        cost.lanes += quotient_latency * width;
      if (far.contains(&instruction)) cost.lanes += far_line * width;
      total.lanes += cost.lanes * weight * chance / turns_at_once;
      total.vectors += cost.vectors * weight * idle;
    }
  }
  return total;
}

namespace {

// Is there a branch that all lanes take alike, but not the same in all rows? LLVM's vectoriser
// makes masks of it. Stores of no lane then keep later loads from what lies there.
bool branchesAlike(llvm::Function& lane, const LaneShapes& shapes) {
  return llvm::any_of(lane, [&](const llvm::BasicBlock& block) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    return branch && branch->isConditional() && shapes.isUniform(branch->getCondition());
  });
}

// Does it compute in 32 bits, and has to, with what it loads as less? LLVM's vectoriser chooses
// vectors as wide as registers hold of the smallest type and takes them apart to extend them.
bool extendsLoads(llvm::Function& lane, const LaneShapes& shapes) {
  bool extends = false, needs_all_bits = false;
  for (const Instruction& instruction : llvm::instructions(lane)) {
    if (!shapes.isVarying(&instruction)) continue;
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    needs_all_bits |=
        llvm::isa<llvm::UIToFPInst, llvm::SIToFPInst, llvm::MinMaxIntrinsic>(instruction) ||
        (call && call->getIntrinsicID() == llvm::Intrinsic::abs);
    auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
    if (!cast) continue;
    extends |= llvm::isa<llvm::LoadInst>(cast->getOperand(0)) &&
               cast->getSrcTy()->getScalarSizeInBits() < 32 &&
               cast->getType()->getScalarSizeInBits() >= 32;
  }
  return extends && needs_all_bits;
}

// To local memory. What lanes do with it in loops between barriers, as a reduction's, LLVM unrolls
// first, and no longer knows then that lanes do not wait for each other.
bool storesLocally(const Instruction& instruction) {
  constexpr unsigned local_space = 3;
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return store && store->getPointerAddressSpace() == local_space;
}

}  // namespace

bool isBeyondLoopVectoriser(llvm::Function& lane, const ControlLevels& levels,
                            const LaneShapes& shapes, bool slow_masks) {
  // It tests in each row whether such an id wraps, and gathers where it cannot tell.
  if (shapes.narrowsGlobalId() || branchesAlike(lane, shapes)) return true;
  if (lane.getInstructionCount() > longest_straight || extendsLoads(lane, shapes)) return true;
  const auto broadcast = llvm::count_if(llvm::instructions(lane), [&](const Instruction& load) {
    return llvm::isa<llvm::LoadInst>(load) && shapes.isUniform(&load);
  });
  if (broadcast > most_broadcast) return true;
  return llvm::any_of(llvm::instructions(lane), [&](const Instruction& instruction) {
    if (calledNumberPart(instruction) || laneMark(instruction)) return true;
    if (upperHalf(instruction) && shapes.isVarying(&instruction)) return true;
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      return !llvm::isa<llvm::IntrinsicInst>(call) &&
             (!hasVectorForm(*call) || call->getType()->isVectorTy());
    if (!llvm::getLoadStorePointerOperand(&instruction))
      return dividesAsFloats(instruction) && shapes.isVarying(&instruction);
    const bool masked = levels.isMasked(instruction.getParent());
    if (masked && storesLocally(instruction)) return true;
    const AccessForm form = accessForm(instruction, shapes, masked);
    llvm::Type* type = llvm::getLoadStoreType(const_cast<Instruction*>(&instruction));
    if (form == AccessForm::vector) return partCount(type) > 1 && type->getScalarSizeInBits() < 32;
    if (form == AccessForm::tested || (masked && slow_masks)) return true;
    return masked && (form == AccessForm::once || form == AccessForm::scattered);
  });
}

bool hasShortLoop(llvm::Function& lane) {
  LoopEvolution analyses(lane);
  return llvm::any_of(analyses.loops.getLoopsInPreorder(), [&](llvm::Loop* loop) {
    const unsigned most = analyses.evolution.getSmallConstantMaxTripCount(loop);
    return most != 0 && most <= longest_unrolled;
  });
}

}  // namespace weft::compiler
