// Named barriers where the sub-groups of a group run side by side, each at its own pace.
#include "named_barrier.def"
#include "types.def"

// The target's own (compiler/gpu).
uint __weft_lane(void) __attribute__((const));
uint __weft_members(void) __attribute__((const));
void __weft_meet(uint mask) __attribute__((convergent));
uint __weft_ballot(int predicate, uint mask) __attribute__((convergent));
// Which of the kernel's it is, from 1 on.
uint __weft_barrier_number(__local NamedBarrier* barrier_) __attribute__((const));
// Waits until so many warps have come to the hardware's barrier of that number.
void __weft_meet_warps(uint number, uint warps) __attribute__((convergent));
// Orders what this work-item does to the memory that its group sees.
void __weft_order_group(void);
// Lets other sub-groups get on.
void __weft_rest(void) __attribute__((convergent));

// Where sub-groups are warps, which the hardware counts.
__attribute__((convergent)) void __weft_warps_named_barrier(__local NamedBarrier* barrier_) {
  __weft_meet_warps(__weft_barrier_number(barrier_), barrier_->awaited);
}

// OpenCL C's functions take volatile generic pointers, which would not become local ones again.
#define SCOPE memory_scope_work_group
#define LOAD(field) \
  __opencl_atomic_load((__local atomic_uint*)&barrier_->field, memory_order_relaxed, SCOPE)
#define STORE(field, value)                                                                \
  __opencl_atomic_store((__local atomic_uint*)&barrier_->field, value, memory_order_relaxed, \
                        SCOPE)
#define COUNT(field) \
  __opencl_atomic_fetch_add((__local atomic_uint*)&barrier_->field, 1, memory_order_relaxed, SCOPE)

// Where they count themselves. All lanes look who has come, so that they leave together.
__attribute__((convergent)) void __weft_counted_named_barrier(__local NamedBarrier* barrier_) {
  const uint all = ~0u >> (32 - __weft_members());
  __weft_order_group();
  const uint round = LOAD(round);
  __weft_meet(all);
  if (__weft_lane() == 0 && COUNT(arrived) + 1 == barrier_->awaited) {
    STORE(arrived, 0);
    __weft_order_group();
    STORE(round, round + 1);
  }
  while (__weft_ballot(LOAD(round) == round, all)) __weft_rest();
  __weft_order_group();
}
