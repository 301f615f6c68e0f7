// Powers and roots of double, in straight lines.
#include "own_math.def"

// The exponent decides alone from 2^70 on, as the logarithm of what is not 1 is at least 2^-53.
INLINE double power_of_magnitude(double x, double y) {
  const double exponent = clamped(y, -0x1p70, 0x1p70);
  const Pair l = logarithm(x);
  Pair product = exact_product(l.hi, exponent);
  product.lo = FMA(l.lo, exponent, product.lo);
  const double power = exponential(product);
  const double limit = (x == 0.0) == (y < 0.0) ? (double)INFINITY : 0.0;
  return x > 0.0 && x < (double)INFINITY ? power : limit;
}
double __weft_own_pow_double(double x, double y) {
  const double magnitude = ABS(x), halved = y * 0.5;
  const bool integral = y == __builtin_elementwise_trunc(y);
  const bool odd = integral && halved != __builtin_elementwise_trunc(halved);
  const double power = power_of_magnitude(magnitude, y);
  double result = odd ? COPYSIGN(power, x) : power;
  result = x < 0.0 && !integral && magnitude < (double)INFINITY ? (double)NAN : result;
  result = x != x || y != y ? x + y : result;
  result = y == 1.0 ? x : result;
  return x == 1.0 || y == 0.0 ? 1.0 : result;
}
// Undefined where y * log(x) is, though pow is not.
double __weft_own_powr_double(double x, double y) {
  const bool is_end = x == 0.0 || x == (double)INFINITY;
  const bool undefined = !(x >= 0.0) || y != y || (is_end && y == 0.0) ||
                         (x == 1.0 && ABS(y) == (double)INFINITY);
  return undefined ? (double)NAN : power_of_magnitude(x, y);
}
double __weft_own_rootn_double(double x, int n) {
  const double magnitude = ABS(x), degree = (double)n;
  const Pair l = logarithm(magnitude);
  const double quotient = l.hi / degree;
  const double rest = (FMA(-quotient, degree, l.hi) + l.lo) / degree;
  const double root = exponential((Pair){quotient, rest});
  const double limit = (magnitude == 0.0) == (n < 0) ? (double)INFINITY : 0.0;
  const double power = magnitude > 0.0 && magnitude < (double)INFINITY ? root : limit;
  const bool odd = (n & 1) != 0;
  const double result = odd ? COPYSIGN(power, x) : power;
  return n == 0 || x != x || (x < 0.0 && !odd) ? (double)NAN : result;
}
