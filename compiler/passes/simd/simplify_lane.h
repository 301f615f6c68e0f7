// What makes the code of a lane such that it can become code of several.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {

// Inlines what the code of a lane calls, so that it becomes code of several; parts of floats only
// where vectors have no instruction for them. Ends when there are more than `most_instructions`.
// Returns whether there was anything.
bool inlineCalls(llvm::Function& lane, bool has_parts, size_t most_instructions);

// Brings the code of a lane into the form that VectorBody wants. True if loops through private
// arrays are unrolled which no one else unrolls.
bool simplifyLane(llvm::Function& lane, llvm::TargetMachine& machine, bool clean);

// Lets loops end after a turn instead of before it, and no more.
void rotateLoops(llvm::Function& lane, llvm::TargetMachine& machine);

}  // namespace weft::compiler
