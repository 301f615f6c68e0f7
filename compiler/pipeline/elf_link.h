// Links relocatable objects to a shared object, with lld in this process.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>

#include "core/ports/compiler.h"

namespace weft::compiler {

using ObjectCode = llvm::SmallVector<char, 0>;

// The libraries that code for the host may refer to are recorded by name, each only when one of its
// functions is used; nothing of them has to be installed here. Fails, naming the symbols, when
// `objects` need a function that none of them has. Not thread-safe: lld has global state.
llvm::Expected<port::Bytes> linkSharedObject(std::span<const ObjectCode> objects);

// Of code for AMD's GPUs: nothing may be undefined.
llvm::Expected<port::Bytes> linkCodeObject(const ObjectCode& object);

}  // namespace weft::compiler
