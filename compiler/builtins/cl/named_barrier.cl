// Named barriers (SPIR-V's capability NamedBarrier, cl_khr_subgroup_named_barrier), where one thread
// runs all lanes of a group: sub-groups that wait meet again and again, and each time the others
// get on. So nothing here has to be atomic, but what one sub-group writes another reads.
#include "sub_group.def"

typedef struct {
  uint awaited;  // sub-groups
  uint arrived;
  uint round;
} NamedBarrier;

// All work-items of the group call it.
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
  if (self().lane == 0 && ++barrier_->arrived == barrier_->awaited) {
    barrier_->arrived = 0;
    ++barrier_->round;
  }
  do meet();
  while (barrier_->round == round);
}
