// The kernels of kernels.cpp for software GPUs. What a group does there its first work-item does.
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>

#include "tests/software_gpu/simt_kernel.h"

using weft::port::GpuLaunch;

namespace {

constexpr uint32_t launch_bytes = sizeof(GpuLaunch);
constexpr uint32_t local_pointer = sizeof(uint64_t) | weft::software::local_parameter;
constexpr uint32_t local_variable_bytes = 128;  // of local_memory; arguments begin behind

bool first() {
  return weft_simt_read_ptx_sreg_tid_x() == 0 && weft_simt_read_ptx_sreg_tid_y() == 0 &&
         weft_simt_read_ptx_sreg_tid_z() == 0;
}

uint64_t group(const GpuLaunch& launch) {
  const uint64_t* const begin = launch.box.begin;
  const uint64_t* const count = launch.record.group_count;
  return begin[0] + weft_simt_read_ptx_sreg_ctaid_x() +
         count[0] * (begin[1] + weft_simt_read_ptx_sreg_ctaid_y() +
                     count[1] * (begin[2] + weft_simt_read_ptx_sreg_ctaid_z()));
}

void compute(uint64_t nanoseconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::nanoseconds(nanoseconds);
  while (Clock::now() < end) _mm_pause();
}

struct None {
  GpuLaunch launch;
};
template <class T>
struct One {
  T* data;
  GpuLaunch launch;
};
struct Scale {
  uint32_t* to;
  const uint32_t* from;
  uint64_t factor;
  GpuLaunch launch;
};
struct MoveBytes {
  uint8_t* to;
  const uint8_t* from;
  uint64_t v[7];
  GpuLaunch launch;
};
template <class T>
struct Busy {
  uint64_t ns;
  T* data;
  GpuLaunch launch;
};
struct UntilFlag {
  uint64_t ns;
  std::atomic<uint32_t>* flag;
  std::atomic<uint64_t>* data;
  GpuLaunch launch;
};
struct TakeTurns {
  uint64_t ns, meetings;
  std::atomic<uint64_t>* log;
  uint8_t* data;
  GpuLaunch launch;
};
struct LocalMemory {
  uint64_t* out;
  uint64_t a, b;
  GpuLaunch launch;
};

uint64_t program_variable = 0;

}  // namespace

#define ONE_POINTER_INFO(name) WEFT_KERNEL_INFO(name, sizeof(One<int>), 0, 2, 0, 8, 8, launch_bytes)

ONE_POINTER_INFO(add_one)
WEFT_KERNEL(add_one)(const One<uint32_t>& p) {
  if (first()) p.data[group(p.launch)] += 1;
}

WEFT_KERNEL_INFO(scale, sizeof(Scale), 0, 4, 0, 8, 8, 8, 16, 8, 24, launch_bytes)
WEFT_KERNEL(scale)(const Scale& p) {
  const uint64_t g = group(p.launch);
  if (first()) p.to[g] = p.from[g] * static_cast<uint32_t>(p.factor);
}

WEFT_KERNEL_INFO(move_bytes, sizeof(MoveBytes), 0, 10, 0, 8, 8, 8, 16, 8, 24, 8, 32, 8, 40, 8, 48,
                 8, 56, 8, 64, 8, 72, launch_bytes)
WEFT_KERNEL(move_bytes)(const MoveBytes& p) {
  if (!first()) return;
  uint8_t* const to = p.to + p.v[0];
  const uint8_t* const from = p.from + p.v[2];
  for (uint64_t i = 0; i < p.v[4]; ++i)
    to[i * p.v[1]] = static_cast<uint8_t>(from[i * p.v[3]] * p.v[5] + p.v[6]);
}

WEFT_KERNEL_INFO(busy, sizeof(Busy<int>), 0, 3, 0, 8, 8, 8, 16, launch_bytes)
WEFT_KERNEL(busy)(const Busy<uint32_t>& p) {
  if (!first()) return;
  compute(p.ns);
  p.data[group(p.launch)] += 1;
}

WEFT_KERNEL_INFO(who, sizeof(Busy<int>), 0, 3, 0, 8, 8, 8, 16, launch_bytes)
WEFT_KERNEL(who)(const Busy<uint64_t>& p) {
  if (!first()) return;
  compute(p.ns);
  p.data[group(p.launch)] = static_cast<uint64_t>(syscall(SYS_gettid));
}

WEFT_KERNEL_INFO(until_flag, sizeof(UntilFlag), 0, 4, 0, 8, 8, 8, 16, 8, 24, launch_bytes)
WEFT_KERNEL(until_flag)(const UntilFlag& p) {
  if (!first()) return;
  using Clock = std::chrono::steady_clock;
  p.data[group(p.launch) % 1024].store(static_cast<uint64_t>(syscall(SYS_gettid)));
  const auto end = Clock::now() + std::chrono::nanoseconds(p.ns);
  while (p.flag->load(std::memory_order_acquire) == 0 && Clock::now() < end) _mm_pause();
}

ONE_POINTER_INFO(wait_flag)
WEFT_KERNEL(wait_flag)(const One<std::atomic<uint32_t>>& p) {
  if (!first() || group(p.launch) != 0) return;
  while (p.data->load(std::memory_order_acquire) == 0) _mm_pause();
}

ONE_POINTER_INFO(set_flag)
WEFT_KERNEL(set_flag)(const One<std::atomic<uint32_t>>& p) {
  if (first()) p.data->store(1, std::memory_order_release);
}

// Groups of one grid run one after the other here, so those that meet are of different launches.
WEFT_KERNEL_INFO(take_turns, sizeof(TakeTurns), 0, 5, 0, 8, 8, 8, 16, 8, 24, 8, 32, launch_bytes)
WEFT_KERNEL(take_turns)(const TakeTurns& p) {
  if (!first()) return;
  const uint64_t g = group(p.launch), arrival = p.meetings ? p.log[0].fetch_add(1) : 0;
  if (arrival < p.meetings) {
    p.log[1 + arrival].store(g);
    while (arrival + 1 < p.meetings && p.log[0].load() < arrival + 2) _mm_pause();
  }
  compute(p.ns);
  p.data[g << 16] += 1;
}

ONE_POINTER_INFO(float_state)
WEFT_KERNEL(float_state)(const One<uint32_t>& p) {
  if (first()) p.data[group(p.launch)] = _mm_getcsr() & ~0x3fu;
}

WEFT_KERNEL_INFO(local_memory, sizeof(LocalMemory), local_variable_bytes, 4, 0, 8, 8, local_pointer,
                 16, local_pointer, 24, launch_bytes)
WEFT_KERNEL(local_memory)(const LocalMemory& p) {
  if (!first()) return;
  const uint64_t g = group(p.launch);
  auto* const bytes = static_cast<unsigned char*>(weft_simt_local());
  std::memset(bytes, static_cast<int>(g & 0xff), local_variable_bytes + p.b + 64);
  bool good = reinterpret_cast<uint64_t>(bytes) % 128 == 0;
  for (uint64_t i = 0; i < local_variable_bytes + p.b + 64; ++i)
    good = good && bytes[i] == (g & 0xff);
  p.out[3 * g] = local_variable_bytes + p.a;
  p.out[3 * g + 1] = local_variable_bytes + p.b;
  p.out[3 * g + 2] = good;
}

ONE_POINTER_INFO(program_scope)
WEFT_KERNEL(program_scope)(const One<uint64_t>& p) {
  if (first()) p.data[group(p.launch)] = ++program_variable;
}

ONE_POINTER_INFO(record_fields)
WEFT_KERNEL(record_fields)(const One<uint64_t>& p) {
  if (!first() || group(p.launch) != 0) return;
  const weft::port::LaunchRecord& record = p.launch.record;
  p.data[0] = record.work_dim;
  for (int d = 0; d < 3; ++d) {
    p.data[1 + d] = record.global_offset[d];
    p.data[4 + d] = record.global_size[d];
    p.data[7 + d] = record.local_size[d];
    p.data[10 + d] = record.group_count[d];
  }
  p.data[13] = record.services != nullptr;
}

WEFT_KERNEL_INFO(empty, sizeof(None), 0, 1, 0, launch_bytes)
WEFT_KERNEL(empty)(const None&) {}
