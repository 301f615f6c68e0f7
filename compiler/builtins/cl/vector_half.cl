// OpenCL C 6.15.7, vload_half and vstore_half: half precision as a storage format.
#include "half_rounding.def"

// `stride` is the distance of vectors in elements: 4 for the aligned three-element forms.
#define LOAD_(p) as_half(*(p))
#define LOAD_3(p) as_half3((ushort3)((p)[0], (p)[1], (p)[2]))
#define LOAD_2(p) as_half2((ushort2)((p)[0], (p)[1]))
#define LOAD_4(p) as_half4((ushort4)((p)[0], (p)[1], (p)[2], (p)[3]))
#define LOAD_8(p) (half8)(LOAD_4(p), LOAD_4((p) + 4))
#define LOAD_16(p) (half16)(LOAD_8(p), LOAD_8((p) + 8))
#define DEFINE_LOAD(space, n, name, stride)                               \
  OVERLOAD float##n name(size_t offset, const space half* p) {            \
    const space ushort* q = (const space ushort*)p + offset * stride;     \
    return CAST_##n(float, LOAD_##n(q));                                  \
  }

#define STORE_(q, x) *(q) = (x)
#define STORE_2(q, x) (q)[0] = (x).s0, (q)[1] = (x).s1
#define STORE_3(q, x) STORE_2(q, x), (q)[2] = (x).s2
#define STORE_4(q, x) STORE_3(q, x), (q)[3] = (x).s3
#define STORE_8(q, x) STORE_4(q, (x).lo), STORE_4((q) + 4, (x).hi)
#define STORE_16(q, x) STORE_8(q, (x).lo), STORE_8((q) + 8, (x).hi)
#define DEFINE_STORE(space, n, name, stride, S, rounding)                 \
  OVERLOAD void name(S##n x, size_t offset, space half* p) {              \
    space ushort* q = (space ushort*)p + offset * stride;                 \
    const ushort##n bits = MAP1(n, ushort, bits_##S##rounding, x);        \
    STORE_##n(q, bits);                                                   \
  }
#define DEFINE_STORES(n, name, stride, rounding)                                    \
  STORABLE_SPACES(DEFINE_STORE, n, name##rounding, stride, float, rounding)         \
  STORABLE_SPACES(DEFINE_STORE, n, name##rounding, stride, double, rounding)
#define DEFINE_FORMS(n, load, store, stride)   \
  LOADABLE_SPACES(DEFINE_LOAD, n, load, stride) \
  DEFINE_STORES(n, store, stride, )            \
  DEFINE_STORES(n, store, stride, _rte)        \
  DEFINE_STORES(n, store, stride, _rtz)        \
  DEFINE_STORES(n, store, stride, _rtp)        \
  DEFINE_STORES(n, store, stride, _rtn)
DEFINE_FORMS(, vload_half, vstore_half, 1)
DEFINE_FORMS(2, vload_half2, vstore_half2, 2)
DEFINE_FORMS(3, vload_half3, vstore_half3, 3)
DEFINE_FORMS(4, vload_half4, vstore_half4, 4)
DEFINE_FORMS(8, vload_half8, vstore_half8, 8)
DEFINE_FORMS(16, vload_half16, vstore_half16, 16)
DEFINE_FORMS(, vloada_half, vstorea_half, 1)
DEFINE_FORMS(2, vloada_half2, vstorea_half2, 2)
DEFINE_FORMS(3, vloada_half3, vstorea_half3, 4)
DEFINE_FORMS(4, vloada_half4, vstorea_half4, 4)
DEFINE_FORMS(8, vloada_half8, vstorea_half8, 8)
DEFINE_FORMS(16, vloada_half16, vstorea_half16, 16)
