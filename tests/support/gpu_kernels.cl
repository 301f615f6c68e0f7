// The kernels of kernels.cpp for GPUs. What a group does there its first work-item does.
#include "tests/support/nvptx_launch.h"

static void compute(ulong ns) {
  const ulong end = timer() + ns;
  while (timer() < end) {
  }
}

static uint processor(void) {
  uint id;
  __asm__ volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// LLVM 19 has no acquiring loads or releasing stores for these devices.
static uint load(__global volatile uint* word) {
  const uint value = *word;
  __nvvm_membar_gl();
  return value;
}

__kernel void add_one(__global uint* data, Launch launch) {
  if (isFirst()) data[groupId(&launch)] += 1;
}

__kernel void scale(__global uint* to, __global const uint* from, ulong factor, Launch launch) {
  const ulong g = groupId(&launch);
  if (isFirst()) to[g] = from[g] * (uint)factor;
}

__kernel void move_bytes(__global uchar* to, __global const uchar* from, ulong first, ulong distance,
                         ulong from_first, ulong from_distance, ulong count, ulong factor,
                         ulong addend, Launch launch) {
  if (!isFirst()) return;
  for (ulong i = 0; i < count; ++i)
    to[first + i * distance] = (uchar)(from[from_first + i * from_distance] * factor + addend);
}

__kernel void busy(ulong ns, __global uint* data, Launch launch) {
  if (!isFirst()) return;
  compute(ns);
  data[groupId(&launch)] += 1;
}

__kernel void who(ulong ns, __global ulong* data, Launch launch) {
  if (!isFirst()) return;
  compute(ns);
  data[groupId(&launch)] = processor();
}

__kernel void until_flag(ulong ns, __global volatile uint* flag, __global ulong* data,
                         Launch launch) {
  if (!isFirst()) return;
  data[groupId(&launch) % 1024] = processor();
  const ulong end = timer() + ns;
  while (load(flag) == 0 && timer() < end) {
  }
}

__kernel void wait_flag(__global volatile uint* flag, Launch launch) {
  if (!isFirst() || groupId(&launch) != 0) return;
  while (load(flag) == 0) {
  }
}

__kernel void set_flag(__global volatile uint* flag, Launch launch) {
  if (!isFirst()) return;
  __nvvm_membar_gl();
  *flag = 1;
}

__kernel void take_turns(ulong ns, ulong meetings, __global volatile ulong* log, __global uchar* data,
                         Launch launch) {
  if (!isFirst()) return;
  const ulong g = groupId(&launch);
  const ulong arrival = meetings ? __nvvm_atom_add_gen_i((int*)log, 1) : 0;
  if (arrival < meetings) {
    log[1 + arrival] = g;
    while (arrival + 1 < meetings && log[0] < arrival + 2) {
    }
  }
  compute(ns);
  data[g << 16] += 1;
}

// What the control bits say at the start of a program; there are none here.
__kernel void float_state(__global uint* out, Launch launch) {
  if (isFirst()) out[groupId(&launch)] = 0;
}

__kernel void local_memory(__global ulong* out, ulong a, ulong b, Launch launch) {
  __local uchar own[40] __attribute__((aligned(128)));
  if (!isFirst()) return;
  const ulong g = groupId(&launch), begin = (ulong)own;
  const ulong ends[] = {begin + 40, localBase() + a + 100, localBase() + b + 64};
  const ulong begins[] = {begin, localBase() + a, localBase() + b};
  for (int piece = 0; piece < 3; ++piece)
    for (ulong at = begins[piece]; at < ends[piece]; ++at)
      *(__local volatile uchar*)at = (uchar)(g + piece);
  bool good = begin % 128 == 0;
  for (int piece = 0; piece < 3; ++piece)
    for (ulong at = begins[piece]; at < ends[piece]; ++at)
      good = good && *(__local volatile uchar*)at == (uchar)(g + piece);
  out[3 * g] = begins[1] - begin;
  out[3 * g + 1] = begins[2] - begin;
  out[3 * g + 2] = good;
}

__global ulong program_variable = 0;

__kernel void program_scope(__global ulong* out, Launch launch) {
  if (isFirst()) out[groupId(&launch)] = ++program_variable;
}

__kernel void record_fields(__global ulong* out, Launch launch) {
  if (!isFirst() || groupId(&launch) != 0) return;
  const Record* record = &launch.record;
  out[0] = record->work_dim;
  for (int d = 0; d < 3; ++d) {
    out[1 + d] = record->global_offset[d];
    out[4 + d] = record->global_size[d];
    out[7 + d] = record->local_size[d];
    out[10 + d] = record->group_count[d];
  }
  out[13] = record->services != 0;
}

__kernel void empty(Launch launch) {}
