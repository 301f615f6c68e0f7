// OpenCL C 6.15.5 geometric, 6.15.6 relational, 6.15.7 half storage, 6.15.12 shuffles.
#include <bit>

#include "tests/compiler/builtins/arrays.h"
#include "tests/compiler/builtins/ulp.h"

namespace weft::test {
namespace {

const Program& program() {
  static const Program instance("vectors");
  return instance;
}

using Predicate1 = bool (*)(float);
using Predicate2 = bool (*)(float, float);

void compareRelational(const char* name, const std::vector<int>& scalar,
                       const std::vector<int>& four, const std::vector<int64_t>& two, size_t i,
                       bool expected) {
  ASSERT_EQ(scalar[i], expected ? 1 : 0) << name << " " << i;
  ASSERT_EQ(four[i], expected ? -1 : 0) << name << " " << i;
  // Denormal floats are normal doubles.
  if (i % 4 < 2 && std::string(name) != "isnormal") {
    ASSERT_EQ(two[i / 4 * 2 + i % 4], expected ? -1 : 0) << name << " " << i;
  }
}

TEST(Relational, Comparisons) {
  const std::pair<const char*, Predicate2> rows[] = {
      {"isequal", [](float x, float y) { return x == y; }},
      {"isnotequal", [](float x, float y) { return x != y; }},
      {"isgreater", [](float x, float y) { return x > y; }},
      {"isgreaterequal", [](float x, float y) { return x >= y; }},
      {"isless", [](float x, float y) { return x < y; }},
      {"islessequal", [](float x, float y) { return x <= y; }},
      {"islessgreater", [](float x, float y) { return x < y || x > y; }},
      {"isordered", [](float x, float y) { return x == x && y == y; }},
      {"isunordered", [](float x, float y) { return x != x || y != y; }},
  };
  const auto x = argumentValues<float>(0), y = argumentValues<float>(1);
  for (const auto& [name, expected] : rows) {
    std::vector<int> r(array_elements), r4(array_elements);
    alignas(64) std::vector<int64_t> r2(array_elements / 2);
    program().get<void(int*, int*, int64_t*, const float*, const float*, uint64_t)>(
        std::string("run_") + name)(r.data(), r4.data(), r2.data(), x.data(), y.data(),
                                    array_elements);
    for (size_t i = 0; i < array_elements; ++i)
      compareRelational(name, r, r4, r2, i, expected(x[i], y[i]));
  }
}

TEST(Relational, Classes) {
  const std::pair<const char*, Predicate1> rows[] = {
      {"isfinite", [](float x) { return std::isfinite(x); }},
      {"isinf", [](float x) { return std::isinf(x); }},
      {"isnan", [](float x) { return std::isnan(x); }},
      {"isnormal", [](float x) { return std::isnormal(x); }},
      {"signbit", [](float x) { return std::signbit(x); }},
  };
  const auto x = argumentValues<float>(0);
  for (const auto& [name, expected] : rows) {
    std::vector<int> r(array_elements), r4(array_elements);
    std::vector<int64_t> r2(array_elements / 2);
    program().get<void(int*, int*, int64_t*, const float*, uint64_t)>(std::string("run_") + name)(
        r.data(), r4.data(), r2.data(), x.data(), array_elements);
    for (size_t i = 0; i < array_elements; ++i)
      compareRelational(name, r, r4, r2, i, expected(x[i]));
  }
}

TEST(Relational, Selections) {
  int r[16] = {};
  program().get<void(int*)>("selections")(r);
  const int expected[16] = {
      1, 0, 0, 1, 1, 0, 5, 2, 7, 4, 20, 10, 20, std::bit_cast<int>(-1.0f), 0x330f, 0x3f};
  for (int i = 0; i < 16; ++i) EXPECT_EQ(r[i], expected[i]) << i;
}

template <class T>
void checkGeometric(unsigned width) {
  const auto x = argumentValues<T>(0), y = argumentValues<T>(1);
  const size_t count = array_elements / width;
  std::vector<T> r(8 * count);
  program().get<void(T*, const T*, const T*, uint64_t)>("geometric_" + std::string(typeName<T>()) +
                                                        (width == 1 ? "" : std::to_string(width)))(
      r.data(), x.data(), y.data(), count);
  for (size_t i = 0; i < count; ++i) {
    long double square = 0, gap = 0, largest = 0;
    bool usual = true;
    for (unsigned k = 0; k < width; ++k) {
      const long double a = x[width * i + k], b = y[width * i + k];
      usual = usual && std::isfinite(a) && std::isfinite(b) && std::isfinite(T(a - b));
      square += a * a;
      gap += (a - b) * (a - b);
      largest = std::max({largest, std::fabs(a), std::fabs(b)});
    }
    if (!usual) continue;
    const double bound = 2.75 + 0.5 * width;
    ASSERT_LE(ulpError(r[8 * i + 1], std::sqrt(square)), bound) << x[width * i];
    ASSERT_LE(ulpError(r[8 * i + 2], std::sqrt(gap)), 2 * bound) << x[width * i] << y[width * i];
    for (unsigned k = 0; k < width && square != 0; ++k)
      ASSERT_LE(ulpError(r[8 * i + 3 + k], x[width * i + k] / std::sqrt(square)), 2 + width)
          << x[width * i + k];
  }
}

TEST(Geometric, LengthsNeitherOverflowNorUnderflow) {
  for (unsigned width = 1; width <= 4; ++width) {
    checkGeometric<float>(width);
    checkGeometric<double>(width);
  }
}

TEST(Geometric, NormalizeOfInfinityAndNan) {
  const float inf = INFINITY;
  const float x[12] = {inf, -inf, 5, 0, 0, 0, NAN, inf, 1, -0.0f, 3, 4}, y[12] = {};
  float r[32];
  program().get<void(float*, const float*, const float*, uint64_t)>("geometric_float3")(r, x, y, 4);
  EXPECT_FLOAT_EQ(r[3], std::sqrt(0.5f));
  EXPECT_FLOAT_EQ(r[4], -std::sqrt(0.5f));
  EXPECT_EQ(r[5], 0);
  EXPECT_EQ(r[8 + 3], 0);
  EXPECT_TRUE(std::isnan(r[16 + 3]) && std::isnan(r[16 + 5]));
  EXPECT_FLOAT_EQ(r[24 + 5], 0.8f);
}

TEST(Geometric, CrossAndFastForms) {
  double r[10];
  program().get<void(double*)>("crosses")(r);
  const double expected[10] = {-3, -18, 13, -3, -18, 13, 0, 5, 5, 0.8};
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(r[i], expected[i], 1e-6) << i;
}

// A half by its bits, exactly.
long double halfValue(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 31) return mantissa ? NAN : bits >> 15 ? -INFINITY : INFINITY;
  const long double value = exponent ? std::ldexp(1024.0L + mantissa, exponent - 25)
                                     : std::ldexp(static_cast<long double>(mantissa), -24);
  return bits >> 15 ? -value : value;
}

// Is `bits` the right neighbour of x among the halves?
bool isRounded(uint16_t bits, long double x, const std::string& mode) {
  const long double value = halfValue(bits);
  if (x != x) return value != value;
  if (value == x) return true;
  if (std::signbit(value) != std::signbit(x)) return false;
  // Bits of one sign are ordered like their values: the neighbour on the other side of x.
  const bool above = std::fabs(value) > std::fabs(x);
  const auto other_bits = static_cast<uint16_t>(above ? bits - 1 : bits + 1);
  if (std::isinf(value) && !above) return false;
  const long double other = halfValue(other_bits);
  const bool between = above ? std::fabs(other) <= std::fabs(x) : std::fabs(other) >= std::fabs(x);
  if (!between) return false;
  if (mode == "_rtz") return !above;
  if (mode == "_rtp") return value > x;
  if (mode == "_rtn") return value < x;
  const auto finite = [](long double v) { return std::isinf(v) ? 65536.0L : std::fabs(v); };
  const long double own = std::fabs(finite(value) - std::fabs(x));
  const long double rival = std::fabs(finite(other) - std::fabs(x));
  if (std::isinf(value) && std::fabs(x) >= 65536) return true;
  return own < rival || (own == rival && bits % 2 == 0);
}

template <class T>
void checkHalfStores() {
  std::vector<T> x = argumentValues<T>(0);
  // Ties between halves, and the values around them.
  for (size_t i = 0; i < 2000; ++i) {
    const auto tie = static_cast<T>(
        (halfValue(static_cast<uint16_t>(i * 15)) + halfValue(static_cast<uint16_t>(i * 15 + 1))) /
        2);
    x[array_elements - 1 - 3 * i] = tie;
    x[array_elements - 2 - 3 * i] = std::nextafter(tie, T(0));
    x[array_elements - 3 - 3 * i] = std::nextafter(-tie, T(-1e9));
  }
  for (const std::string mode : {"", "_rte", "_rtz", "_rtp", "_rtn"}) {
    std::vector<uint16_t> r(array_elements), r3(array_elements), r8(array_elements),
        a3(array_elements / 3 * 4);
    program().get<void(uint16_t*, uint16_t*, uint16_t*, uint16_t*, const T*, uint64_t)>(
        "half_" + std::string(typeName<T>()) + mode)(r.data(), r3.data(), r8.data(), a3.data(),
                                                     x.data(), array_elements);
    for (size_t i = 0; i < array_elements; ++i) {
      ASSERT_TRUE(isRounded(r[i], x[i], mode)) << std::hexfloat << x[i] << mode << " " << r[i];
      ASSERT_EQ(r3[i], r[i]);
      ASSERT_EQ(r8[i], r[i]);
      ASSERT_EQ(a3[i / 3 * 4 + i % 3], r[i]);
    }
  }
}

TEST(Half, StoresRoundFloats) { checkHalfStores<float>(); }
TEST(Half, StoresRoundDoubles) { checkHalfStores<double>(); }

TEST(Half, LoadsAreExact) {
  constexpr size_t count = 65536 / 48 * 48;
  std::vector<uint16_t> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = static_cast<uint16_t>(i);
  std::vector<float> r(count), r3(count), a16(count);
  program().get<void(float*, float*, float*, const uint16_t*, uint64_t)>("half_loads")(
      r.data(), r3.data(), a16.data(), x.data(), count);
  for (size_t i = 0; i < count; ++i) {
    const auto expected = static_cast<float>(halfValue(x[i]));
    ASSERT_TRUE(sameBits(r[i], expected) && sameBits(r3[i], expected) && sameBits(a16[i], expected))
        << i;
  }
}

TEST(Shuffle, MasksUseTheirLowBits) {
  uint32_t r[14];
  program().get<void(uint32_t*)>("all_shuffles")(r);
  const uint32_t expected[14] = {115, 100, 103, 103, 100, 115, 108,
                                 107, 100, 115, 109, 101, 103, 100};
  for (int i = 0; i < 14; ++i) EXPECT_EQ(r[i], expected[i]) << i;
}

}  // namespace
}  // namespace weft::test
