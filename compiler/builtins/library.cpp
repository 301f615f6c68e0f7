#include "compiler/builtins/library.h"

#include <algorithm>

#include "compiler/builtins/blob.h"

// The assembler copies the file that weft-builtins-pack wrote.
asm(".pushsection .rodata\n"
    ".balign 16\n"
    "weft_builtins_blob:\n"
    ".incbin \"" WEFT_BUILTINS_BLOB
    "\"\n"
    ".byte 0\n"
    ".popsection\n");
extern "C" const char weft_builtins_blob[] __attribute__((visibility("hidden")));

namespace weft::compiler {
namespace {

const blob::Header& header() { return *reinterpret_cast<const blob::Header*>(weft_builtins_blob); }
const blob::ModuleEntry* modules() {
  return reinterpret_cast<const blob::ModuleEntry*>(&header() + 1);
}
const blob::SymbolEntry* symbols() {
  return reinterpret_cast<const blob::SymbolEntry*>(modules() + header().modules);
}
const char* names() { return reinterpret_cast<const char*>(symbols() + header().symbols); }

}  // namespace

std::optional<uint32_t> findBuiltinModule(std::string_view symbol) {
  const blob::SymbolEntry* end = symbols() + header().symbols;
  const blob::SymbolEntry* found = std::lower_bound(
      symbols(), end, symbol, [](const blob::SymbolEntry& entry, std::string_view s) {
        return std::string_view(names() + entry.name) < s;
      });
  if (found == end || names() + found->name != symbol) return std::nullopt;
  return found->module;
}

std::string_view builtinBitcode(uint32_t module) {
  const blob::ModuleEntry& entry = modules()[module];
  return {weft_builtins_blob + entry.offset, entry.size};
}

uint32_t builtinSymbolCount() { return header().symbols; }

}  // namespace weft::compiler
