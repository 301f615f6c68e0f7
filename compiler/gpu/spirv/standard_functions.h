// The math functions of OpenCL C that a driver's own compiler has.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {

// Gives the functions of float and double of OpenCL C's math, and what the builtin library names
// that it wants from a math library, bodies that call the target's: "weft.std.<n>.<types>", where n
// is the number of an instruction of OpenCL.std. So nothing is left that computes float in double,
// which devices may lack. `own`: what the program itself defines. To be called before and after the
// builtin library is linked.
void useStandardFunctions(llvm::Module& module, const llvm::StringSet<>& own);

// The number of the instruction, of a function that useStandardFunctions() made.
std::optional<uint32_t> standardInstruction(llvm::StringRef name);

}  // namespace weft::compiler
