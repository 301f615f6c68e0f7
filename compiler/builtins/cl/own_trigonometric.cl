// The trigonometric functions and their inverses.
#include "own_math.def"

// 2/pi, the first bit behind the point being the first of the second word.
__constant static const ulong two_over_pi[] = {
    0x0000000000000000ul, 0xa2f9836e4e441529ul, 0xfc2757d1f534ddc0ul, 0xdb6295993c439041ul,
    0xfe5163abdebbc561ul, 0xb7246e3a424dd2e0ul, 0x06492eea09d1921cul, 0xfe1deb1cb129a73eul,
    0xe88235f52ebb4484ul, 0xe99c7026b45f7e41ul, 0x3991d639835339f4ul, 0x9c845f8bbdf9283bul,
    0x1ff897ffde05980ful, 0xef2f118b5a0a6d1ful, 0x6d367ecf27cb09b7ul, 0x4f463f669e5fea2dul,
    0x7527bac7ebe5f17bul, 0x3d0739f78a5292eaul, 0x6bfb5fb11f8d5d08ul, 0x56033046fc7b6babul,
    0xf0cfbc209af4361dul};

// 64 bits of it from bit `first` on.
INLINE ulong bits_of_two_over_pi(int first) {
  const int word = first >> 6, shift = first & 63;
  const ulong high = two_over_pi[word] << shift;
  return shift == 0 ? high : high | two_over_pi[word + 1] >> (64 - shift);
}

// x - quadrant * pi/2, from -pi/4 to pi/4.
typedef struct {
  Pair r;
  int quadrant;
} Reduced;

// Of the product of x and 2/pi only what lies between 4 and 2^-137 is computed.
INLINE Reduced reduce_large(double x) {
  const ulong bits = AS(ulong, ABS(x));
  const int exponent = (int)(bits >> 52) - 1075;  // of the mantissa's last bit
  const ulong m = (bits & 0xffffffffffffful) | 0x10000000000000ul;
  const int first = exponent - 2 + 64;
  const ulong w0 = bits_of_two_over_pi(first), w1 = bits_of_two_over_pi(first + 64),
              w2 = bits_of_two_over_pi(first + 128);
  const ulong low = m * w2;
  const ulong middle_part = m * w1;
  const ulong middle = middle_part + mul_hi(m, w2);
  const ulong carry = middle < middle_part;
  const ulong high = m * w0 + mul_hi(m, w1) + carry;
  int quadrant = (int)(high >> 62);
  const long fraction = (long)(high << 2 | middle >> 62);
  const ulong fraction_low = middle << 2 | low >> 62;
  quadrant += fraction < 0;
  // Eleven bits are what a double has no room for.
  const Pair f = exact_sum((double)(fraction & ~0x7ffl) * 0x1p-64,
                           (double)(fraction & 0x7ffl) * 0x1p-64 + (double)fraction_low * 0x1p-128);
  const Pair product = times(f, PI2_HI, PI2_LO);
  Pair r = ordered_sum(product.hi, product.lo);
  if (x < 0.0) {
    r = (Pair){-r.hi, -r.lo};
    quadrant = -quadrant;
  }
  return (Reduced){r, quadrant & 3};
}

INLINE Reduced reduce(double x) {
  const double a = ABS(x);
  if (a <= 0.78539816339744828) return (Reduced){{x, 0.0}, 0};
  if (!(a < (double)INFINITY)) return (Reduced){{(double)NAN, 0.0}, 0};
  if (a > 0x1p22) return reduce_large(x);
  const double n = RINT(x * 0.63661977236758138);
  const Pair product = exact_product(n, PI2_LO);
  Pair r = exact_sum(FMA(-n, PI2_HI, x), -product.hi);
  r = ordered_sum(r.hi, r.lo - (product.lo + n * PI2_REST));
  return (Reduced){r, (int)n & 3};
}

double __weft_own_sin_double(double x) {
  if (x == 0.0) return x;  // with its sign
  const Reduced v = reduce(x);
  const double y = v.quadrant & 1 ? cosine(v.r) : sine(v.r);
  return v.quadrant & 2 ? -y : y;
}
double __weft_own_cos_double(double x) {
  const Reduced v = reduce(x);
  const double y = v.quadrant & 1 ? sine(v.r) : cosine(v.r);
  return (v.quadrant + 1) & 2 ? -y : y;
}
double __weft_own_tan_double(double x) {
  if (x == 0.0) return x;
  const Reduced v = reduce(x);
  const double s = sine(v.r), c = cosine(v.r);
  return v.quadrant & 1 ? -c / s : s / c;
}
// |x| <= 1/2.
double __weft_own_sinpi_double(double x) {
  const double z = x * x;
  double p = FMA(-0x1.570b25bdd2266p-24, z, 0x1.cb94b1d6f5c8ap-21);
  p = FMA(p, z, -0x1.70203cb633645p-16);
  p = FMA(p, z, 0x1.e8f5de7a2de06p-12);
  p = FMA(p, z, -0x1.e30753634a215p-8);
  p = FMA(p, z, 0x1.5078348c276fdp-4);
  p = FMA(p, z, -0x1.32d2cce63137dp-1);
  p = FMA(p, z, 0x1.466bc6775ab44p+1);
  p = FMA(p, z, -0x1.4abbce625be53p+2);
  return clamped(FMA(x, PI_HI, x * FMA(p, z, PI_LO)), -1.0, 1.0);
}

// atan(i / 8).
__constant static const Pair eighths[] = {
    {0x0.0p+0, 0x0.0p+0},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

// x >= 0 and no NaN.
INLINE Pair arc_tangent(double x) {
  const bool inverted = x > 1.0;
  const double t = inverted ? 1.0 / x : x;
  const int i = (int)RINT(t * 8.0);
  const double at = (double)i * 0.125;
  const double u = (t - at) / FMA(t, at, 1.0), z = u * u;
  double p = 1.0 / 17.0;
  p = FMA(p, z, -1.0 / 15.0);
  p = FMA(p, z, 1.0 / 13.0);
  p = FMA(p, z, -1.0 / 11.0);
  p = FMA(p, z, 1.0 / 9.0);
  p = FMA(p, z, -1.0 / 7.0);
  p = FMA(p, z, 1.0 / 5.0);
  p = FMA(p, z, -1.0 / 3.0);
  const Pair sum = sum_of(eighths[i], ordered_sum(u, u * z * p));
  return inverted ? sum_of((Pair){PI2_HI, PI2_LO}, (Pair){-sum.hi, -sum.lo}) : sum;
}
double __weft_own_atan_double(double x) {
  if (x != x) return x;
  const Pair y = arc_tangent(ABS(x));
  return COPYSIGN(y.hi + y.lo, x);
}
double __weft_own_atan2_double(double y, double x) {
  if (x != x || y != y) return x + y;
  const double a = ABS(x), b = ABS(y);
  const bool left = AS(long, x) < 0;
  const double diagonal = left ? 3.0 * (PI2_HI * 0.5) : PI2_HI * 0.5;
  if (a == (double)INFINITY && b == a) return COPYSIGN(diagonal, y);
  Pair angle = b == 0.0 ? (Pair){0.0, 0.0} : arc_tangent(b / a);
  if (left) angle = sum_of((Pair){PI_HI, PI_LO}, (Pair){-angle.hi, -angle.lo});
  return COPYSIGN(angle.hi + angle.lo, y);
}
double __weft_own_asin_double(double x) {
  return __weft_own_atan2_double(x, SQRT(FMA(-x, x, 1.0)));
}
double __weft_own_acos_double(double x) {
  return 2.0 * __weft_own_atan2_double(SQRT(1.0 - x), SQRT(1.0 + x));
}
