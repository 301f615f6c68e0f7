// Values that are cheaper to compute anew than to keep.
#pragma once

#include <llvm/IR/Instructions.h>

#include "compiler/passes/liveness.h"
#include "compiler/passes/uniformity.h"

namespace weft::compiler {

// If `value` is a short, safe computation on parameters and variables' addresses, moves it with
// what it needs to the end of `prologue`, which every region starts with.
bool moveToPrologue(llvm::Instruction& value, llvm::BasicBlock& prologue);

// Computes anew behind each barrier what differs between lanes and is a short, safe computation on
// `prologue`'s values, parameters and what the whole group has, of which then only the latter has
// to be kept. Lanes are in lockstep. Returns whether there was any such value.
bool recomputeBehindBarriers(const LiveAcross& values, const std::vector<Barrier>& barriers,
                             const llvm::BasicBlock& prologue, const Uniformity& uniformity);

}  // namespace weft::compiler
