// OpenCL C 6.15.12.8, the atomics of OpenCL 1.x: relaxed read-modify-write operations, under their
// core names and those of the cl_khr_*_atomics extensions.
#include "types.def"

#define SPACES(F, ...) F(__global, __VA_ARGS__) F(__local, __VA_ARGS__) F(__generic, __VA_ARGS__)

#define RMW(space, p, T, op, x)                                                          \
  __opencl_atomic_##op((volatile space atomic_##T*)(p), x, memory_order_relaxed,         \
                       memory_scope_device)
#define DEFINE_BASE(space, prefix, T)                                                             \
  OVERLOAD T prefix##_add(volatile space T* p, T x) { return RMW(space, p, T, fetch_add, x); }    \
  OVERLOAD T prefix##_sub(volatile space T* p, T x) { return RMW(space, p, T, fetch_sub, x); }    \
  OVERLOAD T prefix##_xchg(volatile space T* p, T x) { return RMW(space, p, T, exchange, x); }    \
  OVERLOAD T prefix##_inc(volatile space T* p) { return RMW(space, p, T, fetch_add, (T)1); }      \
  OVERLOAD T prefix##_dec(volatile space T* p) { return RMW(space, p, T, fetch_sub, (T)1); }      \
  OVERLOAD T prefix##_cmpxchg(volatile space T* p, T expected, T x) {                             \
    __opencl_atomic_compare_exchange_strong((volatile space atomic_##T*)p, &expected, x,          \
                                            memory_order_relaxed, memory_order_relaxed,           \
                                            memory_scope_device);                                 \
    return expected;                                                                              \
  }
#define DEFINE_EXTENDED(space, prefix, T)                                                         \
  OVERLOAD T prefix##_min(volatile space T* p, T x) { return RMW(space, p, T, fetch_min, x); }    \
  OVERLOAD T prefix##_max(volatile space T* p, T x) { return RMW(space, p, T, fetch_max, x); }    \
  OVERLOAD T prefix##_and(volatile space T* p, T x) { return RMW(space, p, T, fetch_and, x); }    \
  OVERLOAD T prefix##_or(volatile space T* p, T x) { return RMW(space, p, T, fetch_or, x); }      \
  OVERLOAD T prefix##_xor(volatile space T* p, T x) { return RMW(space, p, T, fetch_xor, x); }
#define DEFINE_ALL(prefix, T)               \
  SPACES(DEFINE_BASE, prefix, T)            \
  SPACES(DEFINE_EXTENDED, prefix, T)
DEFINE_ALL(atomic, int)
DEFINE_ALL(atomic, uint)
DEFINE_ALL(atom, int)
DEFINE_ALL(atom, uint)
DEFINE_ALL(atom, long)
DEFINE_ALL(atom, ulong)

#define DEFINE_XCHG_FLOAT(space, prefix)                                              \
  OVERLOAD float prefix##_xchg(volatile space float* p, float x) {                    \
    return RMW(space, p, float, exchange, x);                                         \
  }
SPACES(DEFINE_XCHG_FLOAT, atomic)
SPACES(DEFINE_XCHG_FLOAT, atom)
