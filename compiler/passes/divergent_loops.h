// Loops that work-items leave in different turns.
#pragma once

#include "compiler/passes/kernel_body.h"

namespace weft::compiler {

// Where such a loop stays that of one work-item it is not to be unrolled: the turns that are left
// over are a loop of their own, with another number of turns that no processor foresees.
void keepDivergentLoopsRolled(const KernelBody& body);

}  // namespace weft::compiler
