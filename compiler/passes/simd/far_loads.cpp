#include "compiler/passes/simd/far_loads.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "compiler/passes/simd/float_parts.h"
#include "compiler/passes/simd/neighbours.h"
#include "compiler/passes/simd/vector_body.h"
#include "compiler/passes/simd/vector_report.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;

constexpr uint64_t cache_line = 64;         // bytes
constexpr size_t longest_body = 48;         // instructions in loops
constexpr unsigned most_at_once = 4;        // vectors
constexpr unsigned word_bits = 32;          // of a lane, in a register of the vectors' width
constexpr unsigned gathered_registers = 3;  // a gather's addresses and result

constexpr double per_cycle = 2;        // instructions of vectors
constexpr double shortest_wait = 8;    // cycles that two vectors at once are worth it for
constexpr double wait_for_work = 1.5;  // times what the instructions take
constexpr double gather_size = 24;     // in instructions

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

// In cycles, about.
double latencyOf(const Instruction& instruction, const LaneShapes& shapes) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return shapes.of(load->getPointerOperand()).kind == LaneShape::varying ? 20 : 7;
  if (instruction.getOpcode() == Instruction::FDiv) return 12;
  if (llvm::isa<llvm::CallInst>(instruction)) return 4;
  const auto isReal = [](const llvm::Type* type) { return type->isFPOrFPVectorTy(); };
  return isReal(instruction.getType()) || isReal(instruction.getOperand(0)->getType()) ? 4 : 1;
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
    if (start >= 0) ready[&instruction] = start + latencyOf(instruction, shapes);
    const bool gathers = latencyOf(instruction, shapes) == 20;
    size += gathers ? gather_size : 1;
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
    if (!isFloatPart(instruction) && !llvm::isTriviallyVectorizable(call->getIntrinsicID()))
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
      const auto more = registersFor(instruction, shapes, levels.isMasked(&block));
      if (!more || ++length > longest_body) return std::nullopt;
      needed += *more;
    }
  }
  return needed;
}

bool hasWaitingLoop(const ControlLevels& levels, const LaneShapes& shapes) {
  return llvm::any_of(levels.levels(), [&](const Level* level) {
    return level->loop && level->loop->getNumBlocks() == 1 && waitsForTurns(*level->loop, shapes);
  });
}

}  // namespace

unsigned vectorsAtOnce(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                       const FarLoads& far, unsigned registers) {
  if (far.empty() && !hasWaitingLoop(levels, shapes)) return 1;
  const auto needed = registersOfLoops(lane, levels, shapes);
  if (!needed) return 1;
  unsigned count = far.empty() ? 2 : most_at_once;
  // A quarter of the registers is for what is computed on the way.
  while (count > 1 && 4 * *needed * count > 3 * registers) count /= 2;
  return count;
}

}  // namespace weft::compiler
