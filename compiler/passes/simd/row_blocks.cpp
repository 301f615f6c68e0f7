#include "compiler/passes/simd/row_blocks.h"

#include "compiler/passes/simd/far_loads.h"

namespace weft::compiler {

using llvm::Instruction;

RowCost rowCost(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                const JointRows& rows, unsigned width, const GatherCost& gathers) {
  RowCost result;
  for (const llvm::BasicBlock& block : lane) {
    const Level& level = levels.levelOf(&block);
    const bool masked = levels.isMasked(&block);
    const double share = shareOf(block, levels);
    const double weight = turnsOf(level);
    for (const Instruction& instruction : block) {
      const bool differs = rows.differs(&instruction);
      const auto registers = registersFor(instruction, shapes, masked);
      if (differs && !registers) result.suits = false;
      if (!llvm::isa<llvm::GetElementPtrInst>(instruction))  // mostly part of what accesses it
        ++(differs ? result.own_code : result.common_code);
      if (level.loop)
        (differs ? result.own_registers : result.common_registers) += registers.value_or(0);
      const double cost =
          weight * instructionCost(instruction, shapes, masked, share, width, gathers).vectors;
      const double wait = isRecurrence(instruction, level) ? weight * recurrence_latency : 0;
      result.total += cost + wait;
      (differs ? result.waits : result.shared) += wait;
      if (!differs) result.shared += cost;
    }
  }
  return result;
}

llvm::SmallVector<RowBlock, 2> rowBlocks(const RowCost& cost, unsigned registers, bool of_several) {
  constexpr unsigned most_rows = 8, usual_rows = 4, most_vectors = 4;
  constexpr double worth_a_form = 20;
  constexpr unsigned most_code = 400;  // instructions; compiling more takes too long
  llvm::SmallVector<RowBlock, 2> result;
  const auto fit = [&](unsigned rows, unsigned vectors) {
    // A quarter of the registers is for what is computed on the way.
    const unsigned kept = vectors * (rows * cost.own_registers + cost.common_registers);
    return 4 * kept <= 3 * registers && rows * cost.own_code + cost.common_code <= most_code;
  };
  // Of what rows share, a row of twice as many has half: is that worth a form in each region?
  const double common = cost.shared + cost.waits;
  const double gain = common / usual_rows - common / most_rows;
  const bool gains = !of_several || worth_a_form * gain > cost.total - common + common / usual_rows;
  if (gains && fit(most_rows, 1)) result.push_back({most_rows, {1}});
  for (unsigned rows = usual_rows; rows > 1; rows /= 2) {
    if (!fit(rows, 1)) continue;
    unsigned vectors = cost.waits > 0 ? most_vectors : 1;
    while (!fit(rows, vectors)) vectors /= 2;
    RowBlock& block = result.emplace_back(RowBlock{rows, {}});
    if (vectors > 1) block.vectors.push_back(vectors);
    block.vectors.push_back(1);
    break;
  }
  return result;
}

}  // namespace weft::compiler
