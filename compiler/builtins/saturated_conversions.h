// Conversions of floating-point numbers to integers that saturate.
#pragma once

#include <llvm/IR/Module.h>

namespace weft::compiler {

// Makes llvm.fptosi.sat and llvm.fptoui.sat comparisons and a plain conversion. Code generation for
// x86 takes vectors of them apart.
void lowerSaturatedConversions(llvm::Module& module);

}  // namespace weft::compiler
