// Functions of float, and some of double, that targets with fused multiply-add take from here
// rather than from SLEEF, in place of every __weft_sleef_<function>_<accuracy>_<type>, and the same
// in every width:
// - __weft_inline_<function>_<type>, in straight lines, which vectors of lanes make their own;
// - __weft_late_<function>_<type>, with a branch for rare arguments: these stay calls, of a vector's
//   form where lanes become vectors, until all else is optimised, and are inlined then.
// exp errs by at most 1.01 ULP, log by 1.00 (the specification allows 3), sin and cos by 1.9 (4), of
// one number together by 2.0. Of double sin and cos err by at most 1.8 ULP, together by 2.4, and tan
// by 3.2 (5).
#include "sleef.def"
#include "parts.def"

#define FMA(x, y, z) __builtin_elementwise_fma(x, y, z)
#define INLINED __attribute__((const, always_inline))

// Adding it leaves a number's nearest integer in the lowest bits.
#define ROUNDER 0x1.8p23f
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f

VECTOR_WIDTHS(DEFINE_NUMBER_PARTS, float, uint, int, 32)

// Of one number they are calls (own_parts.cl) until vectors are made.
float __weft_part_bounded_float(float x, float least, float most);
float __weft_part_vanishing_float(float x, float least, float y);
float __weft_part_scaled_float(float x, float n, int number);
float __weft_part_mantissa_float(float x);
float __weft_part_exponent_float(float x, float mantissa);
INLINE OVERLOAD float bounded_by(float x, float least, float most) {
  return __weft_part_bounded_float(x, least, most);
}
INLINE OVERLOAD float zero_where_below(float x, float least, float y) {
  return __weft_part_vanishing_float(x, least, y);
}
INLINE OVERLOAD float scaled_by(float x, float n, int number) {
  return __weft_part_scaled_float(x, n, number);
}
INLINE OVERLOAD float mantissa_of(float x) { return __weft_part_mantissa_float(x); }
INLINE OVERLOAD float exponent_of(float x, float m) { return __weft_part_exponent_float(x, m); }

// x = n ln(2) + r and e^x = 2^n e^r with a polynomial for e^r.
#define DEFINE_EXP(n, V, unused)                                                     \
  INLINED float##n __weft_inline_exp_float##n(float##n power) {                      \
    const float##n least = (float##n)(-104.0f);                                      \
    const float##n x = bounded_by(power, least, (float##n)(89.0f));                  \
    const float##n turned = FMA(x, (float##n)(0x1.715476p+0f), (float##n)(ROUNDER)); \
    const float##n whole = turned - (float##n)(ROUNDER);                             \
    const int##n number = AS(int##n, turned) - AS(int##n, (float##n)(ROUNDER));      \
    float##n r = FMA(whole, (float##n)(-LN2_HIGH), x);                               \
    r = FMA(whole, (float##n)(-LN2_LOW), r);                                         \
    float##n p = FMA((float##n)(1.9875691500e-4f), r, (float##n)(1.3981999507e-3f)); \
    p = FMA(p, r, (float##n)(8.3334519073e-3f));                                     \
    p = FMA(p, r, (float##n)(4.1665795894e-2f));                                     \
    p = FMA(p, r, (float##n)(1.6666665459e-1f));                                     \
    p = FMA(p, r, (float##n)(5.0000001201e-1f));                                     \
    const float##n fraction = FMA(p, r * r, r) + (float##n)(1.0f);                   \
    return zero_where_below(power, least, scaled_by(fraction, whole, number));       \
  }
WIDTHS(DEFINE_EXP, )

// x = 2^e m, and a polynomial for log(m) around 1, its odd and its even powers by themselves. The
// parts of ln(2) have one sign, so that an infinite e stays so.
#define DEFINE_LOG(n, V, unused)                                                      \
  INLINED float##n __weft_inline_log_float##n(float##n x) {                           \
    const float##n m = mantissa_of(x), e = exponent_of(x, m);                         \
    const float##n f = m - (float##n)(1.0f), square = f * f;                          \
    float##n odd = FMA((float##n)(-4.50747834693e-2f), square, (float##n)(-1.31611920106e-1f)); \
    float##n even = FMA((float##n)(1.04630191885e-1f), square, (float##n)(1.44783949314e-1f));  \
    odd = FMA(odd, square, (float##n)(-1.66473123338e-1f));                           \
    even = FMA(even, square, (float##n)(1.99908612547e-1f));                          \
    odd = FMA(odd, square, (float##n)(-2.50000958381e-1f));                           \
    even = FMA(even, square, (float##n)(3.3333449112e-1f));                           \
    const float##n p = FMA(odd, f, even);                                             \
    float##n y = FMA(e, (float##n)(LN2_LOW), p * f * square);                         \
    y = f + FMA(square, (float##n)(-0.5f), y);                                        \
    return FMA(e, (float##n)(LN2_HIGH), y);                                           \
  }
WIDTHS(DEFINE_LOG, )

#define LATE __attribute__((const))

#define ANY_(x) (x)
#define ANY_2(x) __builtin_reduce_or(x)
#define ANY_3(x) __builtin_reduce_or(x)
#define ANY_4(x) __builtin_reduce_or(x)
#define ANY_8(x) __builtin_reduce_or(x)
#define ANY_16(x) __builtin_reduce_or(x)

// pi in three parts of 24 bits, all of one sign so that a negative zero stays one.
#define PI_1 0x1.921fb4p+1f
#define PI_2 0x1.4442dp-23f
#define PI_3 0x1.846988p-47f
#define SIGN_BIT 0x80000000u
// Up to here a product with pi's parts is exact as far as it counts.
#define LARGEST_REDUCED 0x1p17f

#define DEFINE_REDUCED(n, V, unused)                                                 \
  INLINE OVERLOAD float##n without_pi(float##n x, float##n times) {                           \
    float##n r = FMA(times, (float##n)(-PI_1), x);                                   \
    r = FMA(times, (float##n)(-PI_2), r);                                            \
    return FMA(times, (float##n)(-PI_3), r);                                         \
  }                                                                                  \
  /* For |r| <= pi/2; 1 at pi/2, so that cos(0) is, and never beyond. */                      \
  INLINE OVERLOAD float##n sine_of(float##n r) {                                              \
    const float##n square = r * r;                                                   \
    float##n p = FMA(square, (float##n)(0x1.5d40f6p-19f), (float##n)(-0x1.9f6fe8p-13f)); \
    p = FMA(p, square, (float##n)(0x1.110f1ap-7f));                                  \
    p = FMA(p, square, (float##n)(-0x1.55555p-3f));                                 \
    return FMA(square, p * r, r);                                                    \
  }
WIDTHS(DEFINE_REDUCED, )

// y, but what SLEEF says of arguments beyond the largest one.
#define RETURN_REDUCED(n, T, mask, largest, function, x, y)   \
  const mask##n large = ABS(x) > (T##n)(largest);             \
  if (__builtin_expect(ANY_##n(large) == 0, 1)) return y;     \
  return large ? __weft_sleef_##function##_u35_##T##n(x) : y;

// x = n pi + r, and the sine is that of r with the sign of r and of n's parity; or it is
// x = (n + 1/2) pi + r, and the cosine is -sin(r) with n's parity.
#define DEFINE_SIN_COS(n, V, unused)                                                              \
  LATE float##n __weft_late_sin_float##n(float##n x) {                                            \
    const float##n turned = FMA(x, (float##n)(0x1.45f306p-2f), (float##n)(ROUNDER));              \
    const float##n r = without_pi(x, turned - (float##n)(ROUNDER));                               \
    const uint##n sign = AS(uint##n, r) ^ (AS(uint##n, turned) << 31);                            \
    const uint##n size = AS(uint##n, sine_of(r)) & (uint##n)(~SIGN_BIT);                          \
    const float##n y = AS(float##n, size | (sign & (uint##n)(SIGN_BIT)));                         \
    RETURN_REDUCED(n, float, int, LARGEST_REDUCED, sin, x, y)                                     \
  }                                                                                               \
  LATE float##n __weft_late_cos_float##n(float##n x) {                                            \
    const float##n turned =                                                                       \
        FMA(x, (float##n)(0x1.45f306p-2f), (float##n)(-0.5f)) + (float##n)(ROUNDER);              \
    const float##n r = without_pi(x, turned - (float##n)(ROUNDER) + (float##n)(0.5f));            \
    const uint##n sign = ~AS(uint##n, turned) << 31;                                              \
    const float##n y = AS(float##n, AS(uint##n, sine_of(r)) ^ sign);                              \
    RETURN_REDUCED(n, float, int, LARGEST_REDUCED, cos, x, y)                                     \
  }
WIDTHS(DEFINE_SIN_COS, )

// The sine and the cosine of one number, which share nearly all: x = n pi / 2 + r, and n tells which
// of the two of r either is, and its sign. The polynomials are for |r| <= pi/4.
#define HALF_PI_1 0x1.921fb4p+0f
#define HALF_PI_2 0x1.4442dp-24f
#define HALF_PI_3 0x1.846988p-48f
#define DEFINE_PAIRED(n, V, unused)                                                               \
  INLINE OVERLOAD float##n paired(float##n x, uint##n quarters) {                                 \
    const float##n turned = FMA(x, (float##n)(0x1.45f306p-1f), (float##n)(ROUNDER));              \
    const float##n times = turned - (float##n)(ROUNDER);                                          \
    float##n r = FMA(times, (float##n)(-HALF_PI_1), x);                                           \
    r = FMA(times, (float##n)(-HALF_PI_2), r);                                                    \
    r = FMA(times, (float##n)(-HALF_PI_3), r);                                                    \
    const float##n square = r * r;                                                                \
    float##n sine = FMA(square, (float##n)(-0x1.994062p-13f), (float##n)(0x1.11073p-7f));         \
    sine = FMA(sine, square, (float##n)(-0x1.555546p-3f));                                        \
    sine = r * FMA(sine, square, (float##n)(1.0f));                                               \
    float##n cosine = FMA(square, (float##n)(0x1.99e86ap-16f), (float##n)(-0x1.6c0c28p-10f));     \
    cosine = FMA(cosine, square, (float##n)(0x1.55554ap-5f));                                     \
    cosine = FMA(cosine, square, (float##n)(-0.5f));                                              \
    cosine = FMA(cosine, square, (float##n)(1.0f));                                               \
    const uint##n quarter = AS(uint##n, turned) + quarters;                                       \
    const float##n y = AS(int##n, quarter << 31) ? cosine : sine;                                 \
    return AS(float##n, AS(uint##n, y) ^ (quarter << 30 & (uint##n)(SIGN_BIT)));                  \
  }                                                                                               \
  LATE float##n __weft_late_paired_sin_float##n(float##n x) {                                     \
    const float##n y = paired(x, (uint##n)(0));                                                   \
    RETURN_REDUCED(n, float, int, LARGEST_REDUCED, sin, x, y)                                     \
  }                                                                                               \
  LATE float##n __weft_late_paired_cos_float##n(float##n x) {                                     \
    const float##n y = paired(x, (uint##n)(1));                                                   \
    RETURN_REDUCED(n, float, int, LARGEST_REDUCED, cos, x, y)                                     \
  }
WIDTHS(DEFINE_PAIRED, )

// The same of double, and the tangent, which is the quotient of the two.
#define PI_HIGH 0x1.921fb54442d18p+1
#define PI_MIDDLE 0x1.1a62633145c06p-53
#define PI_LOW 0x1.c1cd129024e08p-106
#define DOUBLE_ROUNDER 0x1.8p52
#define DOUBLE_SIGN_BIT 0x8000000000000000ul
#define LARGEST_REDUCED_DOUBLE 0x1p27

#define DEFINE_DOUBLE_PARTS(n, V, unused)                                                         \
  INLINE OVERLOAD double##n without_pi(double##n x, double##n times, double part) {               \
    double##n r = FMA(times, (double##n)(-PI_HIGH * part), x);                                    \
    r = FMA(times, (double##n)(-PI_MIDDLE * part), r);                                            \
    return FMA(times, (double##n)(-PI_LOW * part), r);                                            \
  }                                                                                               \
  INLINE OVERLOAD double##n sine_of(double##n r) {                                                \
    const double##n square = r * r;                                                               \
    double##n p = FMA(square, (double##n)(0x1.88294dce85490p-49), (double##n)(-0x1.ae431a8163f5bp-41)); \
    p = FMA(p, square, (double##n)(0x1.6123cb1d6a8c4p-33));                                       \
    p = FMA(p, square, (double##n)(-0x1.ae6454cb2a555p-26));                                      \
    p = FMA(p, square, (double##n)(0x1.71de3a528767fp-19));                                       \
    p = FMA(p, square, (double##n)(-0x1.a01a01a0148afp-13));                                      \
    p = FMA(p, square, (double##n)(0x1.11111111110c1p-7));                                        \
    p = FMA(p, square, (double##n)(-0x1.5555555555555p-3));                                       \
    return FMA(square, p * r, r);                                                                 \
  }                                                                                               \
  /* Never beyond 1, with the sign of r unless `turned` says otherwise. */                        \
  INLINE OVERLOAD double##n signed_sine_of(double##n r, ulong##n turned) {                        \
    const double##n size = ABS(sine_of(r)), one = (double##n)(1.0);                               \
    const ulong##n sign = (AS(ulong##n, r) ^ turned) & (ulong##n)(DOUBLE_SIGN_BIT);               \
    return AS(double##n, AS(ulong##n, one < size ? one : size) | sign);                           \
  }                                                                                               \
  INLINE OVERLOAD double##n quarters_of(double##n x) {                                            \
    return FMA(x, (double##n)(0x1.45f306dc9c883p-1), (double##n)(DOUBLE_ROUNDER));                \
  }                                                                                               \
  /* For |r| <= pi/4, both. */                                                                    \
  INLINE OVERLOAD double##n short_sine_of(double##n r, double##n square) {                        \
    double##n p = FMA(square, (double##n)(0x1.5d8c289a0e58bp-33), (double##n)(-0x1.ae5e4e48e14fep-26)); \
    p = FMA(p, square, (double##n)(0x1.71de35589a75dp-19));                                       \
    p = FMA(p, square, (double##n)(-0x1.a01a019becf57p-13));                                      \
    p = FMA(p, square, (double##n)(0x1.111111110f74dp-7));                                        \
    p = FMA(p, square, (double##n)(-0x1.5555555555548p-3));                                       \
    return r * FMA(p, square, (double##n)(1.0));                                                  \
  }                                                                                               \
  INLINE OVERLOAD double##n short_cosine_of(double##n square) {                                   \
    double##n p = FMA(square, (double##n)(-0x1.8fa0885ef5487p-37), (double##n)(0x1.1ee9d0035d4cap-29)); \
    p = FMA(p, square, (double##n)(-0x1.27e4f7dfb3df9p-22));                                      \
    p = FMA(p, square, (double##n)(0x1.a01a019c755b4p-16));                                       \
    p = FMA(p, square, (double##n)(-0x1.6c16c16c14efcp-10));                                      \
    p = FMA(p, square, (double##n)(0x1.555555555554ap-5));                                        \
    p = FMA(p, square, (double##n)(-0.5));                                                        \
    return FMA(p, square, (double##n)(1.0));                                                      \
  }                                                                                               \
  INLINE OVERLOAD double##n paired(double##n x, ulong##n quarters) {                              \
    const double##n turned = quarters_of(x);                                                      \
    const double##n r = without_pi(x, turned - (double##n)(DOUBLE_ROUNDER), 0.5);                 \
    const double##n square = r * r;                                                               \
    const double##n sine = short_sine_of(r, square), cosine = short_cosine_of(square);            \
    const ulong##n quarter = AS(ulong##n, turned) + quarters;                                     \
    const double##n y = AS(long##n, quarter << 63) ? cosine : sine;                               \
    return AS(double##n, AS(ulong##n, y) ^ (quarter << 62 & (ulong##n)(DOUBLE_SIGN_BIT)));        \
  }
WIDTHS(DEFINE_DOUBLE_PARTS, )

#define DEFINE_DOUBLE_SIN_COS(n, V, unused)                                                       \
  LATE double##n __weft_late_sin_double##n(double##n x) {                                         \
    const double##n turned = FMA(x, (double##n)(0x1.45f306dc9c883p-2), (double##n)(DOUBLE_ROUNDER)); \
    const double##n r = without_pi(x, turned - (double##n)(DOUBLE_ROUNDER), 1.0);                 \
    const double##n y = signed_sine_of(r, AS(ulong##n, turned) << 63);                            \
    RETURN_REDUCED(n, double, long, LARGEST_REDUCED_DOUBLE, sin, x, y)                            \
  }                                                                                               \
  LATE double##n __weft_late_cos_double##n(double##n x) {                                         \
    const double##n turned =                                                                      \
        FMA(x, (double##n)(0x1.45f306dc9c883p-2), (double##n)(-0.5)) + (double##n)(DOUBLE_ROUNDER); \
    const double##n r =                                                                           \
        without_pi(x, turned - (double##n)(DOUBLE_ROUNDER) + (double##n)(0.5), 1.0);              \
    const double##n y = signed_sine_of(r, ~AS(ulong##n, turned) << 63);                           \
    RETURN_REDUCED(n, double, long, LARGEST_REDUCED_DOUBLE, cos, x, y)                            \
  }                                                                                               \
  LATE double##n __weft_late_paired_sin_double##n(double##n x) {                                  \
    const double##n y = paired(x, (ulong##n)(0));                                                 \
    RETURN_REDUCED(n, double, long, LARGEST_REDUCED_DOUBLE, sin, x, y)                            \
  }                                                                                               \
  LATE double##n __weft_late_paired_cos_double##n(double##n x) {                                  \
    const double##n y = paired(x, (ulong##n)(1));                                                 \
    RETURN_REDUCED(n, double, long, LARGEST_REDUCED_DOUBLE, cos, x, y)                            \
  }                                                                                               \
  LATE double##n __weft_late_tan_double##n(double##n x) {                                         \
    const double##n turned = quarters_of(x);                                                      \
    const double##n r = without_pi(x, turned - (double##n)(DOUBLE_ROUNDER), 0.5);                 \
    const double##n square = r * r;                                                               \
    const double##n sine = short_sine_of(r, square), cosine = short_cosine_of(square);            \
    const long##n odd = AS(long##n, AS(ulong##n, turned) << 63);                                  \
    const double##n y = (odd ? -cosine : sine) / (odd ? sine : cosine);                           \
    RETURN_REDUCED(n, double, long, LARGEST_REDUCED_DOUBLE, tan, x, y)                            \
  }
WIDTHS(DEFINE_DOUBLE_SIN_COS, )
