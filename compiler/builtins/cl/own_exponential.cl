// Exponentials, logarithms and the hyperbolic functions, in straight lines.
#include "own_math.def"

double __weft_own_exp_double(double x) { return exponential((Pair){x, 0.0}); }
double __weft_own_exp2_double(double x) {
  const double high = bounded(x, -1075.0, 1100.0);
  const Integer n = nearest(high, 1.0);
  const double f = high - n.value;
  double p = FMA(0x1.eb5ad16d72089p-32, f, 0x1.e60570d75ca42p-28);
  p = FMA(p, f, 0x1.b523dc6b6d027p-24);
  p = FMA(p, f, 0x1.62bfd4f394576p-20);
  p = FMA(p, f, 0x1.ffcbfd01645c8p-17);
  p = FMA(p, f, 0x1.430913093d128p-13);
  p = FMA(p, f, 0x1.5d87fe7880471p-10);
  p = FMA(p, f, 0x1.3b2ab6fba1edbp-7);
  p = FMA(p, f, 0x1.c6b08d704a1acp-5);
  p = FMA(p, f, 0x1.ebfbdff82c598p-3);
  p = FMA(p, f, 0x1.62e42fefa39efp-1);
  return zero_below(x, -1075.0, scaled(FMA(p, f, 1.0), n));
}
double __weft_own_exp10_double(double x) {
  const double high = bounded(x, -324.0, 340.0);
  const Integer n = nearest(high, LOG2_10);
  const double rest = FMA(-n.value, LOG10_2_LO, FMA(-n.value, LOG10_2_HI, high));
  const Exponential e = of_reduced(n, rest * LN10_HI);
  return zero_below(x, -324.0, scaled(1.0 + e.fraction, e.n));
}

// A quarter of e^x - 1, for |x| <= 710.48.
INLINE double quarter_less_one(double x) {
  const Exponential e = reduced_exponential((Pair){x, 0.0});
  const double quarter = power_of_two(e.n.number - 2);
  return FMA(e.fraction, quarter, quarter - 0.25);
}
double __weft_own_expm1_double(double x) {
  const double quarter = quarter_less_one(clamped(x, -50.0, 710.0));
  return COPYSIGN(4.0 * quarter, x);
}
// With t = e^a - 1: sinh(a) = (t + t / (t + 1)) / 2 and tanh(a / 2) = t / (t + 2). Parts are
// multiplied last, so that they overflow no sooner than the result.
double __weft_own_sinh_double(double x) {
  const double quarter = quarter_less_one(clamped(ABS(x), 0.0, 710.48));
  return COPYSIGN(2.0 * (quarter + quarter / FMA(4.0, quarter, 1.0)), x);
}
double __weft_own_cosh_double(double x) {
  const Exponential e = reduced_exponential((Pair){clamped(ABS(x), 0.0, 710.48), 0.0});
  const double eighth = power_of_two(e.n.number - 3) * (1.0 + e.fraction);
  return 4.0 * (eighth + 0.015625 / eighth);
}
double __weft_own_tanh_double(double x) {
  const double t = 4.0 * quarter_less_one(clamped(2.0 * ABS(x), 0.0, 44.0));
  return COPYSIGN(t / (t + 2.0), x);
}

double __weft_own_log_double(double x) {
  const Parts p = parts_of(x);
  const double rest = p.f + FMA(p.exponent, LN2_LO, logarithm_tail(p.f));
  return FMA(p.exponent, LN2_HI, rest);
}
double __weft_own_log2_double(double x) {
  const Parts p = parts_of(x);
  const double rest = logarithm_tail(p.f);
  return FMA(p.f, LOG2E_HI, p.exponent) + FMA(rest, LOG2E_HI, p.f * LOG2E_LO);
}
double __weft_own_log10_double(double x) {
  const Parts p = parts_of(x);
  const double rest = FMA(logarithm_tail(p.f), LOG10E_HI, p.exponent * LOG10_2_LO);
  return FMA(p.exponent, LOG10_2_HI, FMA(p.f, LOG10E_HI, rest));
}
// log(1 + x)
#define LEAST 0.75
INLINE double logarithm_of_sum(double x) {
  const double sum = 1.0 + x;
  const long exponent = (AS(long, sum) - AS(long, LEAST)) >> 52;
  // 1 + f = (1 + x) / 2^exponent, by four at first, because that is a normal number.
  const double factor = power_of_two(2 - exponent);
  const double f = exponent == 0 ? x : FMA(0.25 * x, factor, FMA(0.25, factor, -1.0));
  const double e = double_of(exponent);
  const double y = FMA(e, LN2_HI, f + FMA(e, LN2_LO, logarithm_tail(f)));
  return COPYSIGN(with_ends(sum, y), x);
}
double __weft_own_log1p_double(double x) { return logarithm_of_sum(x); }
// From here on the area functions are log(2 x) to the last bit.
#define LOGARITHMIC 0x1p28
double __weft_own_asinh_double(double x) {
  const double a = ABS(x), square = a * a;
  const bool large = a > LOGARITHMIC;
  const double y =
      logarithm_of_sum(large ? a - 1.0 : a + square / (1.0 + SQRT(1.0 + square)));
  return COPYSIGN(large ? y + LN2_HI : y, x);
}
double __weft_own_acosh_double(double x) {
  const double t = x - 1.0;
  const bool large = x > LOGARITHMIC;
  const double y = logarithm_of_sum(large ? t : t + SQRT(FMA(t, t, 2.0 * t)));
  return x < 1.0 ? (double)NAN : large ? y + LN2_HI : y;
}
double __weft_own_atanh_double(double x) {
  const double a = ABS(x);
  return COPYSIGN(0.5 * logarithm_of_sum(2.0 * a / (1.0 - a)), x);
}
