// What LLVM's loop vectoriser may do to a lane's accesses.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Passes/PassBuilder.h>

namespace weft::compiler {

// For a loop whose turns may be taken in any order, as that over lanes, the loop vectoriser looks
// for no dependences. Accesses of one turn that lie between each other's, such as those of a
// vector's parts, it takes as one: loads where the first is, stores where the last is. Does the
// region have others in between that may be to the same memory, so that it would break their order?
// Each lane's private variables must be somewhere else. Where the region has loops, no.
bool mayLoseOrder(llvm::Function& region);

// Has the pipeline keep the loop vectoriser from loops over lanes whose order it would break. What
// mayLoseOrder() sees is earlier, while there is time to choose vectors of another kind.
void keepLaneOrder(llvm::PassBuilder& builder);

}  // namespace weft::compiler
