// How printf calls pack their arguments (core/printf.h).
#pragma once

#include <cstdint>

#include <llvm/IR/IRBuilder.h>

#include "core/printf.h"

namespace weft::compiler {

PrintfArgument describeArgument(llvm::Type* type, const llvm::DataLayout& layout);

// With the argument's head, and padding behind it.
uint64_t packedBytes(const PrintfArgument& argument);

// The head as it lies in memory.
uint64_t packedHead(const PrintfArgument& argument);

// Stores head and elements at `address`.
void storeArgument(llvm::IRBuilder<>& builder, llvm::Value* address, llvm::Value* value);

}  // namespace weft::compiler
