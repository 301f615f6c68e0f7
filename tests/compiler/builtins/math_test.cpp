// OpenCL C 6.15.2, functions with an allowed error: against long double on the host, the bounds of
// the full profile (OpenCL C 7.4). What no bound is given for gets 16.
#include "tests/compiler/builtins/arrays.h"
#include "tests/compiler/builtins/ulp.h"

namespace weft::test {
namespace {

using Long = long double;
constexpr Long pi = std::numbers::pi_v<Long>;
constexpr Long nan_value = std::numeric_limits<Long>::quiet_NaN();

Long sinPi(Long x) {
  const Long turn = std::remainder(x, 2.0L);
  if (std::fabs(turn) == 1 || turn == 0) return std::copysign(0.0L, x);
  return std::sin(pi * (std::fabs(turn) > 0.5L ? std::copysign(1.0L, turn) - turn : turn));
}
Long cosPi(Long x) {
  const Long turn = std::fabs(std::remainder(x, 2.0L));
  return std::isnan(turn) ? turn : sinPi(0.5L - turn);
}
Long tanPi(Long x) {
  const Long turn = std::remainder(x, 1.0L);
  if (std::fabs(turn) == 0.5L) return sinPi(x) > 0 ? INFINITY : -INFINITY;
  return sinPi(x) / cosPi(x);
}
// Debian's lgammal is right for the sizes at hand; infinities of both signs are its own.
Long lnGamma(Long x) { return std::lgamma(x); }
// glibc's powl takes some large even exponents for odd ones.
Long power(Long x, Long y) {
  if (std::isinf(x) || x == 0) return std::pow(static_cast<double>(x), static_cast<double>(y));
  return std::pow(x, y);
}
Long powr(Long x, Long y) {
  if (x < 0 || std::isnan(x) || std::isnan(y) || (x == 0 && y == 0)) return nan_value;
  if ((std::isinf(x) && y == 0) || (x == 1 && std::isinf(y))) return nan_value;
  return power(std::fabs(x), y);
}
Long rootn(Long x, int n) {
  if (n == 0 || (x < 0 && n % 2 == 0)) return nan_value;
  const Long magnitude = std::pow(std::fabs(x), 1.0L / n);
  return n % 2 ? std::copysign(magnitude, x) : magnitude;
}

struct Unary {
  const char* name;
  Long (*reference)(Long);
  double ulp;
};
const Unary unary[] = {
    {"acos", std::acos, 4},
    {"acosh", std::acosh, 4},
    {"asin", std::asin, 4},
    {"asinh", std::asinh, 4},
    {"atan", std::atan, 5},
    {"atanh", std::atanh, 5},
    {"cbrt", std::cbrt, 2},
    {"cos", std::cos, 4},
    {"cosh", std::cosh, 4},
    {"erf", std::erf, 16},
    {"erfc", std::erfc, 16},
    {"exp", std::exp, 3},
    {"exp2", std::exp2, 3},
    {"exp10", exp10l, 3},
    {"expm1", std::expm1, 3},
    {"log", std::log, 3},
    {"log2", std::log2, 3},
    {"log10", std::log10, 3},
    {"log1p", std::log1p, 2},
    {"sin", std::sin, 4},
    {"sinh", std::sinh, 4},
    {"tan", std::tan, 5},
    {"tanh", std::tanh, 5},
    {"tgamma", std::tgamma, 16},
    {"sinpi", sinPi, 4},
    {"cospi", cosPi, 4},
    {"tanpi", tanPi, 6},
    {"lgamma", lnGamma, 16},
    {"rsqrt", [](Long x) { return 1 / std::sqrt(x); }, 2},
    {"acospi", [](Long x) { return std::acos(x) / pi; }, 5},
    {"asinpi", [](Long x) { return std::asin(x) / pi; }, 5},
    {"atanpi", [](Long x) { return std::atan(x) / pi; }, 5},
};

struct Binary {
  const char* name;
  Long (*reference)(Long, Long);
  double ulp;
};
const Binary binary[] = {
    {"atan2", std::atan2, 6}, {"atan2pi", [](Long y, Long x) { return std::atan2(y, x) / pi; }, 6},
    {"hypot", std::hypot, 4}, {"pow", power, 16},
    {"powr", powr, 16},
};

template <class Type, MathSource from>
struct Case {
  using T = Type;
  static constexpr MathSource source = from;
};

template <class C>
class Math : public testing::Test {
 protected:
  static const Program& program() {
    static const Program instance(std::string("math_functions_") + typeName<typename C::T>(), "",
                                  C::source);
    return instance;
  }
};
using Types = testing::Types<Case<float, MathSource::sleef>, Case<double, MathSource::sleef>,
                             Case<float, MathSource::faster>, Case<double, MathSource::faster>,
                             Case<float, MathSource::own>, Case<double, MathSource::own>>;
TYPED_TEST_SUITE(Math, Types);

// OpenCL leaves lgamma's accuracy undefined. Near its zeros it has no relative one: SLEEF's has at
// 1 and 2, our own nowhere.
template <class C, class T>
bool isRight(const Unary& row, T result, T x) {
  const Long exact = row.reference(x);
  const bool near_zero = row.reference == lnGamma && std::fabs(exact) < 0.25L &&
                         (x < 0 || C::source != MathSource::sleef);
  if (near_zero) return std::fabs(result - exact) < 16 * std::numeric_limits<T>::epsilon();
  return ulpError(result, exact) <= row.ulp;
}

TYPED_TEST(Math, OneArgument) {
  using T = typename TypeParam::T;
  for (const Unary& row : unary)
    checkArrays<T, T>(this->program(), row.name, all_widths,
                      [&](T result, T x) { return isRight<TypeParam>(row, result, x); });
}

// Processors without fused multiply-add get another family of SLEEF's.
TYPED_TEST(Math, OneArgumentWithoutFma) {
  using T = typename TypeParam::T;
  const Program old(std::string("math_functions_") + typeName<T>(), "+sse2", TypeParam::source);
  for (const Unary& row : unary)
    checkArrays<T, T>(old, row.name, some_widths,
                      [&](T result, T x) { return isRight<TypeParam>(row, result, x); });
}

TYPED_TEST(Math, TwoArguments) {
  using T = typename TypeParam::T;
  for (const Binary& row : binary)
    checkArrays<T, T, T>(this->program(), row.name, all_widths, [&](T result, T x, T y) {
      return ulpError(result, row.reference(x, y)) <= row.ulp;
    });
}

TYPED_TEST(Math, IntegerExponents) {
  using T = typename TypeParam::T;
  checkArrays<T, T, int>(this->program(), "pown", all_widths,
                         [](T result, T x, int n) { return ulpError(result, power(x, n)) <= 16; });
  checkArrays<T, T, int>(this->program(), "rootn", all_widths,
                         [](T result, T x, int n) { return ulpError(result, rootn(x, n)) <= 16; });
}

// Signs of zeros that the specification names (OpenCL C 7.5.1) and a bound in ULP does not see.
TYPED_TEST(Math, SignsOfZero) {
  using T = typename TypeParam::T;
  std::vector<T> x(array_elements, 1);
  const T given[] = {1, 2, -1, -2, -T(0), T(0), 0.5, 1.5, -0.5};
  std::copy(std::begin(given), std::end(given), x.begin());
  const auto sine = runArrays<T, T>(this->program(), "sinpi", all_widths, x);
  const auto cosine = runArrays<T, T>(this->program(), "cospi", all_widths, x);
  const auto tangent = runArrays<T, T>(this->program(), "tanpi", all_widths, x);
  for (const char* name : {"sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "expm1",
                           "log1p", "cbrt", "erf"}) {
    const auto odd = runArrays<T, T>(this->program(), name, all_widths, x);
    EXPECT_TRUE(odd[4] == 0 && std::signbit(odd[4])) << name;
    EXPECT_TRUE(odd[5] == 0 && !std::signbit(odd[5])) << name;
  }
  const bool sine_negative[] = {false, false, true, true, true, false};
  const bool tangent_negative[] = {true, false, false, true, true, false};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(sine[i], 0);
    EXPECT_EQ(tangent[i], 0);
    EXPECT_EQ(std::signbit(sine[i]), sine_negative[i]) << i;
    EXPECT_EQ(std::signbit(tangent[i]), tangent_negative[i]) << i;
  }
  for (int i = 6; i < 9; ++i) {
    EXPECT_EQ(cosine[i], 0);
    EXPECT_FALSE(std::signbit(cosine[i]));
  }
}

// What C's annex F says of these, which OpenCL C 7.5.1 refers to, is exact.
TYPED_TEST(Math, ExactResults) {
  using T = typename TypeParam::T;
  std::vector<T> x(array_elements, 0);
  x[1] = -T(0);
  for (const char* name : {"cos", "cosh", "cospi", "exp", "exp2", "exp10", "erfc"}) {
    const auto one = runArrays<T, T>(this->program(), name, all_widths, x);
    EXPECT_TRUE(one[0] == 1 && one[1] == 1) << name << " gives " << one[0] << " and " << one[1];
  }
  std::fill(x.begin(), x.end(), T(1));
  for (const char* name : {"log", "log2", "log10", "acos", "acosh", "acospi"})
    EXPECT_EQ((runArrays<T, T>(this->program(), name, all_widths, x)[0]), 0) << name;
  const std::vector<T> values = argumentValues<T>(0);
  const auto powers = runArrays<T, T, T>(this->program(), "pow", all_widths, values, x);
  for (size_t i = 0; i < array_elements; ++i)
    EXPECT_TRUE(powers[i] == values[i] || values[i] != values[i]) << values[i];
}

// "atan2pi ( +-infinity, +infinity ) returns +-0.25", and so on: these are no roundings.
TYPED_TEST(Math, AnglesOfInfinities) {
  using T = typename TypeParam::T;
  const T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> y(array_elements, 1), x(array_elements, 1);
  const T angles[] = {0.25, -0.25, 0.75, -0.75, 0.5, -0.5, 1, -1};
  const T ys[] = {infinity, -infinity, infinity, -infinity, infinity, -infinity, 1, -1};
  const T xs[] = {infinity, infinity, -infinity, -infinity, 1, -1, -infinity, -infinity};
  std::copy(std::begin(ys), std::end(ys), y.begin());
  std::copy(std::begin(xs), std::end(xs), x.begin());
  const auto turns = runArrays<T, T, T>(this->program(), "atan2pi", all_widths, y, x);
  for (size_t i = 0; i < std::size(angles); ++i) EXPECT_EQ(turns[i], angles[i]) << i;
}

TYPED_TEST(Math, SecondResults) {
  using T = typename TypeParam::T;
  const std::vector<T> x = argumentValues<T>(0);
  for (const std::string width : {"", "2", "3", "4", "8", "16"}) {
    std::vector<T> sine(array_elements), cosine(array_elements), gamma(array_elements);
    std::vector<int> sign(array_elements);
    this->program().template get<void(T*, T*, const T*, uint64_t)>("run_sincos_" + width)(
        sine.data(), cosine.data(), x.data(), array_elements);
    this->program().template get<void(T*, int*, const T*, uint64_t)>("run_lgamma_r_" + width)(
        gamma.data(), sign.data(), x.data(), array_elements);
    for (size_t i = 0; i < array_elements; ++i) {
      ASSERT_LE(ulpError(sine[i], std::sin(Long{x[i]})), 4) << x[i];
      ASSERT_LE(ulpError(cosine[i], std::cos(Long{x[i]})), 4) << x[i];
      const bool pole = x[i] <= 0 && std::floor(x[i]) == x[i];
      if (pole || std::isnan(x[i])) continue;
      const bool negative = x[i] < 0 && std::fmod(std::floor(x[i]), T(2)) != 0;
      ASSERT_EQ(sign[i], negative ? -1 : 1) << x[i];
    }
  }
}

}  // namespace
}  // namespace weft::test
