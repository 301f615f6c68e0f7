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

// Do all sub-groups have as many lanes as they may? Then all lanes take the same turns of a loop.
INLINE bool all_are_full(void) { return group_items() % __weft_sub_group_width() == 0; }

// Of all lanes, which the program promises to be there. Each does for itself what all lanes of a
// sub-group do: where those are a vector, what one has offered goes to all of it at once.
#define DEFINE_UNIFORM(T, name, identity)                                                  \
  INLINE T fold_all_##name##_##T(Member m) {                                               \
    T result = TAKE(T, 0, m);                                                              \
    if (all_are_full()) {                                                                  \
      for (uint i = 1; i < __weft_sub_group_width(); ++i)                                  \
        result = COMBINE_##name(result, TAKE(T, i, m));                                    \
    } else {                                                                               \
      for (uint i = 1; i < m.members; ++i)                                                 \
        result = COMBINE_##name(result, TAKE(T, i, m));                                    \
    }                                                                                      \
    return result;                                                                         \
  }                                                                                        \
  INLINE T fold_some_##name##_##T(T result, uint end, Member m) {                          \
    if (all_are_full()) {                                                                  \
      for (uint i = 1; i < __weft_sub_group_width(); ++i) {                                \
        const T next = COMBINE_##name(result, TAKE(T, i, m));                              \
        result = i < end ? next : result;                                                  \
      }                                                                                    \
    } else {                                                                               \
      for (uint i = 1; i < end; ++i) result = COMBINE_##name(result, TAKE(T, i, m));       \
    }                                                                                      \
    return result;                                                                         \
  }                                                                                        \
  OVERLOAD T sub_group_reduce_##name(T x) {                                                \
    const Member m = self();                                                               \
    OFFER(T, x, m);                                                                        \
    meet();                                                                                \
    const T result = fold_all_##name##_##T(m);                                             \
    meet();                                                                                \
    return result;                                                                         \
  }                                                                                        \
  OVERLOAD T sub_group_scan_inclusive_##name(T x) {                                        \
    const Member m = self();                                                               \
    OFFER(T, x, m);                                                                        \
    meet();                                                                                \
    const T result = fold_some_##name##_##T(TAKE(T, 0, m), m.lane + 1, m);                 \
    meet();                                                                                \
    return result;                                                                         \
  }                                                                                        \
  OVERLOAD T sub_group_scan_exclusive_##name(T x) {                                        \
    const Member m = self();                                                               \
    OFFER(T, x, m);                                                                        \
    meet();                                                                                \
    const T result =                                                                       \
        fold_some_##name##_##T(m.lane ? TAKE(T, 0, m) : (T)(identity), m.lane, m);         \
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
