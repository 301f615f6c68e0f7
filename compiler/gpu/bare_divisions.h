// Integer divisions where the processor does not mind what the language leaves unspecified.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// For NVIDIA's GPUs. Takes away what keeps a divisor of up to 32 bits from being 0, or -1 where the
// quotient overflows (pipeline/divisions.h): the instructions return some value then, as the
// language asks. To LLVM that would be undefined behaviour, by which a later pass may say that the
// divisor is not 0, so the instructions are assembly. Nothing is gained by optimising the module
// after this.
void bareDivisions(llvm::Module& module);

}  // namespace weft::compiler
