// Private arrays that a program exchanges by their pointers.
#pragma once

#include <llvm/IR/Function.h>

namespace weft::compiler {

// Makes one array of those that a pointer goes to in turn, such as the last row of a table and the
// one that is being worked out, and numbers of such pointers: where in it they begin. The number is
// then seen to be the same in all work-items, and the array to be accessed by elements. Returns
// whether there were any.
bool joinSwappedArrays(llvm::Function& body);

}  // namespace weft::compiler
