// Kernels for tests on a GPU.
#include "tests/support/nvptx_launch.h"

__kernel void empty(Launch launch) {}

__kernel void empty_bare(void) {}

__kernel void add_one(__global uint* data, Launch launch) { data[global0(&launch)] += 1; }

__kernel void axpy(__global float* y, __global const float* x, float a, ulong n, Launch launch) {
  const ulong i = global0(&launch);
  if (i < n) y[i] = a * x[i] + y[i];
}

// Counts each work-item once, and says which block it ran in.
__kernel void cover(__global uint* count, __global uint* block, Launch launch) {
  const Record* r = &launch.record;
  const ulong x = global0(&launch) - r->global_offset[0];
  const ulong y = global1(&launch) - r->global_offset[1];
  const ulong z = global2(&launch) - r->global_offset[2];
  const ulong i = x + r->global_size[0] * (y + r->global_size[1] * z);
  count[i] += 1;
  block[i] = __nvvm_read_ptx_sreg_ntid_x() + 1000 * __nvvm_read_ptx_sreg_ntid_y() +
             1000000 * __nvvm_read_ptx_sreg_ntid_z();
}

// Reverses a group through `a` and keeps a copy in `b`; both are offsets into dynamic memory.
__kernel void reverse(__global ulong* out, __global ulong* offsets, ulong a, ulong b,
                      Launch launch) {
  __local uint fixed[32];
  __local uint* pa = (__local uint*)(localBase() + a);
  __local ulong* pb = (__local ulong*)(localBase() + b);
  const uint t = __nvvm_read_ptx_sreg_tid_x(), n = __nvvm_read_ptx_sreg_ntid_x();
  fixed[t % 32] = 0xdead;
  pa[t] = t;
  pb[t] = 1000 + t;
  __nvvm_bar_sync(0);
  out[global0(&launch)] = pa[n - 1 - t] + 10000 * pb[n - 1 - t] + (fixed[t % 32] - 0xdead);
  offsets[0] = a;
  offsets[1] = b;
}

// Runs for that long in one work-item, then adds one.
__kernel void spin(ulong ns, __global uint* data, Launch launch) {
  const ulong end = timer() + ns;
  while (timer() < end) {
  }
  data[0] += 1;
}

// Says that it has begun, and waits until the flag is set.
__kernel void await(__global volatile uint* flag, Launch launch) {
  flag[1] = 1;
  while (flag[0] == 0) {
  }
}

__kernel void fault(ulong address, Launch launch) { *(__global uint*)address = 1; }
