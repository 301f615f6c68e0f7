// OpenCL C 6.15.16 where a group's work-items run at the same time. Those of one sub-group hand
// their values to each other; each sub-group's result goes through local memory. Scans take for
// granted that a sub-group is a stretch of the group's linear ids, in their order, and the next one
// the next stretch. So it is where Weft makes the sub-groups; SPIR-V leaves it to the driver.
#include "combine.def"
#include "types.def"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// The target's own (compiler/gpu): the work-item's place in its sub-group and how many are there, the
// sub-group's in the group and how many it has.
uint __weft_lane(void) __attribute__((const));
uint __weft_members(void) __attribute__((const));
uint __weft_sub_group(void) __attribute__((const));
uint __weft_sub_groups(void) __attribute__((const));
// x of the work-item `distance` lanes below; anything where there is none. All lanes that the
// sub-group has must call it: `members` of them.
uint __weft_shuffle_up(uint x, uint distance, uint members) __attribute__((convergent));
// One value for each sub-group; for one call at a time.
__local ulong* __weft_group_slots(void) __attribute__((const));

typedef struct {
  uint lane, members;        // of its sub-group
  uint sub_group, sub_groups;  // of the group
} Member;

INLINE Member self(void) {
  return (Member){__weft_lane(), __weft_members(), __weft_sub_group(), __weft_sub_groups()};
}

#define DEFINE_SHUFFLE_NARROW(T, W)                              \
  INLINE T below_##T(T x, uint distance, Member m) {             \
    const uint bits = (uint)AS(W, x);                            \
    return AS(T, (W)__weft_shuffle_up(bits, distance, m.members)); \
  }
#define DEFINE_SHUFFLE_WIDE(T)                                            \
  INLINE T below_##T(T x, uint distance, Member m) {                      \
    const uint2 bits = AS(uint2, x);                                      \
    return AS(T, (uint2)(__weft_shuffle_up(bits.x, distance, m.members),  \
                         __weft_shuffle_up(bits.y, distance, m.members))); \
  }
DEFINE_SHUFFLE_NARROW(int, uint)
DEFINE_SHUFFLE_NARROW(uint, uint)
DEFINE_SHUFFLE_NARROW(float, uint)
DEFINE_SHUFFLE_NARROW(half, ushort)
DEFINE_SHUFFLE_WIDE(long)
DEFINE_SHUFFLE_WIDE(ulong)
DEFINE_SHUFFLE_WIDE(double)

// The slots may still be read by the call before this one.
#define DEFINE_FOLDS(T, name, identity)                                                    \
  INLINE T scan_##name##_##T(T x, Member m) {                                              \
    for (uint distance = 1; distance < m.members; distance *= 2) {                         \
      const T below = below_##T(x, distance, m);                                           \
      if (m.lane >= distance) x = COMBINE_##name(below, x);                                \
    }                                                                                      \
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \
    if (m.lane + 1 == m.members) ((__local T*)(__weft_group_slots() + m.sub_group))[0] = x; \
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \
    return x;                                                                              \
  }                                                                                        \
  INLINE T slot_##name##_##T(uint i) { return ((__local T*)(__weft_group_slots() + i))[0]; } \
  INLINE T after_##name##_##T(T x, Member m) {                                             \
    for (uint i = m.sub_group; i-- > 0;) {                                                 \
      const T before = slot_##name##_##T(i);                                               \
      x = COMBINE_##name(before, x);                                                       \
    }                                                                                      \
    return x;                                                                              \
  }                                                                                        \
  OVERLOAD T __weft_own_work_group_scan_inclusive_##name(T x) {                            \
    const Member m = self();                                                               \
    return after_##name##_##T(scan_##name##_##T(x, m), m);                                 \
  }                                                                                        \
  OVERLOAD T __weft_own_work_group_scan_exclusive_##name(T x) {                            \
    const Member m = self();                                                               \
    const T before = below_##T(scan_##name##_##T(x, m), 1, m);                             \
    return after_##name##_##T(m.lane ? before : (T)(identity), m);                         \
  }                                                                                        \
  OVERLOAD T __weft_own_work_group_reduce_##name(T x) {                                    \
    const Member m = self();                                                               \
    scan_##name##_##T(x, m);                                                               \
    T all = slot_##name##_##T(0);                                                          \
    for (uint i = 1; i < m.sub_groups; ++i) {                                              \
      const T next = slot_##name##_##T(i);                                                 \
      all = COMBINE_##name(all, next);                                                     \
    }                                                                                      \
    return all;                                                                            \
  }
#define DEFINE_BROADCASTS(T)                                                               \
  INLINE T from_##T(T x, bool source) {                                                    \
    __local T* slot = (__local T*)__weft_group_slots();                                    \
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \
    if (source) *slot = x;                                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \
    return *slot;                                                                          \
  }                                                                                        \
  OVERLOAD T __weft_own_work_group_broadcast(T x, size_t i) {                              \
    return from_##T(x, get_local_id(0) == i);                                              \
  }                                                                                        \
  OVERLOAD T __weft_own_work_group_broadcast(T x, size_t i, size_t j) {                    \
    return from_##T(x, get_local_id(0) == i && get_local_id(1) == j);                      \
  }                                                                                        \
  OVERLOAD T __weft_own_work_group_broadcast(T x, size_t i, size_t j, size_t k) {          \
    return from_##T(x, get_local_id(0) == i && get_local_id(1) == j && get_local_id(2) == k); \
  }
#define DEFINE_GROUP(T, least, greatest) \
  DEFINE_FOLDS(T, add, 0)                \
  DEFINE_FOLDS(T, min, greatest)         \
  DEFINE_FOLDS(T, max, least)            \
  DEFINE_BROADCASTS(T)
DEFINE_GROUP(int, INT_MIN, INT_MAX)
DEFINE_GROUP(uint, 0, UINT_MAX)
DEFINE_GROUP(long, LONG_MIN, LONG_MAX)
DEFINE_GROUP(ulong, 0, ULONG_MAX)
DEFINE_GROUP(half, -INFINITY, INFINITY)
DEFINE_GROUP(float, -INFINITY, INFINITY)
DEFINE_GROUP(double, -INFINITY, INFINITY)

// cl_khr_work_group_uniform_arithmetic.
#define DEFINE_BITS(T)     \
  DEFINE_FOLDS(T, mul, 1)  \
  DEFINE_FOLDS(T, and, ~0) \
  DEFINE_FOLDS(T, or, 0)   \
  DEFINE_FOLDS(T, xor, 0)
DEFINE_BITS(int)
DEFINE_BITS(uint)
DEFINE_BITS(long)
DEFINE_BITS(ulong)
DEFINE_FOLDS(half, mul, 1)
DEFINE_FOLDS(float, mul, 1)
DEFINE_FOLDS(double, mul, 1)

// Of truth values, of which one bit is enough.
#define DEFINE_LOGICAL(fold, name)                            \
  OVERLOAD int __weft_own_work_group_##fold##_logical_##name(int x) { \
    return __weft_own_work_group_##fold##_##name(x != 0) & 1; \
  }
#define DEFINE_LOGICALS(name)          \
  DEFINE_LOGICAL(reduce, name)         \
  DEFINE_LOGICAL(scan_inclusive, name) \
  DEFINE_LOGICAL(scan_exclusive, name)
DEFINE_LOGICALS(and)
DEFINE_LOGICALS(or)
DEFINE_LOGICALS(xor)

OVERLOAD int __weft_own_work_group_all(int predicate) {
  return __weft_own_work_group_reduce_min(predicate != 0 ? 1 : 0);
}
OVERLOAD int __weft_own_work_group_any(int predicate) {
  return __weft_own_work_group_reduce_max(predicate != 0 ? 1 : 0);
}
