// What every target does to a program between the builtins and its own lowering.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {

// Keeps what kernels reach, puts variables into registers, and finds out what each argument is used
// for. `machine` may be null; one for which address spaces mean something else must not be given.
void simplify(llvm::Module& module, llvm::TargetMachine* machine);

}  // namespace weft::compiler
