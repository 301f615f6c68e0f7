// PTX as NVIDIA's compiler takes it without mistakes (seen with CUDA 13.0's, optimising: `ptxas
// -O2` and above).
#pragma once

#include <string>
#include <string_view>

namespace llvm {
class Module;
}

namespace weft::compiler {

// Gives a value to every phi that has none on some path: it would be a register that nothing wrote.
// Where one arm of a phi is such a register and the other a product, that compiler takes both for
// the product, and later reads the register in the product's place on a path where it has nothing.
void defineRegisters(llvm::Module& module);

// Null in place of pointers cast from one space to another, neither of them generic: what is left
// of to_local() of a global pointer, and not used. LLVM has no code for such a cast, and gives up.
void dropImpossibleCasts(llvm::Module& module);

// Plain operations in place of atomic ones on what a work-item owns: those change something else,
// since NVIDIA's GPUs have them for memory that is shared alone.
void lowerPrivateAtomics(llvm::Module& module);

// PTX whose upper halves of 64 bits are taken by a shift, as NVIDIA's own front end does it, not by
// the move of a pair, as LLVM does. With the move that compiler takes `upper(a * b) * c` for
// `a * upper(b * c)`.
std::string shiftUpperHalves(std::string_view ptx);

// PTX whose negatives that are compared for the larger or the smaller are made of a complement and
// a sum. Of `max(max(x, -y), z)` that compiler makes one instruction for sm_90 and sm_100 and loses
// the sign.
std::string complementNegatives(std::string_view ptx);

}  // namespace weft::compiler
