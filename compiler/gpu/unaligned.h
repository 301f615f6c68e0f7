// Vectors in memory that is not aligned for them.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// Takes loads and stores of vectors apart that promise less than the vector's alignment: element by
// element, which is what the program promised. NVPTX of LLVM 19 would load 16 chars in one piece,
// whatever their address. Four chars are stored as one where they turn out to be aligned.
void splitUnalignedVectors(llvm::Module& module);

}  // namespace weft::compiler
