// Named barriers where one thread runs all lanes of a group: sub-groups that wait meet again and
// again, and each time the others get on. Lanes of several sub-groups may be one vector, of which only
// atomic operations count each.
#include "named_barrier.def"
#include "sub_group.def"

// All work-items of the group call it, on every target.
void __weft_named_barrier_init(volatile __local NamedBarrier* barrier_, uint sub_groups) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_linear_id() == 0) {
    barrier_->awaited = sub_groups;
    barrier_->arrived = 0;
    barrier_->round = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// All work-items of a sub-group call it.
void __weft_named_barrier(volatile __local NamedBarrier* barrier_) {
  meet();
  const uint round = barrier_->round;
  meet();
  if (self().lane == 0 &&
      atomic_fetch_add_explicit((volatile __local atomic_uint*)&barrier_->arrived, 1,
                                memory_order_relaxed, memory_scope_work_group) + 1 ==
          barrier_->awaited) {
    barrier_->arrived = 0;
    ++barrier_->round;
  }
  do meet();
  while (barrier_->round == round);
}
