// What LLVM takes for granted of what its instructions are made of, and damaged modules do not keep
// to. Each check gives back what it was given, or throws Failure.
#pragma once

#include <llvm/IR/Instructions.h>

#include "compiler/spirv/types.h"

namespace weft::compiler::spirv::checked {

void demand(bool kept, const char* otherwise);

// Numbers, or vectors of them.
llvm::Value* integers(llvm::Value* value);
llvm::Value* floats(llvm::Value* value);
// Alone.
llvm::Value* integer(llvm::Value* value);
llvm::Value* truth(llvm::Value* value);
llvm::Value* pointer(llvm::Value* value);
llvm::Value* vector(llvm::Value* value);

// A value that has the type.
llvm::Value* ofType(llvm::Value* value, const llvm::Type* type);
// One with as many components as the type, none included.
llvm::Value* shapedAs(llvm::Value* value, const llvm::Type* type);

// What memory may hold.
llvm::Type* sized(llvm::Type* type);
llvm::Align alignment(uint64_t bytes);

// A member's type, by the number of the member.
llvm::Type* member(llvm::Type* whole, unsigned index);

}  // namespace weft::compiler::spirv::checked
