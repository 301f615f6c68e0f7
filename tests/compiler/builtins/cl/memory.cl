// Atomics, fences, vector loads and stores, async copies.
void legacy(volatile global int* i, volatile global uint* u, volatile global long* l,
            volatile global float* f, global int* r) {
  *r++ = atomic_add(i, 5);
  *r++ = atomic_sub(i, 2);
  *r++ = atomic_xchg(i, 100);
  *r++ = atomic_inc(i);
  *r++ = atomic_dec(i);
  *r++ = atomic_cmpxchg(i, 100, 7);
  *r++ = atomic_cmpxchg(i, 100, 8);
  *r++ = atomic_min(i, -3);
  *r++ = atomic_max(i, 6);
  *r++ = atomic_and(i, 3);
  *r++ = atomic_or(i, 8);
  *r++ = atomic_xor(i, 1);
  *r++ = *i;
  *r++ = atomic_max(u, 0xffffffffu);
  *r++ = atomic_min(u, 9u);
  *r++ = atom_add(l, 1L << 40) == 1;
  *r++ = atom_max(l, 0L) == (1L << 40) + 1;
  *r++ = atomic_xchg(f, 2.5f) == 1.5f;
}

void modern(volatile global atomic_int* i, volatile global atomic_ulong* u,
            volatile global atomic_double* d, volatile global atomic_flag* flag, global int* r) {
  atomic_init(i, 10);
  *r++ = atomic_load(i);
  atomic_store_explicit(i, 20, memory_order_release);
  *r++ = atomic_load_explicit(i, memory_order_acquire, memory_scope_device);
  *r++ = atomic_exchange(i, 30);
  *r++ = atomic_fetch_add_explicit(i, 5, memory_order_relaxed);
  *r++ = atomic_fetch_sub(i, 1);
  *r++ = atomic_fetch_min(i, -4);
  *r++ = atomic_fetch_max_explicit(i, 12, memory_order_acq_rel, memory_scope_work_group);
  *r++ = atomic_fetch_or(i, 3);
  *r++ = atomic_fetch_and(i, 6);
  *r++ = atomic_fetch_xor(i, 1);
  int expected = 0;
  *r++ = atomic_compare_exchange_strong(i, &expected, 9);
  *r++ = expected;
  *r++ = atomic_compare_exchange_strong_explicit(i, &expected, 9, memory_order_seq_cst,
                                                 memory_order_relaxed);
  *r++ = atomic_load(i);
  *r++ = atomic_fetch_add(u, 1ul << 33) == 3;
  *r++ = atomic_exchange(d, 0.5) == 0.25;
  *r++ = atomic_flag_test_and_set(flag);
  *r++ = atomic_flag_test_and_set_explicit(flag, memory_order_acquire);
  atomic_flag_clear(flag);
  *r++ = atomic_flag_test_and_set(flag);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  mem_fence(CLK_LOCAL_MEM_FENCE);
}

void count(volatile global atomic_int* sum, volatile global int* legacy_sum, int times) {
  for (int i = 0; i < times; ++i) {
    atomic_fetch_add_explicit(sum, 1, memory_order_relaxed);
    atomic_inc(legacy_sum);
  }
}

// The element behind a three-element vector is not touched.
void threes(global int* to, const global int* from) { vstore3(vload3(1, from), 1, to); }

void copies(local int* in, const global int* from, global int* to, ulong n) {
  event_t events[2];
  events[0] = async_work_group_copy(in, from, n, 0);
  wait_group_events(1, events);
  events[0] = async_work_group_strided_copy(to, in, n / 2, 2, 0);
  events[1] = async_work_group_copy((global float4*)(to + n), (local float4*)in, n / 4, events[0]);
  prefetch(from, n);
  wait_group_events(2, events);
}
