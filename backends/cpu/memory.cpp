#include "backends/cpu/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>

#include "backends/cpu/mappings.h"
#include "core/error.h"
#include "core/guarded.h"
#include "core/host_share.h"
#include "core/system.h"

namespace weft::cpu {
namespace {

constexpr size_t default_alignment = 128;
constexpr size_t huge_page = size_t(2) << 20;
constexpr size_t page = 4096;
constexpr unsigned launches_before_move = 100;
// From this size on an allocation is checked against what is free now, which reads /proc.
constexpr size_t checked_bytes = size_t(64) << 20;

// From this size on objects begin at different places of a page, see below.
constexpr size_t staggered_bytes = size_t(64) << 10;

// Kernels go through several objects side by side. If all begin at the same place of a page, what
// is loaded from one looks to the processor like what was just stored to another, whose lower
// address bits are the same, and has to wait for it; and all want the same sets of the caches.
// So they begin `step` apart, in turns.
class Stagger {
 public:
  Stagger(size_t step, size_t alignment) : step_((step + alignment - 1) / alignment * alignment) {}
  size_t room() const { return (turns - 1) * step_; }
  size_t next() const {
    static std::atomic<size_t> turn{0};
    return turn.fetch_add(1, std::memory_order_relaxed) % turns * step_;
  }

 private:
  static constexpr size_t turns = 16;
  size_t step_;
};
// Of a page's places 16 different ones, 128 bytes or more from each other.
constexpr size_t lines_apart = 640;

// A control group is charged for kept pages until the system takes them.
bool isAvailable(uint64_t bytes) {
  if (bytes < checked_bytes || bytes <= availableMemoryBytes()) return true;
  return Mapping::dropKept() && bytes <= availableMemoryBytes();
}

HostShare shareOf(uint64_t bytes) {
  HostShare share(bytes);
  require(isAvailable(bytes), CL_MEM_OBJECT_ALLOCATION_FAILURE, "more than the machine has free");
  return share;
}

class HostMemory final : public port::Memory {
 public:
  HostMemory(void* host, size_t bytes) : host_(static_cast<std::byte*>(host)), bytes_(bytes) {}
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return host_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(host_); }

 private:
  std::byte* host_;
  size_t bytes_;
};

// Full of zeros at first, as pages from the system are: the language leaves it undefined, but there
// are programs that begin with what a new object holds.
class HeapMemory final : public port::Memory {
 public:
  HeapMemory(size_t bytes, size_t alignment) : share_(shareOf(bytes)), bytes_(bytes) {
    // Room for a whole vector at the end: nothing reads beyond its object by design, but
    // aligned_alloc wants a multiple of the alignment anyway.
    const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    const size_t room = bytes >= staggered_bytes ? std::max(page, alignment) : 0;
    const auto take = [&] {
      return static_cast<std::byte*>(std::aligned_alloc(alignment, rounded + room));
    };
    block_ = take();
    if (!block_ && Mapping::dropKept()) block_ = take();
    require(block_ != nullptr, CL_MEM_OBJECT_ALLOCATION_FAILURE, "out of memory");
    host_ = block_;
    if (room > 0) {
      const size_t begin = reinterpret_cast<uint64_t>(block_) % page;
      host_ += (Stagger(lines_apart, alignment).next() + page - begin) % page;
    }
    std::memset(host_, 0, rounded);
  }
  ~HeapMemory() override { std::free(block_); }
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return host_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(host_); }

 private:
  HostShare share_;
  std::byte* block_ = nullptr;
  std::byte* host_ = nullptr;
  size_t bytes_;
};

class MappedMemory;
// By their addresses. Never destroyed: memory may be released while the process exits.
auto& mappings() {
  static auto* const all = new Guarded<std::map<uint64_t, MappedMemory*>>;
  return *all;
}

// Whole pages, huge ones where they fit; new ones are untouched until used.
class MappedMemory final : public port::Memory {
  // Spread: by transfers, which do not know who will use the bytes.
  enum class State : uint8_t { nowhere, spread, placed };
  struct Place {
    NodeSet nodes;
    Layout layout;
  };

 public:
  MappedMemory(size_t bytes, size_t alignment, Pages pages)
      : share_(shareOf(bytes)),
        bytes_(bytes),
        pages_(pages),
        mapping_(mappingFor(bytes, alignment, pages)) {
    const uint64_t step = stepFor(alignment);
    const uint64_t start = (reinterpret_cast<uint64_t>(mapping_.base()) + step - 1) / step * step;
    const size_t offset = staggerFor(alignment).next();
    host_ = reinterpret_cast<std::byte*>(start) + offset;
    // Advice only: where it is refused the memory has small pages.
    madvise(reinterpret_cast<void*>(start), offset + bytes_, MADV_HUGEPAGE);
    if (!mapping_.isNew()) std::memset(host_, 0, bytes_);
    mappings().lock()->emplace(deviceAddress(), this);
  }
  ~MappedMemory() override {
    mappings().lock()->erase(deviceAddress());
    if (pages_ == Pages::used_again) Mapping::keep(std::move(mapping_));
  }
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return host_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(host_); }

  bool settled() const noexcept { return state_.load() != State::nowhere; }
  bool awaitsLayout() noexcept {
    const State state = state_.load(std::memory_order_relaxed);
    if (state == State::spread)
      return launches_.fetch_add(1, std::memory_order_relaxed) + 1 == launches_before_move;
    return state == State::nowhere;
  }
  // As the home says, or in these runs, as launches use it.
  // False where that cannot be: then the rest is where the system puts it.
  bool spread(const Home& home) noexcept;
  bool place(const Home& home, const Layout& layout) noexcept {
    return place(home, layout, State::placed);
  }
  NodeSet home() const { return place_.lock()->nodes; }
  Layout layout() const { return place_.lock()->layout; }
  bool holds(uint64_t address) const {
    const uint64_t begin = deviceAddress();
    return address >= begin && address - begin < bytes_;
  }

 private:
  static Stagger staggerFor(size_t alignment) { return {page + lines_apart, alignment}; }
  static size_t stepFor(size_t alignment) { return std::max(alignment, huge_page); }
  static Mapping mappingFor(size_t bytes, size_t alignment, Pages pages) {
    const size_t all = bytes + stepFor(alignment) + staggerFor(alignment).room();
    return pages == Pages::fresh ? Mapping::fresh(all) : Mapping::ofAtLeast(all);
  }
  bool place(const Home& home, const Layout& layout, State state) noexcept;

  HostShare share_;
  size_t bytes_;
  const Pages pages_;
  Mapping mapping_;
  std::byte* host_;
  std::atomic<State> state_{State::nowhere};
  std::atomic<unsigned> launches_{0};
  mutable Guarded<Place> place_;
};

// As many neighbouring pages on each node as it has units among those of the device.
Layout inBlocks(size_t bytes, const Home& home) {
  Layout layout;
  const auto all = std::accumulate(home.units.begin(), home.units.end(), uint64_t{0});
  const size_t pages = (bytes + page - 1) / page;
  uint64_t units = 0;
  size_t begin = 0;
  for (size_t i = 0; i < home.nodes.size(); ++i) {
    units += home.units[i];
    const size_t end = std::min(bytes, size_t(double(pages) * double(units) / double(all)) * page);
    if (end > begin) layout.push_back({begin, end, home.nodes[i]});
    begin = end;
  }
  return layout;
}

bool MappedMemory::spread(const Home& home) noexcept try {
  const bool several = home.nodes.size() > 1;
  if (several && home.spread == Spread::blocks) return place(home, inBlocks(bytes_, home));
  return place(home, {}, several ? State::spread : State::placed);
} catch (...) {
  return false;
}

bool MappedMemory::place(const Home& home, const Layout& layout, State state) noexcept try {
  auto own = place_.lock();
  state_.store(state, std::memory_order_relaxed);
  if (own->nodes == home.nodes && own->layout == layout) return true;
  const bool is_spread = own->nodes == home.nodes && own->layout.empty();
  if (!is_spread && !home.topology->placeMemory(host_, bytes_, home.nodes)) return false;
  own->nodes = home.nodes;
  own->layout.clear();
  for (const NodeRun& run : layout)
    if (home.topology->placeMemory(host_ + run.begin, run.end - run.begin, {run.node}))
      own->layout.push_back(run);
  return true;
} catch (...) {
  return false;
}

}  // namespace

std::unique_ptr<port::Memory> allocateMemory(size_t bytes, size_t alignment, Pages pages) {
  bytes = std::max<size_t>(bytes, 1);
  alignment = std::max(alignment, default_alignment);
  if (bytes >= huge_page) return std::make_unique<MappedMemory>(bytes, alignment, pages);
  return std::make_unique<HeapMemory>(bytes, alignment);
}

std::unique_ptr<port::Memory> importMemory(void* host, size_t bytes) {
  return std::make_unique<HostMemory>(host, bytes);
}

namespace {

MappedMemory* mapped(port::Memory& memory, const Home& home) noexcept {
  return home.nodes.empty() ? nullptr : dynamic_cast<MappedMemory*>(&memory);
}

}  // namespace

void settle(port::Memory& memory, const Home& home) noexcept {
  auto* const own = mapped(memory, home);
  if (own && !own->settled()) own->spread(home);
}

void moveHome(port::Memory& memory, const Home& home) noexcept {
  if (auto* const own = mapped(memory, home)) own->spread(home);
}

bool awaitsLayout(port::Memory& memory) noexcept {
  auto* const own = dynamic_cast<MappedMemory*>(&memory);
  return own && own->awaitsLayout();
}

void settleAs(port::Memory& memory, const Home& home, const Layout& layout) noexcept {
  if (auto* const own = mapped(memory, home)) own->place(home, layout);
}

NodeSet homeOf(const port::Memory& memory) {
  const auto* const own = dynamic_cast<const MappedMemory*>(&memory);
  return own ? own->home() : NodeSet();
}

Layout layoutOf(const port::Memory& memory) {
  const auto* const own = dynamic_cast<const MappedMemory*>(&memory);
  return own ? own->layout() : Layout();
}

port::Memory* memoryAt(uint64_t address) noexcept {
  auto all = mappings().lock();
  auto next = all->upper_bound(address);
  if (next == all->begin()) return nullptr;
  MappedMemory* const candidate = std::prev(next)->second;
  return candidate->holds(address) ? candidate : nullptr;
}

}  // namespace weft::cpu
