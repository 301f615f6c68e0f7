// OpenCL C 6.15.12, atomics of OpenCL 2.0 and later, and fences. Every scope is the whole machine's.
#include "types.def"

#define ATOMIC_SPACES(F, ...) \
  F(__global, __VA_ARGS__) F(__local, __VA_ARGS__) F(__generic, __VA_ARGS__)
#define EXPECTED_SPACES(F, ...)  \
  F(__global, __VA_ARGS__)       \
  F(__local, __VA_ARGS__)        \
  F(__private, __VA_ARGS__)

#define ALL memory_scope_all_svm_devices
#define STRICT memory_order_seq_cst

#define DEFINE_ACCESS(space, A, T)                                                               \
  OVERLOAD void atomic_init(volatile space A* p, T x) { __opencl_atomic_init(p, x); }            \
  OVERLOAD T atomic_load(volatile space A* p) { return __opencl_atomic_load(p, STRICT, ALL); }   \
  OVERLOAD T atomic_load_explicit(volatile space A* p, memory_order order) {                     \
    return __opencl_atomic_load(p, order, ALL);                                                  \
  }                                                                                              \
  OVERLOAD T atomic_load_explicit(volatile space A* p, memory_order order, memory_scope scope) { \
    (void)scope;                                                                                 \
    return __opencl_atomic_load(p, order, ALL);                                                  \
  }                                                                                              \
  OVERLOAD void atomic_store(volatile space A* p, T x) {                                         \
    __opencl_atomic_store(p, x, STRICT, ALL);                                                    \
  }                                                                                              \
  OVERLOAD void atomic_store_explicit(volatile space A* p, T x, memory_order order) {            \
    __opencl_atomic_store(p, x, order, ALL);                                                     \
  }                                                                                              \
  OVERLOAD void atomic_store_explicit(volatile space A* p, T x, memory_order order,              \
                                      memory_scope scope) {                                      \
    (void)scope;                                                                                 \
    __opencl_atomic_store(p, x, order, ALL);                                                     \
  }

#define DEFINE_MODIFY(space, A, T, X, name, operation)                                           \
  OVERLOAD T name(volatile space A* p, X x) { return operation(p, (T)x, STRICT, ALL); }          \
  OVERLOAD T name##_explicit(volatile space A* p, X x, memory_order order) {                     \
    return operation(p, (T)x, order, ALL);                                                       \
  }                                                                                              \
  OVERLOAD T name##_explicit(volatile space A* p, X x, memory_order order, memory_scope scope) { \
    (void)scope;                                                                                 \
    return operation(p, (T)x, order, ALL);                                                       \
  }

#define DEFINE_EXCHANGE_FORM(expected_space, space, A, T, name, operation)                       \
  OVERLOAD bool name(volatile space A* p, expected_space T* expected, T x) {                     \
    return operation(p, expected, x, STRICT, STRICT, ALL);                                       \
  }                                                                                              \
  OVERLOAD bool name##_explicit(volatile space A* p, expected_space T* expected, T x,            \
                                memory_order success, memory_order failure) {                    \
    return operation(p, expected, x, success, failure, ALL);                                     \
  }                                                                                              \
  OVERLOAD bool name##_explicit(volatile space A* p, expected_space T* expected, T x,            \
                                memory_order success, memory_order failure, memory_scope scope) {\
    (void)scope;                                                                                 \
    return operation(p, expected, x, success, failure, ALL);                                     \
  }
#define DEFINE_EXCHANGE_FORMS(F, ...)                                                            \
  F(__VA_ARGS__, atomic_compare_exchange_strong, __opencl_atomic_compare_exchange_strong)        \
  F(__VA_ARGS__, atomic_compare_exchange_weak, __opencl_atomic_compare_exchange_weak)
#define DEFINE_EXCHANGE(space, A, T, name, operation)                                            \
  EXPECTED_SPACES(DEFINE_EXCHANGE_FORM, space, A, T, name, operation)
#define DEFINE_EXCHANGE_GENERIC(A, T, name, operation)                                           \
  DEFINE_EXCHANGE_FORM(__generic, __generic, A, T, name, operation)

#define DEFINE_ANY_TYPE(A, T)                                                                    \
  ATOMIC_SPACES(DEFINE_ACCESS, A, T)                                                             \
  ATOMIC_SPACES(DEFINE_MODIFY, A, T, T, atomic_exchange, __opencl_atomic_exchange)               \
  DEFINE_EXCHANGE_FORMS(DEFINE_EXCHANGE, __global, A, T)                                         \
  DEFINE_EXCHANGE_FORMS(DEFINE_EXCHANGE, __local, A, T)                                          \
  DEFINE_EXCHANGE_FORMS(DEFINE_EXCHANGE_GENERIC, A, T)
#define DEFINE_SUMS(A, T, X)                                                                     \
  ATOMIC_SPACES(DEFINE_MODIFY, A, T, X, atomic_fetch_add, __opencl_atomic_fetch_add)             \
  ATOMIC_SPACES(DEFINE_MODIFY, A, T, X, atomic_fetch_sub, __opencl_atomic_fetch_sub)
#define DEFINE_BOUNDS(A, T)                                                                      \
  ATOMIC_SPACES(DEFINE_MODIFY, A, T, T, atomic_fetch_min, __opencl_atomic_fetch_min)             \
  ATOMIC_SPACES(DEFINE_MODIFY, A, T, T, atomic_fetch_max, __opencl_atomic_fetch_max)
#define DEFINE_INTEGER_TYPE(A, T)                                                                \
  DEFINE_ANY_TYPE(A, T)                                                                          \
  DEFINE_SUMS(A, T, T)                                                                           \
  DEFINE_BOUNDS(A, T)                                                                            \
  ATOMIC_SPACES(DEFINE_MODIFY, A, T, T, atomic_fetch_and, __opencl_atomic_fetch_and)             \
  ATOMIC_SPACES(DEFINE_MODIFY, A, T, T, atomic_fetch_or, __opencl_atomic_fetch_or)               \
  ATOMIC_SPACES(DEFINE_MODIFY, A, T, T, atomic_fetch_xor, __opencl_atomic_fetch_xor)
DEFINE_INTEGER_TYPE(atomic_int, int)
DEFINE_INTEGER_TYPE(atomic_uint, uint)
DEFINE_INTEGER_TYPE(atomic_long, long)
DEFINE_INTEGER_TYPE(atomic_ulong, ulong)
// atomic_uintptr_t counts in ptrdiff_t.
DEFINE_SUMS(atomic_ulong, ulong, long)
DEFINE_ANY_TYPE(atomic_float, float)
DEFINE_ANY_TYPE(atomic_double, double)
DEFINE_SUMS(atomic_float, float, float)
DEFINE_SUMS(atomic_double, double, double)
DEFINE_BOUNDS(atomic_float, float)
DEFINE_BOUNDS(atomic_double, double)

#define DEFINE_FLAG(space, unused)                                                               \
  OVERLOAD bool atomic_flag_test_and_set(volatile space atomic_flag* p) {                        \
    return __opencl_atomic_exchange(p, 1, STRICT, ALL) != 0;                                     \
  }                                                                                              \
  OVERLOAD bool atomic_flag_test_and_set_explicit(volatile space atomic_flag* p,                 \
                                                  memory_order order) {                          \
    return __opencl_atomic_exchange(p, 1, order, ALL) != 0;                                      \
  }                                                                                              \
  OVERLOAD bool atomic_flag_test_and_set_explicit(volatile space atomic_flag* p,                 \
                                                  memory_order order, memory_scope scope) {      \
    (void)scope;                                                                                 \
    return __opencl_atomic_exchange(p, 1, order, ALL) != 0;                                      \
  }                                                                                              \
  OVERLOAD void atomic_flag_clear(volatile space atomic_flag* p) {                               \
    __opencl_atomic_store(p, 0, STRICT, ALL);                                                    \
  }                                                                                              \
  OVERLOAD void atomic_flag_clear_explicit(volatile space atomic_flag* p, memory_order order) {  \
    __opencl_atomic_store(p, 0, order, ALL);                                                     \
  }                                                                                              \
  OVERLOAD void atomic_flag_clear_explicit(volatile space atomic_flag* p, memory_order order,    \
                                           memory_scope scope) {                                 \
    (void)scope;                                                                                 \
    __opencl_atomic_store(p, 0, order, ALL);                                                     \
  }
ATOMIC_SPACES(DEFINE_FLAG, )

OVERLOAD void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order,
                                     memory_scope scope) {
  (void)flags;
  (void)scope;
  __atomic_thread_fence(order);
}
OVERLOAD void mem_fence(cl_mem_fence_flags flags) {
  (void)flags;
  __atomic_thread_fence(memory_order_acq_rel);
}
OVERLOAD void read_mem_fence(cl_mem_fence_flags flags) {
  (void)flags;
  __atomic_thread_fence(memory_order_acquire);
}
OVERLOAD void write_mem_fence(cl_mem_fence_flags flags) {
  (void)flags;
  __atomic_thread_fence(memory_order_release);
}
