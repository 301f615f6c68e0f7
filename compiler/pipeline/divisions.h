// Integer division as OpenCL C has it: never undefined behaviour.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// "A divide by zero with integer types does not cause an exception but will result in an
// unspecified value. Division by -1 of the minimum value ... will result in an unspecified value."
// To LLVM both are undefined and trap on x86, so this runs before anything optimises the module.
void defineDivisions(llvm::Module& module);

}  // namespace weft::compiler
