// OpenCL C 6.15.19 and the cl_khr_subgroup_* extensions where the lanes of a sub-group run side by
// side and hand values to each other. What needs no other lane is sub_group.def's and its sources'.
// Loops go the same number of rounds in all lanes that take part: each round is an exchange.
#include "combine.def"
#include "types.def"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// The target's own (compiler/gpu/sub_groups.h). Masks have a bit for each lane of the sub-group;
// all lanes of a mask have to come, with the same one.
uint __weft_lanes(void) __attribute__((const));
// The work-item's place in its sub-group and how many are there, the sub-group's in the group and how
// many it has.
uint __weft_lane(void) __attribute__((const));
uint __weft_members(void) __attribute__((const));
uint __weft_sub_group(void) __attribute__((const));
uint __weft_sub_groups(void) __attribute__((const));
// The lanes that are here.
uint __weft_here(void) __attribute__((convergent));
void __weft_meet(uint mask) __attribute__((convergent));
// The lanes of the mask whose predicate holds.
uint __weft_ballot(int predicate, uint mask) __attribute__((convergent));
// x of that lane; anything where it is not one of the mask.
uint __weft_shuffle(uint x, uint lane, uint mask) __attribute__((convergent));
// Do lanes that are not here run along, so that whole sub-groups shuffle? Then each can ask if it is
// one that is here.
bool __weft_idle_lanes_run(void) __attribute__((const));
uint __weft_runs(void) __attribute__((convergent));
ulong __weft_shuffle_long(ulong x, uint lane) __attribute__((convergent));

typedef struct {
  uint lane, members;
  uint all;  // the mask of all members
} Member;

INLINE Member self(void) {
  const uint members = __weft_members();
  return (Member){__weft_lane(), members, ~0u >> (32 - members)};
}
INLINE bool has(uint mask, uint lane) { return mask >> lane & 1; }

OVERLOAD uint __weft_own_get_sub_group_size(void) { return __weft_members(); }
OVERLOAD uint __weft_own_get_num_sub_groups(void) { return __weft_sub_groups(); }
OVERLOAD uint __weft_own_get_sub_group_id(void) { return __weft_sub_group(); }
OVERLOAD uint __weft_own_get_sub_group_local_id(void) { return __weft_lane(); }

#define MASK_FUNCTION(name) __weft_own_##name
#define LANE __weft_lane()
#define MEMBERS __weft_members()
#define WIDTH __weft_lanes()
#include "sub_group_mask.def"

OVERLOAD void __weft_own_sub_group_barrier(cl_mem_fence_flags flags) {
  __weft_meet(self().all);
  atomic_work_item_fence(flags, memory_order_acq_rel, memory_scope_work_group);
  __weft_meet(self().all);
}
OVERLOAD void __weft_own_sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  __weft_meet(self().all);
  atomic_work_item_fence(flags, memory_order_acq_rel, scope);
  __weft_meet(self().all);
}

#define DEFINE_TAKE(T)                                                   \
  INLINE T take_##T(T x, uint lane, uint mask) {                         \
    union {                                                              \
      T value;                                                           \
      uint words[(sizeof(T) + 3) / 4];                                   \
      ulong longs[(sizeof(T) + 7) / 8];                                  \
    } u;                                                                 \
    if (sizeof(T) < 4) u.words[0] = 0;                                   \
    u.value = x;                                                         \
    if (sizeof(T) % 8 == 0 && __weft_idle_lanes_run()) {                 \
      for (uint i = 0; i < sizeof(T) / 8; ++i)                           \
        u.longs[i] = __weft_shuffle_long(u.longs[i], lane);              \
      return u.value;                                                    \
    }                                                                    \
    for (uint i = 0; i < (sizeof(T) + 3) / 4; ++i)                       \
      u.words[i] = __weft_shuffle(u.words[i], lane, mask);               \
    return u.value;                                                      \
  }

// Steps are written out, as the number of lanes is known where the library is linked.
#define SCAN_STEP(T, name, distance)                                         \
  if (distance < __weft_lanes()) {                                           \
    const T below = take_##T(x, lane - distance, mask);                      \
    x = lane >= distance ? (T)COMBINE_##name(below, x) : x;                  \
  }
#define CLUSTER_STEP(T, name, distance)                                      \
  if (distance < cluster) x = COMBINE_##name(x, take_##T(x, lane ^ distance, mask));
#define STEPS(STEP, T, name) \
  STEP(T, name, 1) STEP(T, name, 2) STEP(T, name, 4) STEP(T, name, 8) STEP(T, name, 16)

// Of all lanes, which the program promises to be there.
#define DEFINE_UNIFORM(T, name, identity)                                    \
  INLINE T scan_##name##_##T(T x, uint lane, uint mask) {                    \
    STEPS(SCAN_STEP, T, name)                                                \
    return x;                                                                \
  }                                                                          \
  OVERLOAD T __weft_own_sub_group_reduce_##name(T x) {                       \
    if (__weft_idle_lanes_run()) return all_##name##_##T(x);  \
    const Member m = self();                                                 \
    return take_##T(scan_##name##_##T(x, m.lane, m.all), m.members - 1, m.all); \
  }                                                                          \
  OVERLOAD T __weft_own_sub_group_scan_inclusive_##name(T x) {               \
    if (__weft_idle_lanes_run()) return up_to_##name##_##T(x); \
    const Member m = self();                                                 \
    return scan_##name##_##T(x, m.lane, m.all);                              \
  }                                                                          \
  OVERLOAD T __weft_own_sub_group_scan_exclusive_##name(T x) {               \
    if (__weft_idle_lanes_run()) return before_##name##_##T(x); \
    const Member m = self();                                                 \
    const T below = take_##T(scan_##name##_##T(x, m.lane, m.all), m.lane - 1, m.all); \
    return m.lane ? below : (T)(identity);                                   \
  }

// Of the lanes that are here where the others run along: these have what changes nothing.
#define DEFINE_MASKED(T, name, identity)                                     \
  INLINE T up_to_##name##_##T(T x) {                                         \
    const uint lane = __weft_lane(), mask = ~0u;                             \
    x = __weft_runs() ? x : (T)(identity);                                   \
    STEPS(SCAN_STEP, T, name)                                                \
    return x;                                                                \
  }                                                                          \
  INLINE T all_##name##_##T(T x) {                                           \
    return take_##T(up_to_##name##_##T(x), __weft_lanes() - 1, ~0u);         \
  }                                                                          \
  INLINE T before_##name##_##T(T x) {                                        \
    const uint lane = __weft_lane();                                         \
    const T below = take_##T(up_to_##name##_##T(x), lane - 1, ~0u);          \
    return lane ? below : (T)(identity);                                     \
  }                                                                          \
  INLINE T cluster_##name##_##T(T x, uint cluster) {                         \
    const uint lane = __weft_lane(), mask = ~0u;                             \
    x = __weft_runs() ? x : (T)(identity);                                   \
    STEPS(CLUSTER_STEP, T, name)                                             \
    return x;                                                                \
  }

// Of the lanes of `mask` that are below `end`, in their order; `identity` where there are none.
#define DEFINE_FOLD(T, name, identity)                                       \
  INLINE T fold_##name##_##T(T x, uint mask, uint end) {                     \
    T result = (T)(identity);                                                \
    bool any = false;                                                        \
    for (uint rest = mask; rest; rest &= rest - 1) {                         \
      const uint lane = lowest(rest);                                        \
      const T next = take_##T(x, lane, mask);                                \
      if (lane >= end) continue;                                             \
      result = any ? (T)COMBINE_##name(result, next) : next;                 \
      any = true;                                                            \
    }                                                                        \
    return result;                                                           \
  }
// `truth` makes a truth value of what logical operations get.
#define DEFINE_NON_UNIFORM(T, name, identity, truth)                                     \
  DEFINE_FOLD(T, name, identity)                                                         \
  DEFINE_MASKED(T, name, identity)                                                       \
  OVERLOAD T __weft_own_sub_group_non_uniform_reduce_##name(T x) {                       \
    const uint mask = __weft_here();                                                     \
    if (__weft_idle_lanes_run()) return all_##name##_##T(truth x);                 \
    return fold_##name##_##T(truth x, mask, 32);                                         \
  }                                                                                      \
  OVERLOAD T __weft_own_sub_group_non_uniform_scan_inclusive_##name(T x) {               \
    const uint mask = __weft_here();                                                     \
    if (__weft_idle_lanes_run()) return up_to_##name##_##T(truth x);               \
    return fold_##name##_##T(truth x, mask, __weft_lane() + 1);                          \
  }                                                                                      \
  OVERLOAD T __weft_own_sub_group_non_uniform_scan_exclusive_##name(T x) {               \
    const uint mask = __weft_here();                                                     \
    if (__weft_idle_lanes_run()) return before_##name##_##T(truth x);              \
    return fold_##name##_##T(truth x, mask, __weft_lane());                              \
  }                                                                                      \
  OVERLOAD T __weft_own_sub_group_clustered_reduce_##name(T x, uint cluster) {           \
    const uint mask = __weft_here(), lane = __weft_lane(), begin = lane - lane % cluster; \
    const T own = truth x;                                                               \
    if (__weft_idle_lanes_run()) return cluster_##name##_##T(own, cluster);        \
    T result = (T)(identity);                                                            \
    bool any = false;                                                                    \
    for (uint i = 0; i < cluster; ++i) {                                                 \
      const T next = take_##T(own, begin + i, mask);                                     \
      if (!has(mask, begin + i)) continue;                                               \
      result = any ? (T)COMBINE_##name(result, next) : next;                             \
      any = true;                                                                        \
    }                                                                                    \
    return result;                                                                       \
  }
// Uniform ones.
OVERLOAD int __weft_own_sub_group_all(int predicate) {
  const uint all = self().all;
  return __weft_ballot(predicate, all) == all;
}
OVERLOAD int __weft_own_sub_group_any(int predicate) {
  return __weft_ballot(predicate, self().all) != 0;
}

OVERLOAD int __weft_own_sub_group_elect(void) { return self().lane == lowest(__weft_here()); }
OVERLOAD int __weft_own_sub_group_non_uniform_all(int predicate) {
  const uint mask = __weft_here();
  return __weft_ballot(predicate, mask) == mask;
}
OVERLOAD int __weft_own_sub_group_non_uniform_any(int predicate) {
  return __weft_ballot(predicate, __weft_here()) != 0;
}
OVERLOAD uint4 __weft_own_sub_group_ballot(int predicate) {
  return (uint4)(__weft_ballot(predicate, __weft_here()), 0, 0, 0);
}

#define DEFINE_BROADCASTS(n, V, T)                                                           \
  DEFINE_TAKE(T##n)                                                                          \
  OVERLOAD T##n __weft_own_sub_group_broadcast(T##n x, uint source) {                        \
    return take_##T##n(x, source, self().all);                                               \
  }                                                                                          \
  OVERLOAD T##n __weft_own_sub_group_non_uniform_broadcast(T##n x, uint source) {            \
    return take_##T##n(x, source, __weft_here());                                            \
  }
#define DEFINE_EXCHANGE(name, T, from, parameters)                       \
  OVERLOAD T __weft_own_sub_group_##name parameters {                    \
    return take_##T(x, from, __weft_here());                             \
  }
#define ROTATED(cluster) (LANE - LANE % (cluster) + (LANE + (uint)delta) % (cluster))
#define DEFINE_SCALAR(T)                                                              \
  OVERLOAD T __weft_own_sub_group_broadcast_first(T x) {                              \
    const uint mask = __weft_here();                                                  \
    return take_##T(x, lowest(mask), mask);                                           \
  }                                                                                   \
  DEFINE_EXCHANGE(shuffle, T, source, (T x, uint source))                             \
  DEFINE_EXCHANGE(shuffle_xor, T, LANE ^ mask, (T x, uint mask))                      \
  DEFINE_EXCHANGE(shuffle_up, T, LANE - delta, (T x, uint delta))                     \
  DEFINE_EXCHANGE(shuffle_down, T, LANE + delta, (T x, uint delta))                   \
  DEFINE_EXCHANGE(rotate, T, ROTATED(__weft_lanes()), (T x, int delta))               \
  DEFINE_EXCHANGE(clustered_rotate, T, ROTATED(cluster), (T x, int delta, uint cluster)) \
  OVERLOAD int __weft_own_sub_group_non_uniform_all_equal(T x) {                      \
    const uint mask = __weft_here();                                                  \
    const T first = take_##T(x, lowest(mask), mask);                                  \
    return __weft_ballot(x == first, mask) == mask;                                   \
  }
#define DEFINE_TYPE(T)         \
  WIDTHS(DEFINE_BROADCASTS, T) \
  DEFINE_SCALAR(T)
LANE_TYPES(DEFINE_TYPE)
#include "sub_group_arithmetic.def"
