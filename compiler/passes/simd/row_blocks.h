// How many rows of lanes are worth running at once (joint_rows.h), and how many vectors of each.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>

#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/joint_rows.h"
#include "compiler/passes/simd/lane_shapes.h"
#include "compiler/passes/simd/vector_cost.h"

namespace weft::compiler {

struct RowBlock {
  unsigned rows;
  llvm::SmallVector<unsigned, 2> vectors;  // of a row at once, most first
};

struct RowCost {
  double total = 0;   // of a row's vector, as vector_cost.h has it
  double shared = 0;  // what is done once for all rows
  double waits = 0;   // what a row waits for itself while others could go on
  // Of each row, and of what is done once: registers that loops keep, and instructions.
  unsigned own_registers = 0, common_registers = 0;
  unsigned own_code = 0, common_code = 0;
  bool suits = true;  // nothing in it is better done for one row after the other

  bool pays() const { return suits && 5 * (shared + waits) > total; }
};

RowCost rowCost(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                const JointRows& rows, unsigned width, const GatherCost& gathers);

// Most rows first; none if they are not worth it. Of a region that is one `of_several` there are as
// few forms as do: a kernel has those of all of them.
llvm::SmallVector<RowBlock, 2> rowBlocks(const RowCost& cost, unsigned registers, bool of_several);

}  // namespace weft::compiler
