// Math functions of which vectors have forms of their own: the same bits in all of them. And powers
// whose exponent stands in the program.
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "tests/compiler/fixture.h"
#include "tests/compiler/program.h"

namespace weft {
namespace {

using test::Program;

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <class T>
bool same(T a, T b) {
  return std::bit_cast<Bits<T>>(a) == std::bit_cast<Bits<T>>(b) || (std::isnan(a) && std::isnan(b));
}

template <class T>
std::vector<T> specialNumbers() {
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), least = Limits::denorm_min(), normal = Limits::min();
  std::vector<T> all{0,
                     inf,
                     Limits::quiet_NaN(),
                     1,
                     2,
                     3,
                     T(0.5),
                     T(0.75),
                     T(1.5),
                     least,
                     normal,
                     normal / 4,
                     Limits::max(),
                     T(1e-20),
                     T(1) / T(3),
                     T(1) + Limits::epsilon()};
  for (size_t i = 0, count = all.size(); i < count; ++i) all.push_back(-all[i]);
  return all;
}

template <class T>
class MathForms : public test::CompilerTest {
 protected:
  static constexpr size_t count = 1 << 14;
  static constexpr const char* type = sizeof(T) == 4 ? "float" : "double";

  // x: numbers all over the range, others nearer to 1, powers whose results are denormal, and each
  // special number beside each as y.
  MathForms() {
    const std::vector<T> special = specialNumbers<T>();
    for (const T a : special)
      for (const T b : special) add(a, b);
    while (x_.size() < count / 2) {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      const T any = std::bit_cast<T>(static_cast<Bits<T>>(random_ >> (64 - 8 * sizeof(T))));
      add(any, T(700) / std::log2(std::abs(any)) * T(0.17));
    }
    while (x_.size() < count) {
      const double part = static_cast<double>(x_.size() - count / 2) / (count / 2);
      const double least = std::numeric_limits<T>::min_exponent * 1.2;
      add(T(x_.size() % 8 == 0 ? part * least : part * 40 - 20), T(std::sin(part * 1000) * 30));
    }
  }

  // For each expression of x and y, out[i], in vectors of `width` and groups of `local`; C(c) is a
  // constant of the vectors' type.
  std::vector<std::vector<T>> evaluate(std::span<const std::string> expressions, size_t width,
                                       uint64_t local) {
    const std::string n = width == 1 ? "" : std::to_string(width), vector = type + n;
    const auto load = [&](const std::string& from) {
      return width == 1 ? from + "[i]" : "vload" + n + "(i, " + from + ")";
    };
    std::string source = "#define C(c) ((" + vector + ")(c))\n";
    for (size_t f = 0; f < expressions.size(); ++f)
      source += "kernel void f" + std::to_string(f) + "(global const " + type +
                "* px, global const " + type + "* py, global " + type +
                "* out) {\n  size_t i = get_global_id(0);\n  const " + vector +
                " x = " + load("px") + ", y = " + load("py") + ", r = " + expressions[f] + ";\n  " +
                (width == 1 ? "out[i] = r" : "vstore" + n + "(r, i, out)") + ";\n}\n";
    const auto built = build(source);
    EXPECT_TRUE(built.ok) << built.log << source;
    std::vector<std::vector<T>> results;
    for (size_t f = 0; built.ok && f < expressions.size(); ++f) {
      std::vector<T>& out = results.emplace_back(count);
      const T *x = x_.data(), *y = y_.data();
      T* to = out.data();
      const uint64_t items = count / width / local * local;
      Program(built.image)
          .run("f" + std::to_string(f), {items, 1, 1}, {local, 1, 1}, {&x, &y, &to});
      out.resize(items * width);
    }
    return results;
  }

  std::vector<T> x_, y_;

 private:
  void add(T x, T y) {
    x_.push_back(x);
    y_.push_back(y);
  }

  uint64_t random_ = 1;
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MathForms, Types);

TYPED_TEST(MathForms, AreTheSameNumberInAllWidths) {
  const std::string expressions[] = {
      "exp(x)",    "exp2(x)",    "exp10(x)",     "expm1(x)",        "log(x)",      "log2(x)",
      "log10(x)",  "log1p(x)",   "sinh(x)",      "cosh(x)",         "tanh(x)",     "asinh(x)",
      "acosh(x)",  "atanh(x)",   "cbrt(x)",      "erf(x)",          "erfc(x)",     "rsqrt(x)",
      "pow(x, y)", "powr(x, y)", "pow(x, C(2))", "pow(x, C(0.5f))", "pow(C(0), y)"};
  const auto expected = this->evaluate(expressions, 1, 64);
  ASSERT_EQ(expected.size(), std::size(expressions));
  for (const auto& [width, local] :
       {std::pair<size_t, uint64_t>{1, 1}, {1, 7}, {2, 64}, {3, 8}, {4, 1}, {8, 5}, {16, 16}}) {
    const auto results = this->evaluate(expressions, width, local);
    ASSERT_EQ(results.size(), expected.size());
    for (size_t f = 0; f < results.size(); ++f)
      for (size_t i = 0; i < results[f].size(); ++i)
        ASSERT_TRUE(same(results[f][i], expected[f][i]))
            << expressions[f] << " width " << width << " local " << local << " of " << this->x_[i]
            << ", " << this->y_[i] << ": " << results[f][i] << ", " << expected[f][i];
  }
}

// More values than registers, and calls of more than are inlined into one function.
TYPED_TEST(MathForms, LeaveOtherValuesAlone) {
  const auto chain = [](int from) {
    std::string sum = "x * 0";
    for (int i = 0; i < 24; ++i) {
      const std::string n = std::to_string(i + from);
      const char* const functions[] = {"exp2(y * ", "log1p(x * x * ", "cbrt(x + ", "powr(y * y, "};
      sum = "(" + sum + " + " + functions[i % 4] + n + ")) * (y + " + n + ")";
    }
    return sum;
  };
  std::string together = "0";
  std::vector<std::string> expressions;
  for (int i = 0; i < 3; ++i) {
    expressions.push_back(chain(i));
    together += " + (" + expressions.back() + ")";
  }
  expressions.push_back(together);
  const auto expected = this->evaluate(expressions, 1, 1);
  const auto results = this->evaluate(expressions, 1, 64);
  ASSERT_EQ(results.size(), expected.size());
  for (size_t f = 0; f < results.size(); ++f)
    for (size_t i = 0; i < results[f].size(); ++i)
      ASSERT_TRUE(same(results[f][i], expected[f][i]))
          << "chain " << f << " of " << this->x_[i] << ", " << this->y_[i];
}

// OpenCL C, 7.4: pow may be off by 16 units in the last place.
TYPED_TEST(MathForms, KnownPowersKeepTheirBound) {
  using Limits = std::numeric_limits<TypeParam>;
  const std::string exponents[] = {"0.0f", "-0.0f", "1.0f", "-1.0f", "2.0f",  "-2.0f",
                                   "3.0f", "-3.0f", "4.0f", "-4.0f", "5.0f",  "-5.0f",
                                   "7.0f", "8.0f",  "9.0f", "0.5f",  "-0.5f", "1.5f"};
  std::vector<std::string> expressions;
  for (const std::string& exponent : exponents)
    expressions.push_back("pow(x, C(" + exponent + "))");
  for (const size_t width : {1, 4}) {
    const auto results = this->evaluate(expressions, width, 64);
    ASSERT_EQ(results.size(), expressions.size());
    for (size_t f = 0; f < results.size(); ++f)
      for (size_t i = 0; i < results[f].size(); ++i) {
        const TypeParam x = this->x_[i], result = results[f][i];
        const long double exact = std::pow(static_cast<long double>(x), std::stof(exponents[f]));
        if (same(result, static_cast<TypeParam>(exact))) continue;
        ASSERT_FALSE(std::isnan(result) || std::isnan(exact) || x == 0 || std::isinf(x))
            << x << " to " << exponents[f] << ": " << result << ", not " << exact;
        if (std::isinf(result)) {
          ASSERT_GT(std::abs(exact), Limits::max() * 0.99999L) << x << " to " << exponents[f];
          continue;
        }
        const int place = std::max(std::ilogb(exact), Limits::min_exponent - 1);
        ASSERT_LE(std::abs(result - exact), 16 * std::ldexp(1.0L, place - Limits::digits + 1))
            << x << " to " << exponents[f];
      }
  }
}

}  // namespace
}  // namespace weft
