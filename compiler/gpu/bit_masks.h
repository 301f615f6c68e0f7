// Masks that are made of one bit of a 64-bit number.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// For NVIDIA's GPUs, whose registers have 32 bits: makes both halves of masks as -((x >> k) & 1) at
// once, of the half that has the bit, and masks of choices of a number or 0 by such a bit. LLVM has
// one instruction for that, of which the driver's compiler makes several for the whole number.
// Optimising the module after this could undo it.
void makeMasksOfHalves(llvm::Module& module);

}  // namespace weft::compiler
