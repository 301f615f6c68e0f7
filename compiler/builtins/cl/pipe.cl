// OpenCL C 6.15.17: pipes. A pipe's memory is a header (core/pipe.h) and a ring of packets. Each end
// has a counter of what is reserved and of how much of that is still open; when nothing is open, all
// of it is published to the other end. So a reservation may stay open for as long as it likes, and
// nobody ever waits.
#include "types.def"

typedef struct {
  uint packets;  // that the ring holds
  uint modulus;  // of the counters: a multiple of that
  // Low half: the next packet. High half: packets that are reserved and not committed.
  volatile atomic_ulong writes, reads;
  volatile atomic_uint written, read;  // the ends, as the other side knows them
  uint unused[8];
} Ring;

// The reservation's packets in the high half, the first of them in the low one; 0 is none.
typedef ulong Reservation;
PURE Reservation weft_reserve_id(reserve_id_t id);

#define ONE_PACKET ((ulong)1 << 32)

INLINE uint next_of(ulong counter) { return (uint)counter; }
INLINE uint count_of(ulong counter) { return (uint)(counter >> 32); }
INLINE uint distance_to(uint from, uint to, uint modulus) {
  return to >= from ? to - from : to + (modulus - from);
}
INLINE uint advance(uint at, uint n, uint modulus) {
  return (uint)(((ulong)at + n) % modulus);
}

INLINE uint published(volatile __global atomic_uint* end) {
  return atomic_load_explicit(end, memory_order_acquire, memory_scope_device);
}

// `writing`: what may be reserved is room; else it is packets.
INLINE Reservation reserve(__global Ring* ring, uint n, bool writing) {
  volatile __global atomic_ulong* counter = writing ? &ring->writes : &ring->reads;
  ulong old = atomic_load_explicit(counter, memory_order_relaxed, memory_scope_device);
  for (;;) {
    const uint next = next_of(old);
    const uint there = writing ? ring->packets - distance_to(published(&ring->read), next,
                                                             ring->modulus)
                               : distance_to(next, published(&ring->written), ring->modulus);
    if (n == 0 || n > there) return 0;
    const ulong open = (ulong)(count_of(old) + n) << 32;
    if (atomic_compare_exchange_strong_explicit(counter, &old,
                                                open | advance(next, n, ring->modulus),
                                                memory_order_acq_rel, memory_order_relaxed,
                                                memory_scope_device))
      return (ulong)n << 32 | next;
  }
}

INLINE void commit(__global Ring* ring, uint n, bool writing) {
  volatile __global atomic_ulong* counter = writing ? &ring->writes : &ring->reads;
  volatile __global atomic_uint* end = writing ? &ring->written : &ring->read;
  const ulong now = atomic_fetch_sub_explicit(counter, n * ONE_PACKET, memory_order_acq_rel,
                                              memory_scope_device) -
                    n * ONE_PACKET;
  if (count_of(now) != 0) return;
  // Another commit may have published more already.
  uint known = published(end);
  for (;;) {
    const uint more = distance_to(known, next_of(now), ring->modulus);
    if (more == 0 || more > ring->modulus / 2) return;
    if (atomic_compare_exchange_strong_explicit(end, &known, next_of(now), memory_order_acq_rel,
                                                memory_order_acquire, memory_scope_device))
      return;
  }
}

INLINE __global uchar* packet(__global Ring* ring, Reservation id, uint index, uint bytes) {
  const uint at = advance(next_of(id), index, ring->modulus) % ring->packets;
  return (__global uchar*)(ring + 1) + (ulong)at * bytes;
}

int __read_pipe_2(__global Ring* ring, __generic void* to, uint bytes, uint alignment) {
  (void)alignment;
  const Reservation id = reserve(ring, 1, false);
  if (!id) return -1;
  __builtin_memcpy(to, packet(ring, id, 0, bytes), bytes);
  commit(ring, 1, false);
  return 0;
}
int __write_pipe_2(__global Ring* ring, __generic const void* from, uint bytes, uint alignment) {
  (void)alignment;
  const Reservation id = reserve(ring, 1, true);
  if (!id) return -1;
  __builtin_memcpy(packet(ring, id, 0, bytes), from, bytes);
  commit(ring, 1, true);
  return 0;
}
int __read_pipe_4(__global Ring* ring, Reservation id, uint index, __generic void* to, uint bytes,
                  uint alignment) {
  (void)alignment;
  if (index >= count_of(id)) return -1;
  __builtin_memcpy(to, packet(ring, id, index, bytes), bytes);
  return 0;
}
int __write_pipe_4(__global Ring* ring, Reservation id, uint index, __generic const void* from,
                   uint bytes, uint alignment) {
  (void)alignment;
  if (index >= count_of(id)) return -1;
  __builtin_memcpy(packet(ring, id, index, bytes), from, bytes);
  return 0;
}

// A group's reservation is its first work-item's.
#define DEFINE_END(end, writing)                                                             \
  Reservation __reserve_##end##_pipe(__global Ring* ring, uint n, uint bytes,                \
                                     uint alignment) {                                       \
    (void)bytes, (void)alignment;                                                            \
    return reserve(ring, n, writing);                                                        \
  }                                                                                          \
  void __commit_##end##_pipe(__global Ring* ring, Reservation id, uint bytes,                \
                             uint alignment) {                                               \
    (void)bytes, (void)alignment;                                                            \
    commit(ring, count_of(id), writing);                                                     \
  }                                                                                          \
  Reservation __work_group_reserve_##end##_pipe(__global Ring* ring, uint n, uint bytes,     \
                                                uint alignment) {                            \
    (void)bytes, (void)alignment;                                                            \
    const Reservation id = get_local_linear_id() == 0 ? reserve(ring, n, writing) : 0;       \
    return work_group_broadcast(id, 0, 0, 0);                                                \
  }                                                                                          \
  void __work_group_commit_##end##_pipe(__global Ring* ring, Reservation id, uint bytes,     \
                                        uint alignment) {                                    \
    (void)bytes, (void)alignment;                                                            \
    barrier(CLK_GLOBAL_MEM_FENCE);                                                           \
    if (get_local_linear_id() == 0) commit(ring, count_of(id), writing);                     \
  }                                                                                          \
  Reservation __sub_group_reserve_##end##_pipe(__global Ring* ring, uint n, uint bytes,      \
                                               uint alignment) {                             \
    (void)bytes, (void)alignment;                                                            \
    const Reservation id = get_sub_group_local_id() == 0 ? reserve(ring, n, writing) : 0;    \
    return sub_group_broadcast(id, 0);                                                       \
  }                                                                                          \
  void __sub_group_commit_##end##_pipe(__global Ring* ring, Reservation id, uint bytes,      \
                                       uint alignment) {                                     \
    (void)bytes, (void)alignment;                                                            \
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);                                                 \
    if (get_sub_group_local_id() == 0) commit(ring, count_of(id), writing);                  \
  }
DEFINE_END(read, false)
DEFINE_END(write, true)

#define DEFINE_QUERIES(side)                                                                 \
  uint __get_pipe_num_packets_##side(__global Ring* ring, uint bytes, uint alignment) {      \
    (void)bytes, (void)alignment;                                                            \
    const ulong reads =                                                                      \
        atomic_load_explicit(&ring->reads, memory_order_relaxed, memory_scope_device);       \
    return distance_to(next_of(reads), published(&ring->written), ring->modulus);            \
  }                                                                                          \
  uint __get_pipe_max_packets_##side(__global Ring* ring, uint bytes, uint alignment) {      \
    (void)bytes, (void)alignment;                                                            \
    return ring->packets;                                                                    \
  }
DEFINE_QUERIES(ro)
DEFINE_QUERIES(wo)

PURE bool is_valid_reserve_id(reserve_id_t id) { return weft_reserve_id(id) != 0; }
