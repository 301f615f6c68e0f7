// Vectors of the source, taken apart for LLVM's loop vectoriser, which takes no loop with vectors
// in it: lanes are better vectors than a float4's elements.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Passes/PassBuilder.h>

namespace weft::compiler {

// A loop whose turns are lanes and may be taken in any order.
bool isOverLanes(const llvm::Loop& loop);

// Are most of a lane's accesses to vectors of many small elements, such as uchar16, with little
// else to do? Registers of this size are then best filled by each lane for itself, not by one lane
// for each 32 bits.
bool vectorsFillRegisters(const llvm::Function& lane, double register_bits);

// Takes vectors apart, loads and stores too, right before the loop vectoriser, in functions where
// every innermost loop is one over lanes. Where a lane has a loop of its own, that vectoriser does
// not take the lanes, and the source's vectors stay. So they do where they fill registers by
// themselves and putting their elements in order, lane by lane, would cost more than it saves.
void scalariseLanes(llvm::PassBuilder& builder);

}  // namespace weft::compiler
