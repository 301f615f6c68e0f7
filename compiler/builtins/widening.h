// Functions of single elements as functions of vectors.
#pragma once

namespace llvm {
class Function;
}

namespace weft::compiler {

// Gives `vector`, a declaration, the body of `scalar` for each element at once. False, and nothing
// done, if `scalar` has loops or is more than arithmetic.
bool widen(const llvm::Function& scalar, llvm::Function& vector);

}  // namespace weft::compiler
