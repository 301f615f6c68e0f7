// The kernels of kernels.cl for software GPUs.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "tests/software_gpu/simt_kernel.h"

using weft::port::GpuLaunch;

namespace {

constexpr uint32_t launch_bytes = sizeof(GpuLaunch);
constexpr uint32_t fixed_local_bytes = 128;  // of `reverse`

uint64_t global0(const GpuLaunch& launch) {
  return launch.record.global_offset[0] +
         (launch.box.begin[0] + weft_simt_read_ptx_sreg_ctaid_x()) * launch.record.local_size[0] +
         weft_simt_read_ptx_sreg_tid_x();
}

struct Empty {
  GpuLaunch launch;
};
struct AddOne {
  uint32_t* data;
  GpuLaunch launch;
};
struct Axpy {
  float* y;
  const float* x;
  float a;
  uint64_t n;
  GpuLaunch launch;
};
struct Cover {
  uint32_t *count, *block;
  GpuLaunch launch;
};
struct Reverse {
  uint64_t *out, *offsets;
  uint64_t a, b;
  GpuLaunch launch;
};
struct Spin {
  uint64_t ns;
  uint32_t* data;
  GpuLaunch launch;
};
struct Await {
  std::atomic<uint32_t>* flag;
  GpuLaunch launch;
};
struct Fault {
  uint32_t* address;
  GpuLaunch launch;
};

}  // namespace

WEFT_KERNEL_INFO(empty, sizeof(Empty), 0, 1, 0, launch_bytes)
WEFT_KERNEL(empty)(const Empty&) {}

WEFT_KERNEL_INFO(add_one, sizeof(AddOne), 0, 2, 0, 8, 8, launch_bytes)
WEFT_KERNEL(add_one)(const AddOne& p) { p.data[global0(p.launch)] += 1; }

WEFT_KERNEL_INFO(axpy, sizeof(Axpy), 0, 5, 0, 8, 8, 8, 16, 4, 24, 8, 32, launch_bytes)
WEFT_KERNEL(axpy)(const Axpy& p) {
  const uint64_t i = global0(p.launch);
  if (i < p.n) p.y[i] = p.a * p.x[i] + p.y[i];
}

WEFT_KERNEL_INFO(cover, sizeof(Cover), 0, 3, 0, 8, 8, 8, 16, launch_bytes)
WEFT_KERNEL(cover)(const Cover& p) {
  const auto& record = p.launch.record;
  const auto& begin = p.launch.box.begin;
  const uint64_t x = global0(p.launch) - record.global_offset[0];
  const uint64_t y = (begin[1] + weft_simt_read_ptx_sreg_ctaid_y()) * record.local_size[1] +
                     weft_simt_read_ptx_sreg_tid_y();
  const uint64_t z = (begin[2] + weft_simt_read_ptx_sreg_ctaid_z()) * record.local_size[2] +
                     weft_simt_read_ptx_sreg_tid_z();
  const uint64_t i = x + record.global_size[0] * (y + record.global_size[1] * z);
  p.count[i] += 1;
  p.block[i] = weft_simt_read_ptx_sreg_ntid_x() + 1000 * weft_simt_read_ptx_sreg_ntid_y() +
               1000000 * weft_simt_read_ptx_sreg_ntid_z();
}

WEFT_KERNEL_INFO(reverse, sizeof(Reverse), fixed_local_bytes, 5, 0, 8, 8, 8, 16, 8, 24, 8, 32,
                 launch_bytes)
WEFT_KERNEL(reverse)(const Reverse& p) {
  auto* const fixed = static_cast<uint32_t*>(weft_simt_local());
  std::byte* const dynamic = reinterpret_cast<std::byte*>(fixed) + fixed_local_bytes;
  auto* const a = reinterpret_cast<uint32_t*>(dynamic + p.a);
  auto* const b = reinterpret_cast<uint64_t*>(dynamic + p.b);
  const uint32_t t = weft_simt_read_ptx_sreg_tid_x(), n = weft_simt_read_ptx_sreg_ntid_x();
  fixed[t % 32] = 0xdead;
  a[t] = t;
  b[t] = 1000 + t;
  weft_simt_barrier0();
  p.out[global0(p.launch)] = a[n - 1 - t] + 10000 * b[n - 1 - t] + (fixed[t % 32] - 0xdead);
  p.offsets[0] = p.a;
  p.offsets[1] = p.b;
}

WEFT_KERNEL_INFO(spin, sizeof(Spin), 0, 3, 0, 8, 8, 8, 16, launch_bytes)
WEFT_KERNEL(spin)(const Spin& p) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(p.ns);
  while (std::chrono::steady_clock::now() < end) {
  }
  p.data[0] += 1;
}

WEFT_KERNEL_INFO(await, sizeof(Await), 0, 2, 0, 8, 8, launch_bytes)
WEFT_KERNEL(await)(const Await& p) {
  p.flag[1].store(1);
  while (p.flag[0].load() == 0) std::this_thread::yield();
}

WEFT_KERNEL_INFO(fault, sizeof(Fault), 0, 2, 0, 8, 8, launch_bytes)
WEFT_KERNEL(fault)(const Fault& p) { *p.address = 1; }
