// Sub-groups: who a lane is; reductions and scans.
#include "combine.def"
#include "sub_group.def"

OVERLOAD uint get_sub_group_size(void) { return self().members; }
OVERLOAD uint get_max_sub_group_size(void) { return __weft_sub_group_width(); }
OVERLOAD uint get_num_sub_groups(void) {
  const uint width = __weft_sub_group_width();
  return (group_items() + width - 1) / width;
}
OVERLOAD uint get_enqueued_num_sub_groups(void) {
  const uint width = __weft_sub_group_width();
  return (enqueued_items() + width - 1) / width;
}
OVERLOAD uint get_sub_group_id(void) { return (uint)get_local_linear_id() / __weft_sub_group_width(); }
OVERLOAD uint get_sub_group_local_id(void) { return self().lane; }

// Of all lanes, which the program promises to be there.
#define DEFINE_UNIFORM(T, name, identity)                                                  \
  OVERLOAD T sub_group_reduce_##name(T x) {                                                \
    const Member m = self();                                                               \
    OFFER(T, x, m);                                                                        \
    meet();                                                                                \
    T result = TAKE(T, 0, m);                                                              \
    for (uint i = 1; i < m.members; ++i) result = COMBINE_##name(result, TAKE(T, i, m));   \
    meet();                                                                                \
    return result;                                                                         \
  }                                                                                        \
  OVERLOAD T sub_group_scan_inclusive_##name(T x) {                                        \
    const Member m = self();                                                               \
    OFFER(T, x, m);                                                                        \
    meet();                                                                                \
    T result = TAKE(T, 0, m);                                                              \
    for (uint i = 1; i <= m.lane; ++i) result = COMBINE_##name(result, TAKE(T, i, m));     \
    meet();                                                                                \
    return result;                                                                         \
  }                                                                                        \
  OVERLOAD T sub_group_scan_exclusive_##name(T x) {                                        \
    const Member m = self();                                                               \
    OFFER(T, x, m);                                                                        \
    meet();                                                                                \
    T result = m.lane ? TAKE(T, 0, m) : (T)(identity);                                     \
    for (uint i = 1; i < m.lane; ++i) result = COMBINE_##name(result, TAKE(T, i, m));      \
    meet();                                                                                \
    return result;                                                                         \
  }

// Of the active lanes of `begin` to `end`; `identity` where there are none.
#define DEFINE_FOLD(T, name, identity)                                                     \
  INLINE T fold_##name##_##T(uint begin, uint end, Member m) {                             \
    const ulong active = active_lanes();                                                   \
    T result = (T)(identity);                                                              \
    bool any = false;                                                                      \
    for (uint i = begin; i < end; ++i) {                                                   \
      if (!IS_ACTIVE(active, i)) continue;                                                 \
      const T next = TAKE(T, i, m);                                                        \
      result = any ? (T)COMBINE_##name(result, next) : next;                               \
      any = true;                                                                          \
    }                                                                                      \
    return result;                                                                         \
  }
// `truth` makes a truth value of what logical operations get.
#define DEFINE_NON_UNIFORM(T, name, identity, truth)                                       \
  DEFINE_FOLD(T, name, identity)                                                           \
  OVERLOAD T sub_group_non_uniform_reduce_##name(T x) {                                    \
    const Member m = self();                                                               \
    OFFER(T, truth x, m);                                                                  \
    meet();                                                                                \
    const T result = fold_##name##_##T(0, m.members, m);                                   \
    meet();                                                                                \
    return result;                                                                         \
  }                                                                                        \
  OVERLOAD T sub_group_non_uniform_scan_inclusive_##name(T x) {                            \
    const Member m = self();                                                               \
    OFFER(T, truth x, m);                                                                  \
    meet();                                                                                \
    const T result = fold_##name##_##T(0, m.lane + 1, m);                                  \
    meet();                                                                                \
    return result;                                                                         \
  }                                                                                        \
  OVERLOAD T sub_group_non_uniform_scan_exclusive_##name(T x) {                            \
    const Member m = self();                                                               \
    OFFER(T, truth x, m);                                                                  \
    meet();                                                                                \
    const T result = fold_##name##_##T(0, m.lane, m);                                      \
    meet();                                                                                \
    return result;                                                                         \
  }                                                                                        \
  OVERLOAD T sub_group_clustered_reduce_##name(T x, uint cluster) {                        \
    const Member m = self();                                                               \
    OFFER(T, truth x, m);                                                                  \
    meet();                                                                                \
    const uint begin = m.lane - m.lane % cluster;                                          \
    const T result = fold_##name##_##T(begin, min(begin + cluster, m.members), m);         \
    meet();                                                                                \
    return result;                                                                         \
  }
#include "sub_group_arithmetic.def"
