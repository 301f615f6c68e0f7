// Integer divisions where the processor does not mind what the language leaves unspecified.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// Takes away what keeps a divisor from being 0, or -1 where the quotient overflows
// (pipeline/divisions.h): GPUs return some value then, as the language asks. To LLVM it is
// undefined behaviour, so nothing may optimise the module after this.
void bareDivisions(llvm::Module& module);

}  // namespace weft::compiler
