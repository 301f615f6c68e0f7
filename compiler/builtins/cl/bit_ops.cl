// cl_khr_extended_bit_ops. Offset and count that do not fit the type leave the result undefined;
// a count of 0 does not.
#include "types.def"

#define DEFINE_BIT_OPS(n, V, T, U, I, B)                                                         \
  __attribute__((const)) T##n llvm_bitreverse_##T##n(T##n) __asm("llvm.bitreverse." V "i" #B);   \
  PURE T##n bit_reverse(T##n x) { return llvm_bitreverse_##T##n(x); }                            \
  PURE T##n bitfield_insert(T##n base, T##n insert, uint offset, uint count) {                   \
    const U all = (U)~(U)0;                                                                      \
    const U low = count == 0 ? (U)0 : (U)(all >> (B - count));                                   \
    const U##n mask = (U##n)((U)(low << offset));                                                \
    const U##n moved = (U##n)(AS(U##n, insert) << (U##n)((U)offset));                            \
    return AS(T##n, (U##n)((AS(U##n, base) & ~mask) | (moved & mask)));                          \
  }                                                                                              \
  PURE I##n bitfield_extract_signed(T##n base, uint offset, uint count) {                        \
    const U##n top = (U##n)(AS(U##n, base) << (U##n)((U)(B - offset - count)));                  \
    return count == 0 ? (I##n)((I)0) : (I##n)(AS(I##n, top) >> (I##n)((I)(B - count)));          \
  }                                                                                              \
  PURE U##n bitfield_extract_unsigned(T##n base, uint offset, uint count) {                      \
    const U##n top = (U##n)(AS(U##n, base) << (U##n)((U)(B - offset - count)));                  \
    return count == 0 ? (U##n)((U)0) : (U##n)(top >> (U##n)((U)(B - count)));                    \
  }
INTEGER_TYPES(WIDTHS, DEFINE_BIT_OPS)
