// Sub-groups: votes, ballots and values from other lanes.
#include "sub_group.def"

#define MASK_FUNCTION(name) name
#define LANE self().lane
#define MEMBERS self().members
#define WIDTH __weft_sub_group_width()
#include "sub_group_mask.def"

// The active lanes whose predicate holds.
INLINE ulong ballot(int predicate) {
  const Member m = self();
  OFFER(int, predicate, m);
  meet();
  const ulong active = active_lanes();
  ulong lanes = 0;
  for (uint i = 0; i < m.members; ++i)
    if (IS_ACTIVE(active, i) && TAKE(int, i, m)) lanes |= (ulong)1 << i;
  meet();
  return lanes;
}
// The active lanes.
INLINE ulong present(void) {
  meet();
  return active_lanes();
}

// Uniform ones.
OVERLOAD int sub_group_all(int predicate) {
  const Member m = self();
  OFFER(int, predicate, m);
  meet();
  bool all = true;
  for (uint i = 0; i < m.members; ++i) all &= TAKE(int, i, m) != 0;
  meet();
  return all;
}
OVERLOAD int sub_group_any(int predicate) {
  const Member m = self();
  OFFER(int, predicate, m);
  meet();
  bool any = false;
  for (uint i = 0; i < m.members; ++i) any |= TAKE(int, i, m) != 0;
  meet();
  return any;
}

OVERLOAD int sub_group_elect(void) { return self().lane == lowest(present()); }
OVERLOAD int sub_group_non_uniform_all(int predicate) { return ballot(!predicate) == 0; }
OVERLOAD int sub_group_non_uniform_any(int predicate) { return ballot(predicate) != 0; }

OVERLOAD uint4 sub_group_ballot(int predicate) { return as_mask(ballot(predicate)); }
// `from` is worked out behind the first meeting.
#define DEFINE_TAKE(name, T, from, ...)     \
  OVERLOAD T name(T x __VA_ARGS__) {        \
    const Member m = self();                \
    OFFER(T, x, m);                         \
    meet();                                 \
    const T result = TAKE(T, from, m);      \
    meet();                                 \
    return result;                          \
  }
#define COMMA ,
#define DEFINE_BROADCASTS(n, V, T)                                               \
  DEFINE_TAKE(sub_group_broadcast, T##n, source, COMMA uint source)              \
  DEFINE_TAKE(sub_group_non_uniform_broadcast, T##n, source, COMMA uint source)
#define ROTATED(cluster) (m.lane - m.lane % (cluster) + (m.lane + (uint)delta) % (cluster))
#define DEFINE_SCALAR(T)                                                              \
  DEFINE_TAKE(sub_group_broadcast_first, T, lowest(active_lanes()), )                 \
  DEFINE_TAKE(sub_group_shuffle, T, source, COMMA uint source)                        \
  DEFINE_TAKE(sub_group_shuffle_xor, T, m.lane ^ mask, COMMA uint mask)               \
  DEFINE_TAKE(sub_group_shuffle_up, T, m.lane - delta, COMMA uint delta)              \
  DEFINE_TAKE(sub_group_shuffle_down, T, m.lane + delta, COMMA uint delta)            \
  DEFINE_TAKE(sub_group_rotate, T, ROTATED(__weft_sub_group_width()), COMMA int delta) \
  DEFINE_TAKE(sub_group_clustered_rotate, T, ROTATED(cluster),                        \
              COMMA int delta COMMA uint cluster)                                     \
  OVERLOAD int sub_group_non_uniform_all_equal(T x) {                                 \
    const Member m = self();                                                          \
    OFFER(T, x, m);                                                                   \
    meet();                                                                           \
    const ulong active = active_lanes();                                              \
    const T first = TAKE(T, lowest(active), m);                                       \
    bool equal = true;                                                                \
    for (uint i = 0; i < m.members; ++i)                                              \
      if (IS_ACTIVE(active, i)) equal &= TAKE(T, i, m) == first;                      \
    meet();                                                                           \
    return equal;                                                                     \
  }
#define DEFINE_TYPE(T)         \
  WIDTHS(DEFINE_BROADCASTS, T) \
  DEFINE_SCALAR(T)
LANE_TYPES(DEFINE_TYPE)
