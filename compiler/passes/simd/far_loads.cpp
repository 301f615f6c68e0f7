#include "compiler/passes/simd/far_loads.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/number_parts.h"
#include "compiler/passes/simd/neighbours.h"
#include "compiler/passes/simd/vector_body.h"
#include "compiler/passes/simd/vector_report.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;

constexpr uint64_t cache_line = 64;         // bytes
constexpr size_t longest_body = 64;         // instructions in loops
constexpr unsigned most_at_once = 4;        // vectors
constexpr unsigned word_bits = 32;          // of a lane, in a register of the vectors' width
constexpr unsigned gathered_registers = 3;  // a gather's addresses and result
constexpr unsigned called_registers = 6;    // by a function of the library for a vector

constexpr size_t shortest_long = 80, longest_long = 300;  // instructions of vectors
constexpr size_t arithmetic_of_access = 10;
constexpr unsigned few_registers = 16;
constexpr double per_cycle = 2;        // instructions of vectors
constexpr double shortest_wait = 8;    // cycles that two vectors at once are worth it for
constexpr double wait_for_work = 1.5;  // times what the instructions take

// An index of fewer bits than an address that grows by one may wrap between two lanes; hardly any
// do.
bool hasLinearIndex(const Instruction& access, const LaneShapes& shapes) {
  auto* pointer = const_cast<llvm::Value*>(llvm::getLoadStorePointerOperand(&access));
  llvm::Type* type = llvm::getLoadStoreType(const_cast<Instruction*>(&access));
  return neighbourIndex(pointer, access.getDataLayout().getTypeStoreSize(type).getFixedValue(),
                        shapes)
      .is_linear;
}

bool isSideBySide(const llvm::LoadInst& load, const LaneShapes& shapes) {
  const LaneShape shape = shapes.of(load.getPointerOperand());
  const uint64_t bytes = load.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue();
  if (!load.isSimple()) return false;
  if (shape.kind == LaneShape::varying) return hasLinearIndex(load, shapes);
  return shape.kind == LaneShape::linear && shape.stride > 0 &&
         static_cast<uint64_t>(shape.stride) == bytes;
}

bool stepsFar(llvm::ScalarEvolution& evolution, llvm::Value* pointer, const llvm::Loop* loop) {
  const llvm::SCEV* place = evolution.getSCEV(pointer);
  if (evolution.isLoopInvariant(place, loop)) return false;
  auto* growing = llvm::dyn_cast<llvm::SCEVAddRecExpr>(place);
  if (!growing || growing->getLoop() != loop) return true;
  auto* step = llvm::dyn_cast<llvm::SCEVConstant>(growing->getStepRecurrence(evolution));
  return !step || step->getAPInt().abs().uge(cache_line);
}

unsigned registersOf(llvm::Type* type) {
  unsigned sum = 0;
  for (unsigned part = 0; part < partCount(type); ++part) {
    const uint64_t bits = partType(type, part)->getPrimitiveSizeInBits().getFixedValue();
    sum += bits > word_bits ? 2 : 1;
  }
  return sum;
}

// Of lanes that hardly ever turn out not to be neighbours, as at an image's edges.
bool isTestedNumber(const Instruction& access, const LaneShapes& shapes) {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&access);
  return load && load->isSimple() && !load->getType()->isVectorTy() &&
         accessForm(*load, shapes, false) == AccessForm::tested;
}

// A load's test for neighbours is made before the loop where nothing of it depends on the turn.
bool isTestedBefore(const Instruction& load, const LaneShapes& shapes, const llvm::Loop& loop) {
  auto* pointer = const_cast<llvm::Value*>(llvm::getLoadStorePointerOperand(&load));
  const uint64_t bytes = load.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue();
  NeighbourIndex found = sameIndex(pointer, bytes, shapes);
  if (!found.index) found = neighbourIndex(pointer, bytes, shapes);
  llvm::SmallVector<UniformTerm> uniform;
  return found.index && loop.isLoopInvariant(withoutUniformTerms(found.index, shapes, uniform));
}

// In cycles and instructions, about.
struct Cost {
  double latency, size;
};

Cost costOf(const Instruction& instruction, const LaneShapes& shapes, const llvm::Loop& loop) {
  if (llvm::isa<llvm::GetElementPtrInst>(instruction)) return {1, 0};
  if (llvm::isa<llvm::LoadInst>(instruction)) {
    const AccessForm form = accessForm(instruction, shapes, false);
    if (form == AccessForm::scattered) return {20, 24};
    if (form != AccessForm::tested) return {7, 1};
    return isTestedBefore(instruction, shapes, loop) ? Cost{7, 2} : Cost{12, 8};
  }
  if (instruction.getOpcode() == Instruction::FDiv) return {12, 1};
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
    return hasVectorForm(*call) ? Cost{60, 35} : Cost{4, 1};
  const auto isReal = [](const llvm::Type* type) { return type->isFPOrFPVectorTy(); };
  const bool real = isReal(instruction.getType()) || isReal(instruction.getOperand(0)->getType());
  return {real ? 4.0 : 1.0, 1};
}

// Does a turn of the loop wait longer for the one before than its instructions take?
bool waitsForTurns(const llvm::Loop& loop, const LaneShapes& shapes) {
  llvm::BasicBlock* body = loop.getHeader();
  llvm::DenseMap<const llvm::Value*, double> ready;  // from the phis on
  double size = 0;
  for (const Instruction& instruction : *body) {
    if (!shapes.isVarying(&instruction)) continue;
    if (llvm::isa<llvm::PHINode>(instruction)) {
      ready[&instruction] = 0;
      continue;
    }
    double start = -1;
    for (const llvm::Value* operand : instruction.operands())
      if (auto it = ready.find(operand); it != ready.end()) start = std::max(start, it->second);
    const Cost cost = costOf(instruction, shapes, loop);
    if (start >= 0) ready[&instruction] = start + cost.latency;
    size += cost.size;
  }
  double longest = 0;
  for (const llvm::PHINode& phi : body->phis())
    longest = std::max(longest, ready.lookup(phi.getIncomingValueForBlock(body)));
  return longest >= shortest_wait && longest > wait_for_work * size / per_cycle;
}

}  // namespace

std::optional<unsigned> registersFor(const Instruction& instruction, const LaneShapes& shapes,
                                     bool masked) {
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    if (hasVectorForm(*call)) return called_registers;
    if (!calledNumberPart(instruction) && !laneMark(instruction) &&
        !llvm::isTriviallyVectorizable(call->getIntrinsicID()))
      return std::nullopt;
    return 0;
  }
  if (instruction.isIntDivRem() && shapes.isVarying(&instruction)) return std::nullopt;
  if (llvm::isa<llvm::PHINode>(instruction))
    return shapes.isVarying(&instruction) ? registersOf(instruction.getType()) : 0;
  if (unitesLanes(instruction, shapes)) return registersOf(instruction.getType());
  if (instruction.isAtomic())
    return isUpdate(instruction) && !masked ? std::optional<unsigned>(0) : std::nullopt;
  if (!llvm::getLoadStorePointerOperand(&instruction)) return 0;
  switch (accessForm(instruction, shapes, masked)) {
    case AccessForm::once:
      return 0;
    case AccessForm::vector:
      return registersOf(instruction.getType());
    case AccessForm::tested:
      if (!hasLinearIndex(instruction, shapes)) return std::nullopt;
      return registersOf(instruction.getType());
    case AccessForm::scattered:
      if (llvm::getLoadStoreType(const_cast<Instruction*>(&instruction))->isVectorTy())
        return std::nullopt;
      return gathered_registers;
    default:
      return std::nullopt;
  }
}

FarLoads findFarLoads(llvm::Function& lane, const LaneShapes& shapes, llvm::DominatorTree& tree,
                      llvm::LoopInfo& loops) {
  FarLoads found;
  if (loops.empty()) return found;
  llvm::AssumptionCache assumptions(lane);
  llvm::TargetLibraryInfoImpl names(llvm::Triple(lane.getParent()->getTargetTriple()));
  llvm::TargetLibraryInfo library(names);
  llvm::ScalarEvolution evolution(lane, library, assumptions, tree, loops);
  for (Instruction& instruction : llvm::instructions(lane)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    const llvm::Loop* loop = loops.getLoopFor(instruction.getParent());
    if (load && loop && isSideBySide(*load, shapes) &&
        stepsFar(evolution, load->getPointerOperand(), loop))
      found.insert(load);
  }
  return found;
}

namespace {

// Of what is not for joint rows.
std::optional<unsigned> registersForTwo(const Instruction& instruction, const LaneShapes& shapes,
                                        bool masked) {
  if (const auto registers = registersFor(instruction, shapes, masked)) return registers;
  if (isTestedNumber(instruction, shapes)) return registersOf(instruction.getType());
  // A vector of the source that each lane loads whole from a place of its own.
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (!load || !load->isSimple() || accessForm(*load, shapes, masked) != AccessForm::scattered ||
      !loadsRows(partType(load->getType(), 0), partCount(load->getType())))
    return std::nullopt;
  return gathered_registers;
}

// The registers that loops need for one vector, if they are for several at once.
std::optional<unsigned> registersOfLoops(llvm::Function& lane, const ControlLevels& levels,
                                         const LaneShapes& shapes) {
  size_t length = 0;
  unsigned needed = 0;
  for (const llvm::BasicBlock& block : lane) {
    const bool loops = levels.levelOf(&block).loop;
    for (const Instruction& instruction : block) {
      if (llvm::isa<llvm::AllocaInst>(instruction)) return std::nullopt;
      if (!loops) continue;
      const auto more = registersForTwo(instruction, shapes, levels.isMasked(&block));
      if (!more || ++length > longest_body) return std::nullopt;
      needed += *more;
    }
  }
  return needed;
}

// Much arithmetic in one block, and little memory. While one vector's waits for itself, the
// processor does not see as far as the next one's.
bool isLongArithmetic(const llvm::BasicBlock& block, const LaneShapes& shapes, bool masked) {
  size_t length = 0, accesses = 0;
  for (const Instruction& instruction : block) {
    if (!shapes.isVarying(&instruction) && !instruction.mayReadOrWriteMemory()) continue;
    if (llvm::getLoadStorePointerOperand(&instruction)) {
      if (instruction.isAtomic()) return false;
      const AccessForm form = accessForm(instruction, shapes, masked);
      if (form != AccessForm::once && form != AccessForm::vector &&
          !isTestedNumber(instruction, shapes))
        return false;
      ++accesses;
    } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      if (!calledNumberPart(*call) && !llvm::isTriviallyVectorizable(call->getIntrinsicID()) &&
          !hasVectorForm(*call))
        return false;
    } else if (instruction.isIntDivRem() || llvm::isa<llvm::AllocaInst>(instruction)) {
      return false;
    }
    ++length;
  }
  return length >= shortest_long && length <= longest_long &&
         accesses * arithmetic_of_access <= length;
}

}  // namespace

bool isLongArithmetic(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes) {
  if (levels.levels().size() != 1) return false;
  // Behind a condition that hardly any lane does not meet, if it is nearly all of the code.
  const auto counts = [&](const llvm::BasicBlock& block) {
    return !levels.isMasked(&block) || 4 * block.size() > 3 * lane.getInstructionCount();
  };
  return llvm::any_of(lane, [&](const llvm::BasicBlock& block) {
    return counts(block) && isLongArithmetic(block, shapes, levels.isMasked(&block));
  });
}

namespace {

// With many registers one vector's values stay in them and those of two do not.
bool hasLongLoop(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                 unsigned registers) {
  const bool has_arrays = llvm::any_of(lane.getEntryBlock(), [](const Instruction& instruction) {
    return llvm::isa<llvm::AllocaInst>(instruction);
  });
  return registers <= few_registers && !has_arrays &&
         llvm::any_of(levels.levels(), [&](const Level* level) {
           return level->loop && level->loop->getNumBlocks() == 1 &&
                  isLongArithmetic(*level->loop->getHeader(), shapes, false);
         });
}

bool hasWaitingLoop(const ControlLevels& levels, const LaneShapes& shapes) {
  return llvm::any_of(levels.levels(), [&](const Level* level) {
    return level->loop && level->loop->getNumBlocks() == 1 && waitsForTurns(*level->loop, shapes);
  });
}

}  // namespace

unsigned vectorsAtOnce(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                       const FarLoads& far, unsigned registers) {
  if (isLongArithmetic(lane, levels, shapes) || hasLongLoop(lane, levels, shapes, registers))
    return 2;
  if (far.empty() && !hasWaitingLoop(levels, shapes)) return 1;
  const auto needed = registersOfLoops(lane, levels, shapes);
  if (!needed) return 1;
  unsigned count = far.empty() ? 2 : most_at_once;
  // A quarter of the registers is for what is computed on the way.
  while (count > 1 && 4 * *needed * count > 3 * registers) count /= 2;
  return count;
}

}  // namespace weft::compiler
