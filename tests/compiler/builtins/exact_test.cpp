// OpenCL C 6.15.2, functions with one right answer; 6.15.4, common functions.
#include "tests/compiler/builtins/arrays.h"
#include "tests/compiler/builtins/ulp.h"

namespace weft::test {
namespace {

// Equal values, zeros of either sign included; NaN for NaN.
template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

// Unlike glibc's, these take a signalling NaN for a missing value too, as OpenCL does.
template <class T>
T larger(T x, T y) {
  return x != x ? y : y != y || x > y ? x : y;
}
template <class T>
T smaller(T x, T y) {
  return x != x ? y : y != y || x < y ? x : y;
}

template <class T>
class Exact : public testing::Test {
 protected:
  static const Program& program(const std::string& part) {
    static const Program exact("math_exact_" + std::string(typeName<T>()));
    static const Program faster("math_exact_" + std::string(typeName<T>()), "", MathSource::faster);
    static const Program common("math_common_" + std::string(typeName<T>()));
    return part == "exact" ? exact : part == "faster" ? faster : common;
  }
  template <class R, class... A, class Reference>
  static void check(const std::string& function, Reference reference) {
    checkArrays<R, A...>(program("exact"), function, all_widths, [&](R result, A... arguments) {
      return sameBits<R>(result, reference(arguments...));
    });
  }
  // For results whose zeros may have either sign.
  template <class... A, class Reference>
  static void checkValue(const std::string& part, const std::string& function,
                         Reference reference) {
    checkArrays<T, A...>(program(part), function, all_widths, [&](T result, A... arguments) {
      return same<T>(result, reference(arguments...));
    });
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Exact, Types);

TYPED_TEST(Exact, Rounding) {
  using T = TypeParam;
  this->template check<T, T>("ceil", [](T x) { return std::ceil(x); });
  this->template check<T, T>("fabs", [](T x) { return std::fabs(x); });
  this->template check<T, T>("floor", [](T x) { return std::floor(x); });
  this->template check<T, T>("rint", [](T x) { return std::nearbyint(x); });
  this->template check<T, T>("round", [](T x) { return std::round(x); });
  this->template check<T, T>("trunc", [](T x) { return std::trunc(x); });
  this->template check<T, T>("sqrt", [](T x) { return std::sqrt(x); });
}

TYPED_TEST(Exact, Parts) {
  using T = TypeParam;
  this->template check<T, T>("logb", [](T x) { return std::logb(x); });
  this->template check<int, T>("ilogb", [](T x) {
    if (x == 0) return INT_MIN;
    return x != x ? INT_MAX : std::ilogb(x);
  });
  this->template check<T, T, T>("copysign", [](T x, T y) { return std::copysign(x, y); });
  this->template check<T, T, T>("nextafter", [](T x, T y) { return std::nextafter(x, y); });
  this->template check<T, T, int>("ldexp", [](T x, int k) { return std::ldexp(x, k); });
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  checkArrays<T, U>(this->program("exact"), "nan", all_widths,
                    [](T result, U) { return result != result; });
}

TYPED_TEST(Exact, Comparisons) {
  using T = TypeParam;
  this->template checkValue<T, T>("exact", "fdim", [](T x, T y) { return std::fdim(x, y); });
  this->template checkValue<T, T>("exact", "fmax", [](T x, T y) { return larger(x, y); });
  this->template checkValue<T, T>("exact", "fmin", [](T x, T y) { return smaller(x, y); });
  this->template checkValue<T, T>("exact", "maxmag", [](T x, T y) {
    return std::fabs(x) > std::fabs(y) ? x : std::fabs(y) > std::fabs(x) ? y : larger(x, y);
  });
  this->template checkValue<T, T>("exact", "minmag", [](T x, T y) {
    return std::fabs(x) < std::fabs(y) ? x : std::fabs(y) < std::fabs(x) ? y : smaller(x, y);
  });
}

TYPED_TEST(Exact, Fma) {
  using T = TypeParam;
  this->template check<T, T, T, T>("fma", [](T x, T y, T z) { return std::fma(x, y, z); });
}

template <class T, class P>
struct Second {
  std::vector<T> result;
  std::vector<P> second;
};

template <class P, class T, class... A>
Second<T, P> runWithPointer(const Program& program, const std::string& name,
                            const std::vector<T>& x, const std::vector<A>&... rest) {
  Second<T, P> first;
  for (const std::string width : {"", "2", "3", "4", "8", "16"}) {
    Second<T, P> r{std::vector<T>(array_elements), std::vector<P>(array_elements)};
    program.get<void(T*, P*, const T*, const A*..., uint64_t)>("run_" + name + "_" + width)(
        r.result.data(), r.second.data(), x.data(), rest.data()..., array_elements);
    if (width.empty()) first = r;
    for (size_t i = 0; i < array_elements; ++i)
      if (!sameBits(r.result[i], first.result[i]) || !sameBits(r.second[i], first.second[i])) {
        ADD_FAILURE() << name << width << " differs from the scalar for " << x[i];
        break;
      }
  }
  return first;
}

TYPED_TEST(Exact, SecondResults) {
  using T = TypeParam;
  const std::vector<T> x = argumentValues<T>(0), y = argumentValues<T>(1);
  const Program& program = this->program("exact");
  const auto fract = runWithPointer<T>(program, "fract", x);
  const auto frexp = runWithPointer<int>(program, "frexp", x);
  const auto modf = runWithPointer<T>(program, "modf", x);
  for (size_t i = 0; i < array_elements; ++i) {
    const T floor = std::floor(x[i]);
    const T below_one = std::nextafter(T(1), T(0));
    T part = std::isinf(x[i]) ? std::copysign(T(0), x[i]) : std::fmin(x[i] - floor, below_one);
    if (x[i] == 0) part = x[i];
    if (x[i] != x[i]) part = x[i];
    ASSERT_TRUE(sameBits(fract.result[i], part) && sameBits(fract.second[i], floor)) << x[i];

    int exponent = 0;
    ASSERT_TRUE(sameBits(frexp.result[i], std::frexp(x[i], &exponent))) << x[i];
    if (std::isfinite(x[i])) {
      ASSERT_EQ(frexp.second[i], exponent) << x[i];
    }

    T whole;
    ASSERT_TRUE(sameBits(modf.result[i], std::modf(x[i], &whole))) << x[i];
    ASSERT_TRUE(sameBits(modf.second[i], whole)) << x[i];
  }
}

template <class T>
void checkRemainders(const Program& program) {
  checkArrays<T, T, T>(program, "fmod", all_widths,
                       [](T result, T x, T y) { return sameBits<T>(result, std::fmod(x, y)); });
  checkArrays<T, T, T>(program, "remainder", all_widths, [](T result, T x, T y) {
    return sameBits<T>(result, std::remainder(x, y));
  });
  const std::vector<T> x = argumentValues<T>(0), y = argumentValues<T>(1);
  const auto remquo = runWithPointer<int>(program, "remquo", x, y);
  for (size_t i = 0; i < array_elements; ++i) {
    int quotient = 0;
    ASSERT_TRUE(sameBits(remquo.result[i], std::remquo(x[i], y[i], &quotient)))
        << x[i] << " " << y[i] << " gives " << remquo.result[i];
    // glibc gives three bits, OpenCL wants seven.
    if (remquo.result[i] == remquo.result[i]) {
      ASSERT_EQ(remquo.second[i] % 8, quotient % 8) << x[i] << " " << y[i];
      ASSERT_LT(std::abs(remquo.second[i]), 128);
    }
  }
}

TYPED_TEST(Exact, Remainders) {
  checkRemainders<TypeParam>(this->program("exact"));
  checkRemainders<TypeParam>(this->program("faster"));
}

// A multiple of y, half of one, or next to it; and quotients of more bits than the type has.
template <class T>
void makeHard(std::vector<T>& x, std::vector<T>& y) {
  std::mt19937 random(5);
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = std::ldexp(T(1) + static_cast<T>(random()) / T(1ull << 32), int(random() % 60) - 30);
    if (i % 16 == 0) y[i] = std::numeric_limits<T>::denorm_min() * T(1 + random() % 9);
    const T multiple = y[i] * (T(random() % 4000) / 2);
    x[i] = i % 3 == 0 ? multiple : std::nextafter(multiple, i % 3 == 1 ? T(0) : T(INFINITY));
    if (i % 5 == 0) x[i] = std::numeric_limits<T>::max() / T(1 + random() % 1000);
    if (random() % 2) x[i] = -x[i];
    if (random() % 2) y[i] = -y[i];
  }
}
template <class T>
void checkHard(const Program& program) {
  std::vector<T> x(array_elements), y(array_elements);
  makeHard(x, y);
  const auto fmod = runArrays<T, T, T>(program, "fmod", all_widths, x, y);
  const auto remquo = runWithPointer<int>(program, "remquo", x, y);
  for (size_t i = 0; i < array_elements; ++i) {
    int quotient = 0;
    ASSERT_TRUE(sameBits<T>(fmod[i], std::fmod(x[i], y[i]))) << x[i] << " " << y[i];
    ASSERT_TRUE(sameBits<T>(remquo.result[i], std::remquo(x[i], y[i], &quotient)))
        << x[i] << " " << y[i];
    ASSERT_EQ(remquo.second[i] % 8, quotient % 8) << x[i] << " " << y[i];
  }
}
TYPED_TEST(Exact, HardRemainders) {
  checkHard<TypeParam>(this->program("exact"));
  checkHard<TypeParam>(this->program("faster"));
}

void checkSevenBits(const Program& program) {
  std::vector<double> x(array_elements, 1), y(array_elements, 1);
  const double given[][2] = {{200.25, 1}, {-200.25, 1}, {1e10, 3}, {127.6, 1}, {130, -1}};
  const int expected[] = {200 & 127, -(200 & 127), int(3333333333 & 127), 0, -2};
  for (size_t i = 0; i < 5; ++i) {
    x[i] = given[i][0];
    y[i] = given[i][1];
  }
  const auto result = runWithPointer<int>(program, "remquo", x, y);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(result.second[i], expected[i]) << i;
}
TEST(Remquo, SevenBitsOfTheQuotient) {
  checkSevenBits(Program("math_exact_double"));
  checkSevenBits(Program("math_exact_double", "", MathSource::faster));
}

TYPED_TEST(Exact, Common) {
  using T = TypeParam;
  this->template checkValue<T, T>("common", "max", [](T x, T y) { return x < y ? y : x; });
  this->template checkValue<T, T>("common", "min", [](T x, T y) { return y < x ? y : x; });
  this->template checkValue<T, T>("common", "step", [](T e, T x) { return x < e ? T(0) : T(1); });
  this->template checkValue<T>("common", "sign", [](T x) {
    return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? x : T(0);
  });
  const Program& program = this->program("common");
  checkArrays<T, T, T, T>(program, "clamp", all_widths, [](T result, T x, T low, T high) {
    return !(low <= high) || x != x || same(result, std::fmin(std::fmax(x, low), high));
  });
  const auto near = [](T result, long double exact, double ulp) {
    return ulpError(result, exact) <= ulp;
  };
  checkArrays<T, T>(program, "degrees", all_widths, [&](T result, T x) {
    return near(result, x * 57.295779513082320876798154814105170332L, 2);
  });
  checkArrays<T, T>(program, "radians", all_widths, [&](T result, T x) {
    return near(result, x * 0.017453292519943295769236907684886L, 2);
  });
  checkArrays<T, T, T, T>(program, "mad", all_widths, [&](T result, T x, T y, T z) {
    return same(result, T(x * y + z)) || same(result, std::fma(x, y, z));
  });
  checkArrays<T, T, T, T>(program, "mix", all_widths, [&](T result, T x, T y, T a) {
    return same(result, T(x + T(T(y - x) * a)));
  });
  checkArrays<T, T, T, T>(program, "smoothstep", all_widths, [&](T result, T e0, T e1, T x) {
    if (!(e0 < e1) || x != x || !std::isfinite(e1 - e0) || !std::isfinite(x - e0)) return true;
    const T t = std::fmin(std::fmax(T(x - e0) / T(e1 - e0), T(0)), T(1));
    return same(result, T(T(t * t) * T(3 - T(2 * t))));
  });
}

}  // namespace
}  // namespace weft::test
