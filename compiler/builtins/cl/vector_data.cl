// OpenCL C 6.15.7, vector data load and store. Pointers need only the alignment of an element.
#include "types.def"

#define ELEMENT_TYPES(F)                                                             \
  F(char) F(uchar) F(short) F(ushort) F(int) F(uint) F(long) F(ulong) F(float) F(double)

// A three-element vector in memory would be read as four: it is taken apart instead.
#define DECLARE_UNALIGNED(T)                                              \
  typedef T##2 __attribute__((aligned(sizeof(T)))) unaligned_##T##2;      \
  typedef T##4 __attribute__((aligned(sizeof(T)))) unaligned_##T##4;      \
  typedef T##8 __attribute__((aligned(sizeof(T)))) unaligned_##T##8;      \
  typedef T##16 __attribute__((aligned(sizeof(T)))) unaligned_##T##16;
ELEMENT_TYPES(DECLARE_UNALIGNED)

#define DEFINE_LOAD(space, T, n)                                     \
  OVERLOAD T##n vload##n(size_t offset, const space T* p) {          \
    return *(const space unaligned_##T##n*)(p + offset * n);         \
  }
#define DEFINE_LOAD3(space, T)                                       \
  OVERLOAD T##3 vload3(size_t offset, const space T* p) {            \
    p += offset * 3;                                                 \
    return (T##3)(p[0], p[1], p[2]);                                 \
  }
#define DEFINE_STORE(space, T, n)                                    \
  OVERLOAD void vstore##n(T##n x, size_t offset, space T* p) {       \
    *(space unaligned_##T##n*)(p + offset * n) = x;                  \
  }
#define DEFINE_STORE3(space, T)                                      \
  OVERLOAD void vstore3(T##3 x, size_t offset, space T* p) {         \
    p += offset * 3;                                                 \
    p[0] = x.s0;                                                     \
    p[1] = x.s1;                                                     \
    p[2] = x.s2;                                                     \
  }
#define DEFINE_LOADS_OF(T)                \
  LOADABLE_SPACES(DEFINE_LOAD, T, 2)      \
  LOADABLE_SPACES(DEFINE_LOAD, T, 4)      \
  LOADABLE_SPACES(DEFINE_LOAD, T, 8)      \
  LOADABLE_SPACES(DEFINE_LOAD, T, 16)     \
  LOADABLE_SPACES(DEFINE_LOAD3, T)
#define DEFINE_STORES_OF(T)               \
  STORABLE_SPACES(DEFINE_STORE, T, 2)     \
  STORABLE_SPACES(DEFINE_STORE, T, 4)     \
  STORABLE_SPACES(DEFINE_STORE, T, 8)     \
  STORABLE_SPACES(DEFINE_STORE, T, 16)    \
  STORABLE_SPACES(DEFINE_STORE3, T)
ELEMENT_TYPES(DEFINE_LOADS_OF)
ELEMENT_TYPES(DEFINE_STORES_OF)
