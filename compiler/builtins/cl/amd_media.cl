// cl_amd_media_ops, cl_amd_media_ops2 and cl_amd_popcnt. What the texts write as abs() of a difference
// of unsigned numbers is how far they are apart; and in amd_sad4 every component meets its like.
#include "types.def"

#define BYTE(x, i) (((x) >> (8 * i)) & 0xff)
#define APART(x, y) (max(x, y) - min(x, y))
#define BYTES_APART(x, y, i) APART(BYTE(x, i), BYTE(y, i))
#define SUM_OF_BYTES(TERM, x, y) (TERM(x, y, 0) + TERM(x, y, 1) + TERM(x, y, 2) + TERM(x, y, 3))
// Where y's byte is 0, nothing.
#define MASKED(x, y, i) select(BYTES_APART(x, y, i), BYTE(y, i), BYTE(y, i) == 0)
#define LERP(x, y, z, i) \
  (((BYTE(x, i) + BYTE(y, i) + (((z) >> (8 * i)) & 1)) >> 1) << (8 * i))

#define DEFINE_OPS(n, V, T)                                                                      \
  __attribute__((const)) uint##n llvm_fshr##n(uint##n, uint##n, uint##n) __asm("llvm.fshr." V    \
                                                                              "i32");            \
  PURE uint##n amd_bitalign(uint##n high, uint##n low, uint##n shift) {                          \
    return llvm_fshr##n(high, low, shift & 31);                                                  \
  }                                                                                              \
  PURE uint##n amd_bytealign(uint##n high, uint##n low, uint##n shift) {                         \
    return llvm_fshr##n(high, low, (shift & 3) * 8);                                             \
  }                                                                                              \
  PURE float##n amd_unpack0(uint##n x) { return CAST_##n(float, BYTE(x, 0)); }                   \
  PURE float##n amd_unpack1(uint##n x) { return CAST_##n(float, BYTE(x, 1)); }                   \
  PURE float##n amd_unpack2(uint##n x) { return CAST_##n(float, BYTE(x, 2)); }                   \
  PURE float##n amd_unpack3(uint##n x) { return CAST_##n(float, BYTE(x, 3)); }                   \
  PURE uint##n amd_lerp(uint##n x, uint##n y, uint##n z) {                                       \
    return LERP(x, y, z, 0) + LERP(x, y, z, 1) + LERP(x, y, z, 2) + LERP(x, y, z, 3);            \
  }                                                                                              \
  PURE uint##n amd_sad(uint##n x, uint##n y, uint##n sum) {                                      \
    return sum + SUM_OF_BYTES(BYTES_APART, x, y);                                                \
  }                                                                                              \
  PURE uint##n amd_sadhi(uint##n x, uint##n y, uint##n sum) {                                    \
    return sum + (SUM_OF_BYTES(BYTES_APART, x, y) << 16);                                        \
  }                                                                                              \
  PURE uint##n amd_msad(uint##n x, uint##n y, uint##n sum) {                                     \
    return sum + SUM_OF_BYTES(MASKED, x, y);                                                     \
  }                                                                                              \
  PURE uint##n amd_sadw(uint##n x, uint##n y, uint##n sum) {                                     \
    return sum + APART(x & 0xffff, y & 0xffff) + APART(x >> 16, y >> 16);                        \
  }                                                                                              \
  PURE uint##n amd_sadd(uint##n x, uint##n y, uint##n sum) { return sum + APART(x, y); }         \
  PURE uint##n amd_bfm(uint##n width, uint##n offset) {                                          \
    return (((uint##n)(1) << (width & 31)) - 1) << (offset & 31);                                \
  }
WIDTHS(DEFINE_OPS, )

PURE uint amd_pack(float4 x) {
  const uint4 bytes = convert_uint4_sat(x) & 0xff;
  return bytes.s0 | bytes.s1 << 8 | bytes.s2 << 16 | bytes.s3 << 24;
}
PURE uint amd_sad4(uint4 x, uint4 y, uint sum) {
  return amd_sad(x.s3, y.s3, amd_sad(x.s2, y.s2, amd_sad(x.s1, y.s1, amd_sad(x.s0, y.s0, sum))));
}

// Four sums of 16 bits, each of four bytes that begin one further up.
#define DEFINE_QUAD(name, each)                                                              \
  INLINE ulong each##_of_four(ulong x, uint y, ulong sums) {                                 \
    ulong result = 0;                                                                        \
    for (uint i = 0; i < 4; ++i)                                                             \
      result |= (ulong)(ushort)each((uint)(x >> (8 * i)), y, (uint)(sums >> (16 * i)) & 0xffff) \
                << (16 * i);                                                                 \
    return result;                                                                           \
  }                                                                                          \
  PURE ulong name(ulong x, uint y, ulong sums) { return each##_of_four(x, y, sums); }        \
  PURE ulong2 name(ulong2 x, uint2 y, ulong2 sums) {                                         \
    return (ulong2)(name(x.s0, y.s0, sums.s0), name(x.s1, y.s1, sums.s1));                   \
  }                                                                                          \
  PURE ulong3 name(ulong3 x, uint3 y, ulong3 sums) {                                         \
    return (ulong3)(name(x.s01, y.s01, sums.s01), name(x.s2, y.s2, sums.s2));                \
  }                                                                                          \
  PURE ulong4 name(ulong4 x, uint4 y, ulong4 sums) {                                         \
    return (ulong4)(name(x.lo, y.lo, sums.lo), name(x.hi, y.hi, sums.hi));                   \
  }                                                                                          \
  PURE ulong8 name(ulong8 x, uint8 y, ulong8 sums) {                                         \
    return (ulong8)(name(x.lo, y.lo, sums.lo), name(x.hi, y.hi, sums.hi));                   \
  }                                                                                          \
  PURE ulong16 name(ulong16 x, uint16 y, ulong16 sums) {                                     \
    return (ulong16)(name(x.lo, y.lo, sums.lo), name(x.hi, y.hi, sums.hi));                  \
  }
DEFINE_QUAD(amd_qsad, amd_sad)
DEFINE_QUAD(amd_mqsad, amd_msad)

// A field that would run over the top is all that is above its offset.
#define DEFINE_FIELD(n, V, T)                                                                \
  PURE T##n amd_bfe(T##n x, uint##n from, uint##n bits) {                                    \
    const uint##n offset = from & 31, width = bits & 31;                                     \
    const uint##n up = select(32 - offset - width, (uint##n)(0), offset + width >= 32);      \
    const T##n inside = (x << (up & 31)) >> ((32 - width) & 31);                             \
    const T##n outside = x >> offset;                                                        \
    const T##n field = select(inside, outside, offset + width >= 32);                        \
    return select(field, (T##n)(0), width == 0);                                             \
  }
WIDTHS(DEFINE_FIELD, int)
WIDTHS(DEFINE_FIELD, uint)

#define DEFINE_OF_THREE(n, V, T, least, most)                                                \
  PURE T##n amd_min3(T##n x, T##n y, T##n z) { return least(least(x, y), z); }               \
  PURE T##n amd_max3(T##n x, T##n y, T##n z) { return most(most(x, y), z); }                 \
  PURE T##n amd_median3(T##n x, T##n y, T##n z) {                                            \
    return most(least(x, y), least(most(x, y), z));                                          \
  }
WIDTHS(DEFINE_OF_THREE, int, min, max)
WIDTHS(DEFINE_OF_THREE, uint, min, max)
WIDTHS(DEFINE_OF_THREE, float, fmin, fmax)

#define DEFINE_COUNT(n, V, T, U, I, B) \
  PURE T##n popcnt(T##n x) { return popcount(x); }
INTEGER_TYPES(WIDTHS, DEFINE_COUNT)
