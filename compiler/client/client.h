// The compiler as the library uses it: option check, disk cache, and the compiler's process.
#pragma once

#include <memory>

#include "core/ports/compiler.h"

namespace weft {

// Costs nothing until the first compile that the cache cannot answer.
std::unique_ptr<port::Compiler> makeCompiler();

}  // namespace weft
