#include "tests/software_gpu/processor/work_group.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tests/software_gpu/processor/fiber.h"

namespace weft::software {
namespace {

constexpr size_t local_alignment = 128;

constexpr uint32_t warp_size = 32, max_warps = 32, max_barriers = 16;

struct WorkItem {
  std::array<uint32_t, 3> id{};
  uint32_t linear = 0;
  Fiber* fiber = nullptr;
};

// Work-items of a warp that exchange values: one for each set of lanes that is at it.
struct Exchange {
  uint32_t members = 0, arrived = 0;
  std::array<uint32_t, warp_size> given{};
  std::vector<WorkItem> parked;
};

// A work-item that asks which lanes are here with it.
struct Asking {
  WorkItem item;
  const void* place;  // in the code
};

struct Warp {
  std::vector<Exchange> exchanges;
  // What each lane got from its last one: the lanes here, or all lanes' values.
  std::array<std::array<uint32_t, warp_size>, warp_size> exchanged{};
  std::array<uint32_t, warp_size> here{};
  std::vector<Asking> asking;
};

// A barrier of some warps. Each comes once all its items have.
struct NamedBarrier {
  std::array<uint32_t, max_warps> items{};
  uint32_t warps = 0;
  std::vector<WorkItem> parked;
};

// The group that a thread runs. A fiber runs one item after the other; the first time one of them
// waits, the fiber is that item's and the next item begins on another.
struct Group {
  const LaunchRequest* launch = nullptr;
  std::array<uint32_t, 3> id{};
  uint32_t next = 0, items = 0, finished = 0;
  WorkItem item{};                                 // the running one
  std::vector<WorkItem> waiting, ready, resuming;  // at a barrier; who may go on
  std::array<Warp, max_warps> warps;
  std::array<NamedBarrier, max_barriers> barriers;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber*> idle;
  std::byte* local = nullptr;
  size_t local_capacity = 0;
};
thread_local Group group;

std::array<uint32_t, 3> place(uint32_t index) {
  const auto& block = group.launch->block;
  return {index % block[0], index / block[0] % block[1], index / block[0] / block[1]};
}

void runItems() {
  using Kernel = void (*)(const void* parameters);
  const auto kernel = reinterpret_cast<Kernel>(group.launch->function);
  while (group.next < group.items) {
    Fiber* const own = group.item.fiber;
    group.item = {place(group.next), group.next, own};
    ++group.next;
    kernel(group.launch->parameters.data());
    ++group.finished;
  }
}

Fiber* takeFiber() {
  if (group.idle.empty()) {
    group.fibers.push_back(std::make_unique<Fiber>([] {
      Fiber* const own = group.item.fiber;
      runItems();
      group.idle.push_back(own);
    }));
    return group.fibers.back().get();
  }
  Fiber* const fiber = group.idle.back();
  group.idle.pop_back();
  return fiber;
}

void startItems() {
  while (group.next < group.items) {
    group.item.fiber = takeFiber();
    group.item.fiber->enter();
  }
}

void resume(std::vector<WorkItem>& items) {
  group.resuming.swap(items);
  for (const WorkItem& item : group.resuming) {
    group.item = item;
    item.fiber->enter();
  }
  group.resuming.clear();
}

// Once nobody else can go on: those lanes are here that stand at one place in the code. The first
// place goes first, so that who has left a loop waits for who is still in it, as far as code lies
// in the program's order. True when somebody asked.
bool answerWhoIsHere() {
  for (Warp& warp : group.warps) {
    if (warp.asking.empty()) continue;
    const void* const place = std::ranges::min_element(warp.asking, {}, &Asking::place)->place;
    uint32_t here = 0;
    for (const Asking& asking : warp.asking)
      if (asking.place == place) here |= 1u << asking.item.linear % warp_size;
    std::erase_if(warp.asking, [&](const Asking& asking) {
      if (asking.place != place) return false;
      warp.here[asking.item.linear % warp_size] = here;
      group.ready.push_back(asking.item);
      return true;
    });
  }
  return !group.ready.empty();
}

void runGroup() {
  group.next = group.finished = 0;
  startItems();
  // Every item has finished or waits.
  while (group.finished < group.items) {
    if (!group.ready.empty() || answerWhoIsHere())
      resume(group.ready);
    else if (!group.waiting.empty())
      resume(group.waiting);
    else
      abort();  // some wait for lanes that never come
  }
}

// Waits until all lanes of `members` have given a value; returns all of these.
const std::array<uint32_t, warp_size>& exchange(uint32_t members, uint32_t value) {
  const uint32_t lane = group.item.linear % warp_size;
  Warp& warp = group.warps[group.item.linear / warp_size];
  auto at = std::ranges::find(warp.exchanges, members, &Exchange::members);
  if (at == warp.exchanges.end()) at = warp.exchanges.insert(at, Exchange{members, 0, {}, {}});
  at->given[lane] = value;
  at->arrived |= 1u << lane;
  if ((at->arrived & members) != members) {
    at->parked.push_back(group.item);
    group.item.fiber->leave();
    return warp.exchanged[lane];
  }
  warp.exchanged[lane] = at->given;
  for (const WorkItem& item : at->parked) warp.exchanged[item.linear % warp_size] = at->given;
  group.ready.insert(group.ready.end(), at->parked.begin(), at->parked.end());
  warp.exchanges.erase(at);
  return warp.exchanged[lane];
}

// PTX's shfl.sync with segments of a whole warp: the value of the lane that `source` names, or
// one's own where there is none.
template <class Source>
uint32_t shuffle(uint32_t members, uint32_t value, Source&& source) {
  const uint32_t lane = group.item.linear % warp_size;
  const auto& values = exchange(members, value);
  const uint32_t from = source(lane);
  return from < warp_size ? values[from] : value;
}

uint32_t ballot(uint32_t members, bool holds) {
  const auto& values = exchange(members, holds ? 1 : 0);
  uint32_t lanes = 0;
  for (uint32_t lane = 0; lane < warp_size; ++lane)
    if (members >> lane & 1) lanes |= values[lane] << lane;
  return lanes;
}

// PTX's barrier.sync with a count.
void meetWarps(uint32_t number, uint32_t threads) {
  // 0 is the whole group's.
  if (number == 0 || number >= max_barriers || threads == 0 || threads % warp_size != 0) abort();
  NamedBarrier& barrier = group.barriers[number];
  const uint32_t warp = group.item.linear / warp_size;
  const uint32_t members = std::min(warp_size, group.items - warp * warp_size);
  if (++barrier.items[warp] == members) ++barrier.warps;
  if (barrier.warps * warp_size == threads) {
    group.ready.insert(group.ready.end(), barrier.parked.begin(), barrier.parked.end());
    barrier = {};
    return;
  }
  barrier.parked.push_back(group.item);
  group.item.fiber->leave();
}

uint32_t whoIsHere(const void* place) {
  Warp& warp = group.warps[group.item.linear / warp_size];
  const uint32_t lane = group.item.linear % warp_size;
  warp.asking.push_back({group.item, place});
  group.item.fiber->leave();
  return warp.here[lane];
}

void makeLocal(size_t bytes) {
  if (bytes <= group.local_capacity && group.local) return;
  std::free(group.local);
  group.local_capacity = (bytes + local_alignment) / local_alignment * local_alignment;
  group.local = static_cast<std::byte*>(std::aligned_alloc(local_alignment, group.local_capacity));
}

bool isLocal(const void* address) {
  const auto* const byte = static_cast<const std::byte*>(address);
  return byte >= group.local && byte < group.local + group.local_capacity;
}

}  // namespace

void runGrid(const LaunchRequest& launch) {
  group.launch = &launch;
  group.items = launch.block[0] * launch.block[1] * launch.block[2];
  makeLocal(launch.local_bytes);
  for (uint32_t z = 0; z < launch.grid[2]; ++z)
    for (uint32_t y = 0; y < launch.grid[1]; ++y)
      for (uint32_t x = 0; x < launch.grid[0]; ++x) {
        group.id = {x, y, z};
        runGroup();
      }
  group.launch = nullptr;
}

const char* runningKernel() { return group.launch ? group.launch->name : nullptr; }

}  // namespace weft::software

// What compiler/gpu/host_module.h calls.
using weft::software::group;

#define WEFT_SIMT extern "C" [[gnu::visibility("default")]]
#define WEFT_SIMT_REGISTER(name, value) \
  WEFT_SIMT uint32_t weft_simt_read_ptx_sreg_##name() { return value; }
WEFT_SIMT_REGISTER(tid_x, group.item.id[0])
WEFT_SIMT_REGISTER(tid_y, group.item.id[1])
WEFT_SIMT_REGISTER(tid_z, group.item.id[2])
WEFT_SIMT_REGISTER(laneid, group.item.linear % weft::software::warp_size)
WEFT_SIMT_REGISTER(ntid_x, group.launch->block[0])
WEFT_SIMT_REGISTER(ntid_y, group.launch->block[1])
WEFT_SIMT_REGISTER(ntid_z, group.launch->block[2])
WEFT_SIMT_REGISTER(ctaid_x, group.id[0])
WEFT_SIMT_REGISTER(ctaid_y, group.id[1])
WEFT_SIMT_REGISTER(ctaid_z, group.id[2])
WEFT_SIMT_REGISTER(nctaid_x, group.launch->grid[0])
WEFT_SIMT_REGISTER(nctaid_y, group.launch->grid[1])
WEFT_SIMT_REGISTER(nctaid_z, group.launch->grid[2])

WEFT_SIMT void* weft_simt_local() { return group.local; }
WEFT_SIMT void weft_simt_membar_gl() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WEFT_SIMT void weft_simt_membar_sys() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WEFT_SIMT void weft_simt_membar_cta() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

WEFT_SIMT bool weft_simt_isspacep_shared(const void* address) {
  return weft::software::isLocal(address);
}
WEFT_SIMT bool weft_simt_isspacep_global(const void* address) {
  return !weft::software::isLocal(address) && !group.item.fiber->holds(address);
}

#define WEFT_SIMT_SHUFFLE(name, from)                                                     \
  WEFT_SIMT uint32_t weft_simt_shfl_sync_##name##_i32(uint32_t members, uint32_t value,   \
                                                      uint32_t by, uint32_t) {            \
    return weft::software::shuffle(members, value, [by](uint32_t lane) { return from; }); \
  }
WEFT_SIMT_SHUFFLE(up, lane - by)
WEFT_SIMT_SHUFFLE(down, lane + by)
WEFT_SIMT_SHUFFLE(bfly, lane ^ by)
WEFT_SIMT_SHUFFLE(idx, by % weft::software::warp_size + 0 * lane)

WEFT_SIMT uint32_t weft_simt_vote_ballot_sync(uint32_t members, uint8_t holds) {
  return weft::software::ballot(members, holds & 1);
}
WEFT_SIMT void weft_simt_bar_warp_sync(uint32_t members) { weft::software::exchange(members, 0); }
WEFT_SIMT void weft_simt_barrier_sync_cnt(uint32_t number, uint32_t threads) {
  weft::software::meetWarps(number, threads);
}
WEFT_SIMT void weft_simt_nanosleep(uint32_t) {}
WEFT_SIMT [[gnu::noinline]] uint32_t weft_simt_activemask() {
  return weft::software::whoIsHere(__builtin_return_address(0));
}

WEFT_SIMT void weft_simt_barrier0() {
  group.waiting.push_back(group.item);
  group.item.fiber->leave();
}
