// The code of a lane, or of joint ones, and what is known of it.
#pragma once

#include <optional>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/far_loads.h"
#include "compiler/passes/simd/lane_shapes.h"
#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {

class LaneCode {
 public:
  LaneCode(llvm::Function& function, unsigned hidden)
      : function_(function),
        parameters_(laneParameters(function, hidden)),
        tree_(function),
        loops_(tree_),
        levels_(function, loops_) {
    if (levels_.valid()) shapes_.emplace(function, parameters_, levels_);
  }

  bool valid() const { return levels_.valid(); }
  ControlLevels& levels() { return levels_; }
  const ControlLevels& levels() const { return levels_; }
  const LaneShapes& shapes() const { return *shapes_; }
  FarLoads farLoads() { return findFarLoads(function_, *shapes_, tree_, loops_); }
  // Not before the levels are final.
  llvm::Function* emit(const VectorOptions& options) {
    return VectorBody(function_, parameters_, levels_, *shapes_, options).emit();
  }

 private:
  llvm::Function& function_;
  LaneParameters parameters_;
  llvm::DominatorTree tree_;
  llvm::LoopInfo loops_;
  ControlLevels levels_;
  std::optional<LaneShapes> shapes_;
};

}  // namespace weft::compiler
