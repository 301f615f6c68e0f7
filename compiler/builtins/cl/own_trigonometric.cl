// The trigonometric functions of double and their inverses, in straight lines but for large arguments.
// Largest errors seen in ULP: sin and cos 1.6, tan 2.9, asin 2, acos 1.2, atan and atan2 1.4.
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

// x - quadrant * pi/2, from -pi/4 to pi/4, but for rounding.
typedef struct {
  double r;
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
  const double r = product.hi + product.lo;
  return x < 0.0 ? (Reduced){-r, -quadrant} : (Reduced){r, quadrant};
}

// Up to 2^22 quadrants the first difference is exact, being a multiple of 2^-53 and less than one.
INLINE Reduced reduce(double x) {
  if (ABS(x) > 0x1p22) return ABS(x) < (double)INFINITY ? reduce_large(x) : (Reduced){(double)NAN, 0};
  const Integer n = nearest(x, 0.63661977236758138);
  const double r = FMA(-n.value, PI2_REST, FMA(-n.value, PI2_LO, FMA(-n.value, PI2_HI, x)));
  return (Reduced){r, (int)n.number};
}

// Of the sine (r + r^3 p) and of the cosine (1 - r^2 / 2 + r^4 p), the last term first.
__constant static const double series[2][8] = {
    {1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0,
     1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0},
    {-1.0 / 6402373705728000.0, 1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0,
     -1.0 / 3628800.0, 1.0 / 40320.0, -1.0 / 720.0, 1.0 / 24.0}};

// One polynomial for both, as work-items of all quadrants run together.
INLINE double sine_of(double r, int quadrant) {
  const bool turned = quadrant & 1;
  __constant const double* factors = series[turned];
  const double z = r * r;
  double p = factors[0];
#pragma unroll
  for (int i = 1; i < 8; ++i) p = FMA(p, z, factors[i]);
  const double by = turned ? z : r, y = FMA(p * z, by, turned ? FMA(-0.5, z, 1.0) : r);
  return quadrant & 2 ? -y : y;
}
double __weft_own_sin_double(double x) {
  const Reduced v = reduce(x);
  const double y = sine_of(v.r, v.quadrant);
  return x == 0.0 ? x : y;  // with its sign
}
double __weft_own_cos_double(double x) {
  const Reduced v = reduce(x);
  return sine_of(v.r, v.quadrant + 1);
}
double __weft_own_tan_double(double x) {
  const Reduced v = reduce(x);
  const double s = sine(v.r), c = cosine(v.r), y = v.quadrant & 1 ? -c / s : s / c;
  return x == 0.0 ? x : y;
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

// Of an angle of which `small` and `large` are the sides, which says where it lies: from a right one
// down or not, in the left half or not.
INLINE double angle_of(double small, double large, bool steep, bool left) {
  // Equal also where there is no quotient. Both sides are zero, or infinite.
  if (large == 0.0 || large == (double)INFINITY) {
    small = small == large && large > 0.0 ? 1.0 : 0.0;
    large = 1.0;
  }
  // By a power of two, so that the larger one is about 1, as far as there is such a power.
  const ulong exponent = AS(ulong, large) >> 52;
  const double scale = AS(double, (0x7fe - (exponent < 0x7fd ? exponent : 0x7fd)) << 52);
  const double s = small * scale, l = large * scale;
  const float eighth = FMA((float)s * (1.0f / (float)l), 8.0f, 0x1.8p23f);
  const uint i = AS(uint, eighth) & 15;
  const double at = (double)(eighth - 0x1.8p23f) * 0.125;
  const double u = FMA(-at, l, s) / FMA(at, s, l), z = u * u;
  double p = 1.0 / 17.0;
  p = FMA(p, z, -1.0 / 15.0);
  p = FMA(p, z, 1.0 / 13.0);
  p = FMA(p, z, -1.0 / 11.0);
  p = FMA(p, z, 1.0 / 9.0);
  p = FMA(p, z, -1.0 / 7.0);
  p = FMA(p, z, 1.0 / 5.0);
  p = FMA(p, z, -1.0 / 3.0);
  const double high = eighths[i].hi, rest = FMA(u * z, p, eighths[i].lo) + u;
  const bool turned = steep != left;
  const double from = steep ? PI2_HI : left ? PI_HI : 0.0;
  const double from_rest = steep ? PI2_LO : left ? PI_LO : 0.0;
  return (from + (turned ? -high : high)) + (from_rest + (turned ? -rest : rest));
}
double __weft_own_atan_double(double x) {
  const double a = ABS(x);
  const bool steep = a > 1.0;
  const double y = angle_of(steep ? 1.0 : a, steep ? a : 1.0, steep, false);
  return x != x ? x : COPYSIGN(y, x);
}
double __weft_own_atan2_double(double y, double x) {
  const double a = ABS(x), b = ABS(y);
  const bool steep = b > a;
  const double angle = angle_of(steep ? a : b, steep ? b : a, steep, AS(long, x) < 0);
  return x != x || y != y ? x + y : COPYSIGN(angle, y);
}

// (asin(v) - v) / v^3 for z = v^2 up to 1/4.
INLINE double arc_sine_tail(double z) {
  double p = FMA(0x1.d72b2bc8155f8p-6, z, -0x1.e6aaa8a0a04ccp-7);
  p = FMA(p, z, 0x1.1d189408314eep-6);
  p = FMA(p, z, 0x1.65a9c4dfcf8b2p-8);
  p = FMA(p, z, 0x1.52420b04b37bep-7);
  p = FMA(p, z, 0x1.782651caa6547p-7);
  p = FMA(p, z, 0x1.c9cf07674736ap-7);
  p = FMA(p, z, 0x1.1c4d35cf95421p-6);
  p = FMA(p, z, 0x1.6e8bb1c8209a2p-6);
  p = FMA(p, z, 0x1.f1c71c1db0623p-6);
  p = FMA(p, z, 0x1.6db6db6e31f13p-5);
  p = FMA(p, z, 0x1.3333333332ecap-4);
  return FMA(p, z, 0x1.5555555555556p-3);
}
// Near 1 it is the arc sine of a root that is doubled and taken from a right angle.
typedef struct {
  bool large;
  double root, rest;  // the sum is the arc sine of |x| or of the root
} ArcSine;
INLINE ArcSine arc_sine(double x) {
  const double a = ABS(x);
  const bool large = a > 0.5;
  const double z = large ? FMA(a, -0.5, 0.5) : a * a, v = large ? SQRT(z) : a;
  return (ArcSine){large, v, v * z * arc_sine_tail(z)};
}
double __weft_own_asin_double(double x) {
  const ArcSine v = arc_sine(x);
  const double near_one = FMA(-2.0, v.root, PI2_HI) + FMA(-2.0, v.rest, PI2_LO);
  return COPYSIGN(v.large ? near_one : v.root + v.rest, x);
}
double __weft_own_acos_double(double x) {
  const ArcSine v = arc_sine(x);
  const double from = x < 0.0 ? -1.0 : 1.0;
  const double middle = FMA(-from, v.root, PI2_HI) + FMA(-from, v.rest, PI2_LO);
  const double left = FMA(-2.0, v.root, PI_HI) + FMA(-2.0, v.rest, PI_LO);
  const double right = 2.0 * (v.root + v.rest), near_one = x < 0.0 ? left : right;
  return v.large ? near_one : middle;
}
