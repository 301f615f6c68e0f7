// Points, beyond the program's barriers, at which it helps to let the lanes meet.
#pragma once

#include "compiler/passes/kernel_body.h"

namespace weft::compiler {

// Where lanes in lockstep leave or repeat a loop with barriers by a uniform branch, puts a barrier
// on both ways. What follows is then a loop over lanes without that branch, which vectorises.
// Without lockstep it does nothing, as there an added barrier would not be without effect.
void addMeetings(KernelBody& body);

// Has short loops of constant length unrolled, so that the loops over lanes are the innermost.
void unrollShortLoops(llvm::Function& body);

}  // namespace weft::compiler
