// Gathers of bytes and half words, for which processors have no instruction: of the words that they
// lie in. A word that is aligned is in one page with what is wanted of it.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace weft::compiler {

// May elements of so many bytes be loaded so from this address space?
bool comeInWords(uint64_t bytes, unsigned address_space);

// Of `element`, which is aligned as it is large, at `pointers`; `mask` may be null.
llvm::Value* gatherFromWords(llvm::IRBuilder<>& builder, llvm::Type* element, llvm::Value* pointers,
                             llvm::Value* mask);

}  // namespace weft::compiler
