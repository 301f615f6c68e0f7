// Which instructions have a form for several lanes at once.
#pragma once

#include <llvm/IR/Instruction.h>

namespace weft::compiler {

bool isSupported(const llvm::Instruction& instruction);

}  // namespace weft::compiler
