// Sub-groups: who a lane is; reductions and scans.
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

#define COMBINE_add(a, b) ((a) + (b))
#define COMBINE_mul(a, b) ((a) * (b))
#define COMBINE_min(a, b) ((b) < (a) ? (b) : (a))
#define COMBINE_max(a, b) ((b) > (a) ? (b) : (a))
#define COMBINE_and(a, b) ((a) & (b))
#define COMBINE_or(a, b) ((a) | (b))
#define COMBINE_xor(a, b) ((a) ^ (b))
#define COMBINE_logical_and(a, b) ((a) && (b))
#define COMBINE_logical_or(a, b) ((a) || (b))
#define COMBINE_logical_xor(a, b) (!(a) != !(b))

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
#define DEFINE_ARITHMETIC(T, least, greatest)    \
  DEFINE_UNIFORM(T, add, 0)                      \
  DEFINE_UNIFORM(T, min, greatest)               \
  DEFINE_UNIFORM(T, max, least)                  \
  DEFINE_NON_UNIFORM(T, add, 0, )                \
  DEFINE_NON_UNIFORM(T, mul, 1, )                \
  DEFINE_NON_UNIFORM(T, min, greatest, )         \
  DEFINE_NON_UNIFORM(T, max, least, )
#define DEFINE_BITWISE(T)             \
  DEFINE_NON_UNIFORM(T, and, -1, )    \
  DEFINE_NON_UNIFORM(T, or, 0, )      \
  DEFINE_NON_UNIFORM(T, xor, 0, )
DEFINE_ARITHMETIC(char, CHAR_MIN, CHAR_MAX)
DEFINE_ARITHMETIC(uchar, 0, UCHAR_MAX)
DEFINE_ARITHMETIC(short, SHRT_MIN, SHRT_MAX)
DEFINE_ARITHMETIC(ushort, 0, USHRT_MAX)
DEFINE_ARITHMETIC(int, INT_MIN, INT_MAX)
DEFINE_ARITHMETIC(uint, 0, UINT_MAX)
DEFINE_ARITHMETIC(long, LONG_MIN, LONG_MAX)
DEFINE_ARITHMETIC(ulong, 0, ULONG_MAX)
DEFINE_ARITHMETIC(half, -INFINITY, INFINITY)
DEFINE_ARITHMETIC(float, -INFINITY, INFINITY)
DEFINE_ARITHMETIC(double, -INFINITY, INFINITY)
DEFINE_BITWISE(char)
DEFINE_BITWISE(uchar)
DEFINE_BITWISE(short)
DEFINE_BITWISE(ushort)
DEFINE_BITWISE(int)
DEFINE_BITWISE(uint)
DEFINE_BITWISE(long)
DEFINE_BITWISE(ulong)
DEFINE_NON_UNIFORM(int, logical_and, 1, !!)
DEFINE_NON_UNIFORM(int, logical_or, 0, !!)
DEFINE_NON_UNIFORM(int, logical_xor, 0, !!)
