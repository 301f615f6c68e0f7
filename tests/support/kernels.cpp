// Kernels for tests of the backends, written against the entry point's ABI.
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "core/ports/launch.h"

using weft::port::GroupBox;
using weft::port::LaunchRecord;

#define KERNEL(name)                                                             \
  extern "C" __attribute__((visibility("default"))) void name(                   \
      [[maybe_unused]] const void* const* arguments, const LaunchRecord* record, \
      const GroupBox* box, [[maybe_unused]] void* local, [[maybe_unused]] void* context)

namespace {

template <class T>
T value(const void* argument) {
  T result;
  std::memcpy(&result, argument, sizeof result);
  return result;
}

template <class T>
T* pointer(const void* argument) {
  return value<T*>(argument);
}

uint64_t nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000u + uint64_t(t.tv_nsec);
}

uint64_t linearGroup(const LaunchRecord& r, uint64_t x, uint64_t y, uint64_t z) {
  return x + r.group_count[0] * (y + r.group_count[1] * z);
}

// Calls visit(linear group id) for each group of the box.
template <class Visit>
void forEachGroup(const LaunchRecord& record, const GroupBox& box, Visit&& visit) {
  for (uint64_t z = box.begin[2]; z < box.end[2]; ++z)
    for (uint64_t y = box.begin[1]; y < box.end[1]; ++y)
      for (uint64_t x = box.begin[0]; x < box.end[0]; ++x) visit(linearGroup(record, x, y, z));
}

uint64_t program_variable = 0;

}  // namespace

// (global uint32_t* data): one group per element adds one.
KERNEL(add_one) {
  auto* data = pointer<uint32_t>(arguments[0]);
  forEachGroup(*record, *box, [&](uint64_t g) { data[g] += 1; });
}

// (global uint32_t* to, const global uint32_t* from, uint32_t factor): to = from * factor.
KERNEL(scale) {
  auto* to = pointer<uint32_t>(arguments[0]);
  const auto* from = pointer<uint32_t>(arguments[1]);
  const auto factor = value<uint32_t>(arguments[2]);
  forEachGroup(*record, *box, [&](uint64_t g) { to[g] = from[g] * factor; });
}

// (global uint8_t* to, const global uint8_t* from, then uint64_t: first index and distance in `to`,
// the same in `from`, count, factor, addend): bytes, to = from * factor + addend.
KERNEL(move_bytes) {
  uint64_t v[7];
  for (int i = 0; i < 7; ++i) v[i] = value<uint64_t>(arguments[2 + i]);
  auto* const to = pointer<uint8_t>(arguments[0]) + v[0];
  const auto* const from = pointer<const uint8_t>(arguments[1]) + v[2];
  forEachGroup(*record, *box, [&](uint64_t) {
    for (uint64_t i = 0; i < v[4]; ++i) to[i * v[1]] = uint8_t(from[i * v[3]] * v[5] + v[6]);
  });
}

// (uint64_t ns, global uint32_t* data): each group computes for that long, then adds one.
KERNEL(busy) {
  const auto ns = value<uint64_t>(arguments[0]);
  auto* data = pointer<uint32_t>(arguments[1]);
  forEachGroup(*record, *box, [&](uint64_t g) {
    for (const uint64_t end = nanoseconds() + ns; nanoseconds() < end;) _mm_pause();
    data[g] += 1;
  });
}

// (uint64_t ns, global uint64_t* data): as busy, and stores which thread ran the group.
KERNEL(who) {
  const auto ns = value<uint64_t>(arguments[0]);
  auto* data = pointer<uint64_t>(arguments[1]);
  forEachGroup(*record, *box, [&](uint64_t g) {
    for (const uint64_t end = nanoseconds() + ns; nanoseconds() < end;) _mm_pause();
    data[g] = uint64_t(syscall(SYS_gettid));
  });
}

// (uint64_t ns, global uint32_t* flag, global uint64_t* data): each group stores which thread runs
// it, then computes for that long or until the flag is set. There are 1024 elements.
KERNEL(until_flag) {
  const auto ns = value<uint64_t>(arguments[0]);
  auto* flag = pointer<std::atomic<uint32_t>>(arguments[1]);
  auto* data = pointer<std::atomic<uint64_t>>(arguments[2]);
  const auto thread = uint64_t(syscall(SYS_gettid));
  forEachGroup(*record, *box, [&](uint64_t g) {
    data[g % 1024].store(thread, std::memory_order_relaxed);
    if (flag->load(std::memory_order_acquire) != 0) return;
    const uint64_t end = nanoseconds() + ns;
    while (flag->load(std::memory_order_acquire) == 0 && nanoseconds() < end) _mm_pause();
  });
}

// (global uint32_t* flag): group 0 waits until the flag is set, the others do nothing.
KERNEL(wait_flag) {
  auto* flag = pointer<std::atomic<uint32_t>>(arguments[0]);
  forEachGroup(*record, *box, [&](uint64_t g) {
    while (g == 0 && flag->load(std::memory_order_acquire) == 0) _mm_pause();
  });
}

// (uint64_t ns, uint64_t meetings, global uint64_t* log, global uint8_t* data): each group computes
// for that long and adds one to the first byte of its 64 KiB of data. The first `meetings` arrivals
// of groups log which group they are, and each waits for the next one: so two threads take turns.
KERNEL(take_turns) {
  const auto ns = value<uint64_t>(arguments[0]), meetings = value<uint64_t>(arguments[1]);
  auto* log = pointer<std::atomic<uint64_t>>(arguments[2]);
  auto* data = pointer<uint8_t>(arguments[3]);
  forEachGroup(*record, *box, [&](uint64_t g) {
    const uint64_t arrival = meetings ? log[0].fetch_add(1) : 0;
    if (arrival < meetings) {
      log[1 + arrival].store(g);
      while (arrival + 1 < meetings && log[0].load() < arrival + 2) _mm_pause();
    }
    for (const uint64_t end = nanoseconds() + ns; nanoseconds() < end;) _mm_pause();
    data[g << 16] += 1;
  });
}

// (global uint32_t* flag): sets it.
KERNEL(set_flag) {
  auto* flag = pointer<std::atomic<uint32_t>>(arguments[0]);
  forEachGroup(*record, *box, [&](uint64_t) { flag->store(1, std::memory_order_release); });
}

// (global uint32_t* out): the control bits of the floating-point unit, one element a group.
KERNEL(float_state) {
  auto* out = pointer<uint32_t>(arguments[0]);
  forEachGroup(*record, *box, [&](uint64_t g) { out[g] = _mm_getcsr() & ~0x3fu; });
}

// (global uint64_t* out, local a, local b): per group the offsets of a and b, then 1 if the whole
// of local memory and context can be written and read back, and both are aligned.
KERNEL(local_memory) {
  auto* out = pointer<uint64_t>(arguments[0]);
  const auto a = value<uint64_t>(arguments[1]), b = value<uint64_t>(arguments[2]);
  const uint64_t lanes = record->local_size[0] * record->local_size[1] * record->local_size[2];
  const uint64_t context_bytes = 16 * ((lanes + 63) / 64 * 64);
  forEachGroup(*record, *box, [&](uint64_t g) {
    auto* bytes = static_cast<unsigned char*>(local);
    std::memset(bytes, int(g & 0xff), b + 64);
    std::memset(context, int(~g & 0xff), context_bytes);
    bool good = reinterpret_cast<uint64_t>(local) % 128 == 0 &&
                reinterpret_cast<uint64_t>(context) % 128 == 0;
    for (uint64_t i = 0; i < b + 64; ++i) good = good && bytes[i] == (g & 0xff);
    out[3 * g] = a;
    out[3 * g + 1] = b;
    out[3 * g + 2] = good;
  });
}

// (global uint64_t* out): adds one to a program-scope variable and stores it.
KERNEL(program_scope) {
  auto* out = pointer<uint64_t>(arguments[0]);
  forEachGroup(*record, *box, [&](uint64_t g) { out[g] = ++program_variable; });
}

// (global uint64_t* out): what the launch record says, by group 0.
KERNEL(record_fields) {
  auto* out = pointer<uint64_t>(arguments[0]);
  forEachGroup(*record, *box, [&](uint64_t g) {
    if (g != 0) return;
    out[0] = record->work_dim;
    for (int d = 0; d < 3; ++d) {
      out[1 + d] = record->global_offset[d];
      out[4 + d] = record->global_size[d];
      out[7 + d] = record->local_size[d];
      out[10 + d] = record->group_count[d];
    }
    out[13] = record->services != nullptr && record->services->print != nullptr;
  });
}

// (): nothing.
KERNEL(empty) {
  (void)record;
  (void)box;
}
