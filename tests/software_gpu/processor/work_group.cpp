#include "tests/software_gpu/processor/work_group.h"

#include <cstdlib>
#include <memory>
#include <vector>

#include "tests/software_gpu/processor/fiber.h"

namespace weft::software {
namespace {

constexpr size_t local_alignment = 128;

constexpr uint32_t warp_size = 32, max_warps = 32;

struct WorkItem {
  std::array<uint32_t, 3> id{};
  uint32_t linear = 0;
  Fiber* fiber = nullptr;
};

// Work-items that exchange values. The next exchange cannot end before all have read this one's.
struct Warp {
  std::array<uint32_t, warp_size> given{}, exchanged{};
  uint32_t arrived = 0;
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

void runGroup() {
  group.next = group.finished = 0;
  startItems();
  // Every item has finished or waits.
  while (group.finished < group.items) {
    if (!group.ready.empty())
      resume(group.ready);
    else if (!group.waiting.empty())
      resume(group.waiting);
    else
      abort();  // some wait for lanes that never come
  }
}

// Waits until all lanes of `members` have given a value.
const Warp& exchange(uint32_t members, uint32_t value) {
  const uint32_t lane = group.item.linear % warp_size;
  Warp& warp = group.warps[group.item.linear / warp_size];
  warp.given[lane] = value;
  warp.arrived |= 1u << lane;
  if ((warp.arrived & members) != members) {
    warp.parked.push_back(group.item);
    group.item.fiber->leave();
    return warp;
  }
  warp.exchanged = warp.given;
  warp.arrived &= ~members;
  group.ready.insert(group.ready.end(), warp.parked.begin(), warp.parked.end());
  warp.parked.clear();
  return warp;
}

// PTX's shfl.sync with segments of a whole warp: the value of the lane that `source` names, or
// one's own where there is none.
template <class Source>
uint32_t shuffle(uint32_t members, uint32_t value, Source&& source) {
  const uint32_t lane = group.item.linear % warp_size;
  const Warp& warp = exchange(members, value);
  const uint32_t from = source(lane);
  return from < warp_size ? warp.exchanged[from] : value;
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

WEFT_SIMT void weft_simt_barrier0() {
  group.waiting.push_back(group.item);
  group.item.fiber->leave();
}
