// OpenCL C 6.15.3, integer functions.
#include "types.def"

#define DEFINE_ABS_SIGNED(n, V, T, U, I, B)                                \
  __attribute__((const)) T##n llvm_abs_##T##n(T##n, bool) __asm("llvm.abs." V "i" #B); \
  PURE U##n abs(T##n x) { return AS(U##n, llvm_abs_##T##n(x, false)); }
#define DEFINE_ABS_UNSIGNED(n, V, T, U, I, B) \
  PURE U##n abs(T##n x) { return x; }
SIGNED_TYPES(WIDTHS, DEFINE_ABS_SIGNED)
UNSIGNED_TYPES(WIDTHS, DEFINE_ABS_UNSIGNED)

#define DEFINE_BITS(n, V, T, U, I, B)                                            \
  __attribute__((const)) T##n llvm_ctlz_##T##n(T##n, bool) __asm("llvm.ctlz." V "i" #B); \
  __attribute__((const)) T##n llvm_cttz_##T##n(T##n, bool) __asm("llvm.cttz." V "i" #B); \
  __attribute__((const)) T##n llvm_ctpop_##T##n(T##n) __asm("llvm.ctpop." V "i" #B);    \
  __attribute__((const)) T##n llvm_fshl_##T##n(T##n, T##n, T##n) __asm("llvm.fshl." V "i" #B); \
  PURE T##n clz(T##n x) { return llvm_ctlz_##T##n(x, false); }                   \
  PURE T##n ctz(T##n x) { return llvm_cttz_##T##n(x, false); }                   \
  PURE T##n popcount(T##n x) { return llvm_ctpop_##T##n(x); }                    \
  PURE T##n rotate(T##n x, T##n y) { return llvm_fshl_##T##n(x, x, y); }
INTEGER_TYPES(WIDTHS, DEFINE_BITS)

#define DEFINE_SATURATED(n, V, T, U, I, B, s)                                          \
  __attribute__((const)) T##n llvm_add_sat_##T##n(T##n, T##n) __asm("llvm." s "add.sat." V "i" #B); \
  __attribute__((const)) T##n llvm_sub_sat_##T##n(T##n, T##n) __asm("llvm." s "sub.sat." V "i" #B); \
  PURE T##n add_sat(T##n x, T##n y) { return llvm_add_sat_##T##n(x, y); }             \
  PURE T##n sub_sat(T##n x, T##n y) { return llvm_sub_sat_##T##n(x, y); }
#define DEFINE_SATURATED_SIGNED(n, V, T, U, I, B) DEFINE_SATURATED(n, V, T, U, I, B, "s")
#define DEFINE_SATURATED_UNSIGNED(n, V, T, U, I, B) DEFINE_SATURATED(n, V, T, U, I, B, "u")
SIGNED_TYPES(WIDTHS, DEFINE_SATURATED_SIGNED)
UNSIGNED_TYPES(WIDTHS, DEFINE_SATURATED_UNSIGNED)

// The average forms never form the sum, which could overflow.
#define DEFINE_COMPARED(n, V, T, U, I, B)                                                       \
  PURE T##n max(T##n x, T##n y) { return x > y ? x : y; }                                       \
  PURE T##n min(T##n x, T##n y) { return x < y ? x : y; }                                       \
  PURE T##n clamp(T##n x, T##n low, T##n high) { return min(max(x, low), high); }               \
  PURE U##n abs_diff(T##n x, T##n y) { return AS(U##n, max(x, y)) - AS(U##n, min(x, y)); }      \
  PURE T##n hadd(T##n x, T##n y) { return (x & y) + ((x ^ y) >> (T##n)1); }                     \
  PURE T##n rhadd(T##n x, T##n y) { return (x | y) - ((x ^ y) >> (T##n)1); }
INTEGER_TYPES(WIDTHS, DEFINE_COMPARED)

#define DEFINE_COMPARED_TO_SCALAR(n, V, T, U, I, B)                \
  PURE T##n max(T##n x, T y) { return max(x, (T##n)(y)); }         \
  PURE T##n min(T##n x, T y) { return min(x, (T##n)(y)); }         \
  PURE T##n clamp(T##n x, T low, T high) { return clamp(x, (T##n)(low), (T##n)(high)); }
INTEGER_TYPES(VECTOR_WIDTHS, DEFINE_COMPARED_TO_SCALAR)

// Narrow types multiply in the next wider one (W).
#define DEFINE_WIDENED(n, V, T, U, I, B, W, LOW, HIGH)                                           \
  PURE T##n mul_hi(T##n x, T##n y) {                                                             \
    const W##n product = __builtin_convertvector(x, W##n) * __builtin_convertvector(y, W##n);    \
    return __builtin_convertvector(product >> (W##n)(B), T##n);                                  \
  }                                                                                              \
  PURE T##n mad_sat(T##n x, T##n y, T##n z) {                                                    \
    const W##n sum = __builtin_convertvector(x, W##n) * __builtin_convertvector(y, W##n) +       \
                     __builtin_convertvector(z, W##n);                                           \
    return __builtin_convertvector(clamp(sum, (W##n)(LOW), (W##n)(HIGH)), T##n);                 \
  }
#define DEFINE_WIDENED_SCALAR(T, W, B, LOW, HIGH)                                                \
  PURE T mul_hi(T x, T y) { return (T)(((W)x * (W)y) >> B); }                                    \
  PURE T mad_sat(T x, T y, T z) { return (T)clamp((W)((W)x * (W)y + (W)z), (W)LOW, (W)HIGH); }
#define DEFINE_WIDENED_ALL(T, W, B, LOW, HIGH)                     \
  DEFINE_WIDENED_SCALAR(T, W, B, LOW, HIGH)                        \
  VECTOR_WIDTHS(DEFINE_WIDENED, T, , , B, W, LOW, HIGH)
DEFINE_WIDENED_ALL(char, int, 8, CHAR_MIN, CHAR_MAX)
DEFINE_WIDENED_ALL(uchar, uint, 8, 0, UCHAR_MAX)
DEFINE_WIDENED_ALL(short, int, 16, SHRT_MIN, SHRT_MAX)
// 0xffff * 0xffff + 0xffff still fits 32 unsigned bits.
DEFINE_WIDENED_ALL(ushort, uint, 16, 0, USHRT_MAX)
DEFINE_WIDENED_ALL(int, long, 32, INT_MIN, INT_MAX)
DEFINE_WIDENED_ALL(uint, ulong, 32, 0, UINT_MAX)

// wide.ll: the upper halves of 128-bit products.
__attribute__((const)) long __weft_mul_hi_i64(long, long);
__attribute__((const)) ulong __weft_mul_hi_u64(ulong, ulong);

#define DEFINE_MUL_HI_64(n, V, T, SYMBOL) \
  PURE T##n mul_hi(T##n x, T##n y) { return MAP2(n, T, SYMBOL, x, y); }
WIDTHS(DEFINE_MUL_HI_64, long, __weft_mul_hi_i64)
WIDTHS(DEFINE_MUL_HI_64, ulong, __weft_mul_hi_u64)

// Exact 128-bit sum, then a check whether its upper half is only the sign of the lower.
#define DEFINE_MAD_SAT_64(n, V, unused)                                                      \
  PURE long##n mad_sat(long##n x, long##n y, long##n z) {                                    \
    const ulong##n product = AS(ulong##n, x) * AS(ulong##n, y);                              \
    const ulong##n low = product + AS(ulong##n, z);                                          \
    const long##n carry = low < product ? (long##n)1 : (long##n)0;                           \
    const ulong##n high = AS(ulong##n, mul_hi(x, y)) + AS(ulong##n, z >> (long##n)63) + AS(ulong##n, carry); \
    const long##n signed_high = AS(long##n, high);                                           \
    const long##n bound = signed_high < 0 ? (long##n)LONG_MIN : (long##n)LONG_MAX;           \
    return signed_high == (AS(long##n, low) >> (long##n)63) ? AS(long##n, low) : bound;      \
  }                                                                                          \
  PURE ulong##n mad_sat(ulong##n x, ulong##n y, ulong##n z) {                                \
    const ulong##n product = x * y;                                                          \
    const ulong##n low = product + z;                                                        \
    const ulong##n overflow = mul_hi(x, y) | (low < product ? (ulong##n)1 : (ulong##n)0);    \
    return overflow == (ulong##n)0 ? low : (ulong##n)ULONG_MAX;                              \
  }
WIDTHS(DEFINE_MAD_SAT_64, )

// The sum wraps.
#define DEFINE_MAD_HI(n, V, T, U, I, B)                         \
  PURE T##n mad_hi(T##n x, T##n y, T##n z) {                    \
    return AS(T##n, (U##n)(AS(U##n, mul_hi(x, y)) + AS(U##n, z))); \
  }
INTEGER_TYPES(WIDTHS, DEFINE_MAD_HI)

#define DEFINE_UPSAMPLE(n, V, T, W, B)                                                           \
  PURE W##n upsample(T##n high, u##T##n low) {                                                   \
    return AS(W##n, upsample(AS(u##T##n, high), low));                                           \
  }
#define DEFINE_UPSAMPLE_UNSIGNED(n, V, T, W, B)                                                  \
  PURE W##n upsample(T##n high, T##n low) {                                                      \
    return (__builtin_convertvector(high, W##n) << (W##n)(B)) | __builtin_convertvector(low, W##n); \
  }
#define DEFINE_UPSAMPLE_SCALAR(T, W, B) \
  PURE W upsample(T high, T low) { return (W)((W)((W)high << B) | (W)low); }
DEFINE_UPSAMPLE_SCALAR(uchar, ushort, 8)
DEFINE_UPSAMPLE_SCALAR(ushort, uint, 16)
DEFINE_UPSAMPLE_SCALAR(uint, ulong, 32)
VECTOR_WIDTHS(DEFINE_UPSAMPLE_UNSIGNED, uchar, ushort, 8)
VECTOR_WIDTHS(DEFINE_UPSAMPLE_UNSIGNED, ushort, uint, 16)
VECTOR_WIDTHS(DEFINE_UPSAMPLE_UNSIGNED, uint, ulong, 32)
WIDTHS(DEFINE_UPSAMPLE, char, short, 8)
WIDTHS(DEFINE_UPSAMPLE, short, int, 16)
WIDTHS(DEFINE_UPSAMPLE, int, long, 32)

// Outside 24-bit operands the result is implementation-defined: the low 32 bits serve.
#define DEFINE_24_BIT(n, V, T)                                              \
  PURE T##n mul24(T##n x, T##n y) {                                         \
    return AS(T##n, AS(uint##n, x) * AS(uint##n, y));                       \
  }                                                                         \
  PURE T##n mad24(T##n x, T##n y, T##n z) {                                 \
    return AS(T##n, AS(uint##n, x) * AS(uint##n, y) + AS(uint##n, z));      \
  }
WIDTHS(DEFINE_24_BIT, int)
WIDTHS(DEFINE_24_BIT, uint)
