// For CPUs whose vectors look numbers up in registers and have instructions for their parts
// (number_parts.h): __weft_own_fast_<function>_<type> stands for __weft_own_<function>_<type> there,
// to which it leaves rare arguments.
#include "own_math.def"

double __weft_own_pow_double(double x, double y);
double __weft_own_powr_double(double x, double y);

// By the mantissa's first four bits: a factor that brings it near 1, of so few bits that what is left
// is exact, and what that takes from the logarithm.
static constant double factors[16] = {
    0x1p+0, 0x1.dp-1, 0x1.cp-1, 0x1.ap-1, 0x1.9p-1, 0x1.8p-1, 0x1.7p-1, 0x1.6p-1, 0x1.5p+0,
    0x1.4p+0, 0x1.38p+0, 0x1.28p+0, 0x1.2p+0, 0x1.18p+0, 0x1.1p+0, 0x1p+0};
static constant double taken[16] = {
    0.0, 0x1.9335e5d594p-4, 0x1.1178e8227ep-3, 0x1.a93ed3c8aep-3, 0x1.f991c6cb3cp-3,
    0x1.269621134ep-2, 0x1.522ae0738ap-2, 0x1.7fafa3bd81p-2, -0x1.1675cababap-2,
    -0x1.c8ff7c79aap-3, -0x1.9525a9cf46p-3, -0x1.29552f82p-3, -0x1.e27076e2bp-4,
    -0x1.6f0d28ae58p-4, -0x1.f0a30c0118p-5, 0.0};
static constant double taken_rest[16] = {
    0.0, 0x1.3115c3abd47dap-45, 0x1.1ef78ce2d07f2p-45, -0x1.8724350562169p-45,
    -0x1.90d04cd7cc834p-44, -0x1.1b61f10522625p-44, 0x1.ebe708164c759p-45, 0x1.46fb79bf6d4cbp-44,
    -0x1.8380e731f55c4p-44, 0x1.7794f689f8434p-45, 0x1.297137d9f158fp-44, 0x1.5b967f4471dfcp-44,
    0x1.a342c2af0003cp-45, 0x1.4b4641b664613p-44, 0x1.d599e83368e91p-45, 0.0};

// A multiple of its last place and a whole exponent are exact, and so is the sum with `taken`.
#define SHORT_LN2 0x1.62e42fefa38p-1
#define SHORT_LN2_REST 0x1.ef35793c7673p-45

// log(x) of a finite positive number, right to some 2^-61 of it.
INLINE Pair short_logarithm(double x) {
  const double m = __weft_part_mantissa_double(x), e = __weft_part_exponent_double(x, m);
  const ulong i = (AS(ulong, m) >> 48) & 15;
  const double f = FMA(m, factors[i], -1.0), square = f * f;
  const double base = FMA(e, SHORT_LN2, taken[i]), first = base + f;
  const double second = FMA(-0.5, square, first);
  double lo = FMA(e, SHORT_LN2_REST, taken_rest[i]) + (f - (first - base));
  lo += FMA(-0.5, square, first - second);
  lo = FMA(-0.5, FMA(f, f, -square), lo);
  double p = FMA(0x1.4b50bf9fb5b62p-4, f, -0x1.993575d0abaaap-4);
  p = FMA(p, f, 0x1.c73c99b4784b7p-4);
  p = FMA(p, f, -0x1.00006d4e2149bp-3);
  p = FMA(p, f, 0x1.249244ebfc63p-3);
  p = FMA(p, f, -0x1.55555534e8efp-3);
  p = FMA(p, f, 0x1.9999999a09cdap-3);
  p = FMA(p, f, -0x1.0000000001509p-2);
  p = FMA(p, f, 0x1.5555555555536p-2);
  return ordered_sum(second, FMA(f * square, p, lo));
}

// 2^(i/16)
static constant double powers[16] = {
    0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0,
    0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0,
    0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f09p+0, 0x1.ae89f995ad3adp+0,
    0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
#define SIXTEENTHS 0x1.71547652b82fep+4
#define SIXTEENTH_HI 0x1.62e42fefa39efp-5
#define SIXTEENTH_LO 0x1.abc9e3b39803fp-60

// e^(x + low) by the nearest sixteenth of ln(2) and what is left.
INLINE double exponential_of(double x, double low) {
  const Integer i = nearest(x, SIXTEENTHS);
  const double r = FMA(-i.value, SIXTEENTH_LO, FMA(-i.value, SIXTEENTH_HI, x) + low);
  double p = FMA(0x1.6c185ee189644p-10, r, 0x1.11123abf5d57bp-7);
  p = FMA(p, r, 0x1.555555545d1b9p-5);
  p = FMA(p, r, 0x1.555555548f71ep-3);
  p = FMA(p, r, 0x1.0000000000005p-1);
  const double power = powers[AS(ulong, i.number) & 15];
  return scaled(FMA(power, FMA(p, r * r, r), power), (Integer){i.value * 0.0625, i.number >> 4});
}
double __weft_own_fast_exp_double(double x) {
  return zero_below(x, -746.0, exponential_of(bounded(x, -746.0, 760.0), -0.0));
}

typedef struct {
  double value;
  bool is_normal;  // else it is none
} Power;
INLINE Power power(double x, double y) {
  const Pair l = short_logarithm(x);
  const double high = l.hi * y, low = FMA(l.lo, y, FMA(l.hi, y, -high));
  const double value = exponential_of(high, low);
  const bool is_zero = AS(ulong, x) == 0;
  const double known = is_zero ? 0.0 : value;
  return (Power){y == 1.0 ? x : known, ((x > 0.0) & (x < (double)INFINITY) & (ABS(high) < 700.0)) |
                                           (is_zero & (y > 0.0))};
}
double __weft_own_fast_pow_double(double x, double y) {
  const Power p = power(x, y);
  return __builtin_expect(p.is_normal, 1) ? p.value : __weft_own_pow_double(x, y);
}
double __weft_own_fast_powr_double(double x, double y) {
  const Power p = power(x, y);
  return __builtin_expect(p.is_normal, 1) ? p.value : __weft_own_powr_double(x, y);
}
