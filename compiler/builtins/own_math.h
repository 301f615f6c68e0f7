// The library's own scalar math functions (cl/own_*.cl), within the library.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace llvm {
class Function;
}

namespace weft::compiler {

struct MathName;

// Has the library a function of its own that is faster than SLEEF's, with fused multiply-add? And
// where vectors have instructions for the parts of numbers (number_parts.h)?
bool hasFasterForm(const MathName& name, bool has_parts);

// Gives `function`, of one element or of vectors, a body that calls `element_function` for each
// element, declared where it is missing. Inlined always.
void defineByElements(llvm::Function& function, llvm::StringRef element_function);

}  // namespace weft::compiler
