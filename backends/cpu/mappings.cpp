#include "backends/cpu/mappings.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/guarded.h"

namespace weft::cpu {
namespace {

constexpr size_t huge_page = size_t(2) << 20;
constexpr size_t largest_kept = size_t(32) << 20;
constexpr size_t most_kept = size_t(128) << 20;

struct Kept {
  std::vector<Mapping> mappings;  // the latest last
  size_t bytes = 0;

  std::optional<Mapping> take(size_t bytes_wanted) {
    auto best = mappings.end();
    for (auto each = mappings.begin(); each != mappings.end(); ++each) {
      const bool fits =
          each->size() >= bytes_wanted && each->size() - bytes_wanted <= each->size() / 5;
      if (fits && (best == mappings.end() || each->size() <= best->size())) best = each;
    }
    if (best == mappings.end()) return std::nullopt;
    Mapping result = std::move(*best);
    mappings.erase(best);
    bytes -= result.size();
    return result;
  }
};

// Never destroyed: memory may be released while the process exits.
auto& kept() {
  static auto* const all = new Guarded<Kept>;
  return *all;
}

// Whole huge pages, so that none is taken apart.
void offerPages(const Mapping& mapping) {
  const uint64_t from = reinterpret_cast<uint64_t>(mapping.base());
  const uint64_t begin = (from + huge_page - 1) / huge_page * huge_page;
  const uint64_t end = (from + mapping.size()) / huge_page * huge_page;
  // Advice only.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_FREE);
}

}  // namespace

Mapping Mapping::ofAtLeast(size_t bytes) {
  if (std::optional<Mapping> old = kept().lock()->take(bytes)) return std::move(*old);
  return fresh(bytes);
}

Mapping Mapping::fresh(size_t bytes) {
  const auto map = [bytes] {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  };
  void* base = map();
  if (base == MAP_FAILED && dropKept()) base = map();
  require(base != MAP_FAILED, CL_MEM_OBJECT_ALLOCATION_FAILURE, "mmap");
  return Mapping(static_cast<std::byte*>(base), bytes);
}

Mapping::~Mapping() {
  if (base_) munmap(base_, bytes_);
}

void Mapping::keep(Mapping mapping) noexcept try {
  if (mapping.size() > largest_kept) return;
  mapping.is_new_ = false;
  offerPages(mapping);
  std::vector<Mapping> given_up;  // unmapped behind the lock
  const auto all = kept().lock();
  all->mappings.push_back(std::move(mapping));
  all->bytes += all->mappings.back().size();
  while (all->bytes > most_kept) {
    given_up.push_back(std::move(all->mappings.front()));
    all->bytes -= given_up.back().size();
    all->mappings.erase(all->mappings.begin());
  }
} catch (...) {
  // Without memory to note it, it is unmapped.
}

bool Mapping::dropKept() noexcept {
  const Kept all = std::exchange(*kept().lock(), {});  // unmapped behind the lock
  return all.bytes > 0;
}

}  // namespace weft::cpu
