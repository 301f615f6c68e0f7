// Says what became of a region, as remarks of LLVM: with -Rweft they come into the build log.
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/passes/regions.h"
#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/lane_shapes.h"
#include "compiler/passes/simd/row_blocks.h"
#include "compiler/passes/simd/vector_cost.h"

namespace weft::compiler {

inline constexpr const char* vector_remarks = "weft-vectorise";  // the pass's name in them

// What is done for one access of all lanes. Tested ones are whole vectors where the lanes turn out
// to be neighbours when they run, and scattered elsewhere.
enum class AccessForm : uint8_t { once, vector, strided, tested, scattered, serial };

AccessForm accessForm(const llvm::Instruction& access, const LaneShapes& shapes, bool masked);

// The region is left to LLVM's loop vectoriser; `where` may be null.
void reportRefusal(const llvm::Function& region, const llvm::Instruction* where,
                   const llvm::Twine& why);

// Its lanes run side by side.
void reportVectors(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                   unsigned width, VectorCost cost);

// What is made of a kernel's turned body (turned_body.h) has this in its name.
inline constexpr llvm::StringLiteral turned_suffix = ".turned";
// And of its joint body (joint_groups.h).
inline constexpr llvm::StringLiteral joint_suffix = ".joint";
// And of the body in which each sub-group is a vector (sub_groups.h).
inline constexpr llvm::StringLiteral sub_groups_suffix = ".sub_groups";

// Accesses of the turned body take so many hundredths of what those of `body` take.
void reportTurned(const llvm::Function& body, unsigned percent);

// Two of its groups run together where there are as many.
void reportJoint(const llvm::Function& body);

// Lanes of so many rows run together where there are as many.
void reportRows(const llvm::Function& lane, const RowCost& cost, llvm::ArrayRef<VectorRows> blocks);

}  // namespace weft::compiler
