// The compiler as the library uses it: option check, disk cache, and the compiler's process.
#pragma once

#include <memory>

#include "core/ports/code_maker.h"
#include "core/ports/compiler.h"

namespace weft {

// Costs nothing until the first compile that the cache cannot answer.
std::unique_ptr<port::Compiler> makeCompiler();

// A compiler that leaves code for later where a program has much of it, and who makes that code.
struct DeferringCompiler {
  std::unique_ptr<port::Compiler> compiler;
  std::shared_ptr<const port::CodeMaker> code;
};
DeferringCompiler makeDeferringCompiler();

}  // namespace weft
