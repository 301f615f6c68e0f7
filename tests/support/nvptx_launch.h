// For kernels written against the entry point's ABI (core/ports/launch.h) on NVIDIA's GPUs: OpenCL
// C whose work-item functions are done by hand from the hidden launch structure.
#pragma once

typedef struct {
  uint work_dim;
  uint reserved;
  ulong global_offset[3], global_size[3], local_size[3], group_count[3];
  ulong services;
  ushort joined[3];
} Record;

typedef struct {
  Record record;
  ulong begin[3], end[3];
} Launch;

// The launch's dynamic shared memory.
__asm__(".extern .shared .align 128 .b8 weft_local[];");

static ulong localBase(void) {
  ulong base;
  __asm__("mov.u64 %0, weft_local;" : "=l"(base));
  return base;
}

static ulong timer(void) {
  ulong ns;
  __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

static ulong global0(const Launch* l) {
  return l->record.global_offset[0] +
         (l->begin[0] + __nvvm_read_ptx_sreg_ctaid_x()) * l->record.local_size[0] +
         __nvvm_read_ptx_sreg_tid_x();
}
static ulong global1(const Launch* l) {
  return l->record.global_offset[1] +
         (l->begin[1] + __nvvm_read_ptx_sreg_ctaid_y()) * l->record.local_size[1] +
         __nvvm_read_ptx_sreg_tid_y();
}
static ulong global2(const Launch* l) {
  return l->record.global_offset[2] +
         (l->begin[2] + __nvvm_read_ptx_sreg_ctaid_z()) * l->record.local_size[2] +
         __nvvm_read_ptx_sreg_tid_z();
}

// By one work-item of each group: its group's linear id.
static bool isFirst(void) {
  return __nvvm_read_ptx_sreg_tid_x() == 0 && __nvvm_read_ptx_sreg_tid_y() == 0 &&
         __nvvm_read_ptx_sreg_tid_z() == 0;
}
static ulong groupId(const Launch* l) {
  const ulong* begin = l->begin;
  const ulong* count = l->record.group_count;
  return begin[0] + __nvvm_read_ptx_sreg_ctaid_x() +
         count[0] * (begin[1] + __nvvm_read_ptx_sreg_ctaid_y() +
                     count[1] * (begin[2] + __nvvm_read_ptx_sreg_ctaid_z()));
}
