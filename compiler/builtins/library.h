// The embedded builtin library: which module defines a symbol, and the module's bitcode.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::compiler {

// Reads the blob in place; nothing to set up, safe from any thread.
std::optional<uint32_t> findBuiltinModule(std::string_view symbol);
std::string_view builtinBitcode(uint32_t module);
uint32_t builtinSymbolCount();

}  // namespace weft::compiler
