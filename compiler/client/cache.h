// The disk cache of compile results. Everything about it may fail, and then a program is compiled
// again; nothing in it is trusted further than its checksums and its owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/job.h"
#include "compiler/protocol.h"

namespace weft::compiler {

// Thread-safe, and safe with any number of processes on one directory.
class Cache {
 public:
  // From WEFT_CACHE, WEFT_CACHE_DIR, XDG_CACHE_HOME, HOME, WEFT_CACHE_MAX_MB.
  static Cache fromEnvironment();
  // An empty path: no cache.
  Cache(const std::string& directory, uint64_t capacity_bytes);

  bool usable() const { return static_cast<bool>(directory_); }
  // For people: where it is and how much it may hold, or why there is none.
  std::string describe() const;

  // A stored answer for `key` whose files are all as they were.
  std::optional<Answer> find(const Hash& key) const;
  void store(const Hash& key, const Answer& answer) const;

 private:
  void account(uint64_t bytes) const;
  uint64_t evict() const;

  std::string path_;
  Descriptor directory_;
  uint64_t capacity_ = 0;
};

}  // namespace weft::compiler
