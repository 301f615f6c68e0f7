// The format in which the builtin library is embedded: written by pack.cpp at build time, read by
// library.cpp in place. Little-endian, in this order: Header, ModuleEntry[modules],
// SymbolEntry[symbols] sorted by name, names (each ended by a zero byte), bitcode.
#pragma once

#include <cstdint>

namespace weft::compiler::blob {

inline constexpr uint32_t magic = 0x31424c57;  // "WLB1"

struct Header {
  uint32_t magic;
  uint32_t modules;
  uint32_t symbols;
  uint32_t name_bytes;
};

struct ModuleEntry {
  uint32_t offset;  // from the start of the blob, a multiple of 8
  uint32_t size;
};

struct SymbolEntry {
  uint32_t name;    // offset into the names
  uint32_t module;  // the module that defines it
};

}  // namespace weft::compiler::blob
