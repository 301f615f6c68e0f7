// Relational and geometric functions, shuffles, half storage: fixed shapes over arrays.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#include "arrays.def"

// Vectors of float against the scalar's 1: -1.
#define RELATIONAL2(f)                                                                       \
  void run_##f(global int* r, global int4* r4, global long2* r2, const global float* x,      \
               const global float* y, ulong count) {                                         \
    for (ulong i = 0; i < count / 4; ++i) {                                                  \
      float4 a = vload4(i, x), b = vload4(i, y);                                             \
      for (int k = 0; k < 4; ++k) r[4 * i + k] = f(a[k], b[k]);                              \
      r4[i] = f(a, b);                                                                       \
      r2[i] = f(convert_double2(a.lo), convert_double2(b.lo));                               \
    }                                                                                        \
  }
RELATIONAL2(isequal)
RELATIONAL2(isnotequal)
RELATIONAL2(isgreater)
RELATIONAL2(isgreaterequal)
RELATIONAL2(isless)
RELATIONAL2(islessequal)
RELATIONAL2(islessgreater)
RELATIONAL2(isordered)
RELATIONAL2(isunordered)
#define RELATIONAL1(f)                                                                       \
  void run_##f(global int* r, global int4* r4, global long2* r2, const global float* x,      \
               ulong count) {                                                                \
    for (ulong i = 0; i < count / 4; ++i) {                                                  \
      float4 a = vload4(i, x);                                                               \
      for (int k = 0; k < 4; ++k) r[4 * i + k] = f(a[k]);                                    \
      r4[i] = f(a);                                                                          \
      r2[i] = f(convert_double2(a.lo));                                                      \
    }                                                                                        \
  }
RELATIONAL1(isfinite)
RELATIONAL1(isinf)
RELATIONAL1(isnan)
RELATIONAL1(isnormal)
RELATIONAL1(signbit)

void selections(global int* r) {
  int4 negative = (int4)(-1, 0, INT_MIN, 1);
  *r++ = any(negative);
  *r++ = all(negative);
  *r++ = any((int4)(1, 2, 3, 4));
  *r++ = all((char3)(-1, -2, -3));
  *r++ = any((long)-1);
  *r++ = all((short)5);
  int4 s = select((int4)(1, 2, 3, 4), (int4)(5, 6, 7, 8), negative);
  vstore4(s, 0, r);
  r += 4;
  *r++ = select(10, 20, 1);
  *r++ = select(10, 20, 0);
  *r++ = select((uchar)10, (uchar)20, (char)4);
  *r++ = as_int(bitselect(1.0f, -2.0f, as_float(0x80000000)));
  *r++ = bitselect(0x0f0f, 0x3333, 0xff00);
  *r++ = bitselect((char)0x0f, (char)0x33, (char)0xf0);
}

#define GEOMETRIC(T, n)                                                                      \
  void geometric_##T##n(global T* r, const global T* x, const global T* y, ulong count) {    \
    for (ulong i = 0; i < count; ++i) {                                                      \
      T##n a = GET(n, x, i), b = GET(n, y, i);                                               \
      r[8 * i] = dot(a, b);                                                                  \
      r[8 * i + 1] = length(a);                                                              \
      r[8 * i + 2] = distance(a, b);                                                         \
      T##n u = normalize(a);                                                                 \
      PUT(n, u, 0, r + 8 * i + 3);                                                           \
    }                                                                                        \
  }
GEOMETRIC(float, )
GEOMETRIC(float, 2)
GEOMETRIC(float, 3)
GEOMETRIC(float, 4)
GEOMETRIC(double, )
GEOMETRIC(double, 2)
GEOMETRIC(double, 3)
GEOMETRIC(double, 4)
void crosses(global double* r) {
  vstore3(cross((double3)(1, 2, 3), (double3)(-4, 5, 6)), 0, r);
  vstore4(convert_double4(cross((float4)(1, 2, 3, 4), (float4)(-4, 5, 6, 7))), 0, r + 3);
  r[7] = fast_length((float2)(3, 4));
  r[8] = fast_distance((float2)(3, 4), (float2)(0, 0));
  r[9] = fast_normalize((float2)(3, 4)).y;
}

void shuffles(global uint* r, uint16 x) {
  vstore4(shuffle(x, (uint4)(15, 16, 3, 35)), 0, r);
  vstore8(shuffle2(x.lo, x.hi, (uint8)(0, 15, 8, 7, 16, 31, 9, 1)), 0, r + 4);
  ushort2 narrow = shuffle2(convert_ushort2(x.s01), convert_ushort2(x.s23), (ushort2)(3, 0));
  vstore2(convert_uint2(narrow), 0, r + 12);
}

#define HALF_STORES(S, mode)                                                                 \
  void half_##S##mode(global half* r, global half* r3, global half* r8, global half* a3,     \
                      const global S* x, ulong count) {                                      \
    for (ulong i = 0; i < count; ++i) vstore_half##mode(x[i], i, r);                         \
    for (ulong i = 0; i < count / 3; ++i) vstore_half3##mode(vload3(i, x), i, r3);           \
    for (ulong i = 0; i < count / 8; ++i) vstore_half8##mode(vload8(i, x), i, r8);           \
    for (ulong i = 0; i < count / 3; ++i) vstorea_half3##mode(vload3(i, x), i, a3);          \
  }
HALF_STORES(float, )
HALF_STORES(float, _rte)
HALF_STORES(float, _rtz)
HALF_STORES(float, _rtp)
HALF_STORES(float, _rtn)
HALF_STORES(double, )
HALF_STORES(double, _rte)
HALF_STORES(double, _rtz)
HALF_STORES(double, _rtp)
HALF_STORES(double, _rtn)
void half_loads(global float* r, global float* r3, global float* a16, const global half* x,
                ulong count) {
  for (ulong i = 0; i < count; ++i) r[i] = vload_half(i, x);
  for (ulong i = 0; i < count / 3; ++i) vstore3(vload_half3(i, x), i, r3);
  for (ulong i = 0; i < count / 16; ++i) vstore16(vloada_half16(i, x), i, a16);
}
void all_shuffles(global uint* r) {
  shuffles(r, (uint16)(100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115));
}
