// Shifts of vectors by more than their elements have bits.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// Gives such elements an amount that they can be shifted by. They are poison, and nobody takes
// them: LLVM's SLP vectoriser makes them of lanes with another operation. But its code generator
// takes them for zeros, so that a blend may become an `or`, while x86 fills them with the sign.
// Optimising the module after this could undo it.
void boundShiftAmounts(llvm::Module& module);

}  // namespace weft::compiler
