// Links one relocatable object to a shared object, with lld in this process.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <llvm/Support/Error.h>

#include "core/ports/compiler.h"

namespace weft::compiler {

// The libraries that code for the host may refer to are recorded by name, each only when one of its
// functions is used; nothing of them has to be installed here. Fails, naming the symbols, when
// `object` needs a function that none of them has. Not thread-safe: lld has global state.
llvm::Expected<port::Bytes> linkSharedObject(std::span<const char> object);

// Of code for AMD's GPUs: nothing may be undefined.
llvm::Expected<port::Bytes> linkCodeObject(std::span<const char> object);

}  // namespace weft::compiler
