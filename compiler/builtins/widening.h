// Functions of single elements as functions of vectors.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace weft::compiler {

// The same function of as many elements as the one in hand.
using FormMaker = llvm::function_ref<llvm::Function*(const llvm::Function&)>;

// Gives `vector`, a declaration, the body of `scalar` for each element at once. Branches become
// selections, but those around a call of another function of the library's own are taken if any
// element needs it. Parts of numbers (number_parts.h) become the machine's instructions where it
// has them; tables of 16 doubles, which are for machines that have, are looked up in registers.
// False, and nothing done, if `scalar` has loops or is more than arithmetic.
bool widen(const llvm::Function& scalar, llvm::Function& vector, const llvm::TargetMachine& machine,
           FormMaker makeForm);

}  // namespace weft::compiler
