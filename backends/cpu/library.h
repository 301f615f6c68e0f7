// An ELF shared object in memory that the dynamic loader opened, so that gdb and perf see it like
// any library.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace weft::cpu {

class Library {
 public:
  // Throws CL_INVALID_BINARY. Each instance is loaded from a file of its own, which gives it its
  // own variables.
  explicit Library(std::span<const std::byte> payload);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  // Null when it has no such symbol.
  void* find(const char* symbol) const noexcept;

 private:
  void* handle_ = nullptr;
};

}  // namespace weft::cpu
