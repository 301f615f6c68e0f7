// 1 / sqrt(x), from source to numbers.
#include <bit>
#include <cmath>

#include "tests/compiler/fixture.h"
#include "tests/compiler/program.h"

namespace weft {
namespace {

using test::Program;

// Units in the last place that `result` is away from `exact`.
double error(float result, double exact) {
  return std::abs(result - exact) / std::ldexp(1, std::ilogb(exact) - 23);
}

class InverseRoots : public test::CompilerTest {
 protected:
  static constexpr size_t count = 1 << 18;

  // Of numbers all over the range, then of those that are special.
  static std::vector<float> arguments() {
    constexpr uint32_t stride = 16381;  // a prime, so that mantissas differ between exponents
    std::vector<float> all;
    for (uint32_t i = 0; i < count; ++i) all.push_back(std::bit_cast<float>(i * stride));
    const float special[] = {0.0f,      -0.0f,     INFINITY,   -INFINITY,       NAN,
                             0x1p-149f, 0x1p-126f, 0x1p-127f,  0x1.fffffep127f, 1.0f,
                             4.0f,      -1.0f,     -0x1p-149f, 0x1.fffffep-1f,  0x1.000002p0f,
                             2.0f};
    std::copy(std::begin(special), std::end(special), all.begin());
    return all;
  }

  // out[i] = expression of x = in[i], in vectors of `width` and groups of `local`.
  std::vector<float> evaluate(const std::string& expression, size_t width, uint64_t local,
                              const std::string& options = {}) {
    const std::string n = width == 1 ? "" : std::to_string(width);
    const std::string load = width == 1 ? "in[i]" : "vload" + n + "(i, in)";
    const std::string store = width == 1 ? "out[i] = r" : "vstore" + n + "(r, i, out)";
    const auto built = build(
        "kernel void f(global const float* in, global float* out) {\n"
        "  size_t i = get_global_id(0); const float" +
            n + " x = " + load + ";\n  const float" + n + " r = " + expression + "; " + store +
            ";\n}\n",
        options);
    EXPECT_TRUE(built.ok) << built.log;
    std::vector<float> in = arguments(), out(count);
    const uint64_t items = count / width / local * local;
    const float* from = in.data();
    float* to = out.data();
    Program(built.image).run("f", {items, 1, 1}, {local, 1, 1}, {&from, &to});
    out.resize(items * width);
    return out;
  }

  static void check(const std::vector<float>& results, double most) {
    const std::vector<float> in = arguments();
    for (size_t i = 0; i < results.size(); ++i) {
      const float x = in[i];
      if (!(x > 0) || std::isinf(x)) {
        const float exact = 1 / std::sqrt(x);
        if (std::isnan(exact)) {
          ASSERT_TRUE(std::isnan(results[i])) << x;
        } else {
          ASSERT_EQ(std::bit_cast<uint32_t>(results[i]), std::bit_cast<uint32_t>(exact)) << x;
        }
      } else {
        ASSERT_LE(error(results[i], 1 / std::sqrt(static_cast<double>(x))), most) << x;
      }
    }
  }
};

// OpenCL C, 7.4: rsqrt may be off by 2, and a quotient of a root by more.
TEST_F(InverseRoots, KeepTheirBounds) {
  for (const char* expression :
       {"1.0f / sqrt(x)", "rsqrt(x)", "half_rsqrt(x)", "native_rsqrt(x)", "1.0f / native_sqrt(x)"})
    check(evaluate(expression, 1, 64), 2);
  check(evaluate("rsqrt(x)", 1, 64, "-cl-fp32-correctly-rounded-divide-sqrt"), 2);
  check(evaluate("rsqrt(x)", 1, 64, "-cl-opt-disable"), 2);
}

TEST_F(InverseRoots, AreTheSameNumberInAllWidths) {
  for (const std::string expression : {"1.0f / sqrt(x)", "rsqrt(x)"}) {
    const std::vector<float> expected = evaluate(expression, 1, 64);
    for (const auto& [width, local] : {std::pair<size_t, uint64_t>{1, 1},
                                       {1, 7},
                                       {2, 64},
                                       {3, 64},
                                       {4, 1},
                                       {4, 64},
                                       {8, 5},
                                       {16, 16}}) {
      const std::vector<float> results = evaluate(expression, width, local);
      for (size_t i = 0; i < results.size(); ++i)
        ASSERT_TRUE(std::bit_cast<uint32_t>(results[i]) == std::bit_cast<uint32_t>(expected[i]) ||
                    (std::isnan(results[i]) && std::isnan(expected[i])))
            << expression << " width " << width << " local " << local << " at " << i;
    }
  }
}

// Where a branch becomes a choice, and where one element of a vector is all that is wanted.
TEST_F(InverseRoots, AreTheSameNumberWhateverIsAround) {
  const std::vector<float> expected = evaluate("rsqrt(x)", 1, 64);
  for (const char* expression :
       {"x != -1.0f ? rsqrt(x) : x * 0.0f / 0.0f", "x != -1.0f ? 1.0f / sqrt(x) : x * 0.0f / 0.0f",
        "rsqrt((float4)(x, 1.0f, 2.0f, 3.0f)).x", "rsqrt((float2)(x, NAN)).x",
        "rsqrt((float3)(NAN, NAN, x)).z"}) {
    const std::vector<float> results = evaluate(expression, 1, 64);
    for (size_t i = 0; i < results.size(); ++i)
      ASSERT_TRUE(std::bit_cast<uint32_t>(results[i]) == std::bit_cast<uint32_t>(expected[i]) ||
                  (std::isnan(results[i]) && std::isnan(expected[i])))
          << expression << " at " << i;
  }
}

TEST_F(InverseRoots, AreRoundedTwiceWhereTheProgramAsksForIt) {
  const char* const option = "-cl-fp32-correctly-rounded-divide-sqrt";
  const std::vector<float> in = arguments();
  for (const size_t width : {1, 4}) {
    const std::vector<float> results = evaluate("1.0f / sqrt(x)", width, 64, option);
    for (size_t i = 0; i < results.size(); ++i) {
      const float exact = 1 / std::sqrt(in[i]);
      ASSERT_TRUE(results[i] == exact || (std::isnan(results[i]) && std::isnan(exact))) << in[i];
    }
  }
}

// Of doubles rsqrt alone may err, in all widths by the same.
TEST_F(InverseRoots, OfDoublesKeepTheirBound) {
  constexpr size_t items = 1 << 16;
  constexpr uint64_t stride = 140737488355213;
  std::vector<double> in, first;
  for (uint64_t i = 0; i < items; ++i) in.push_back(std::bit_cast<double>(i * stride));
  const double special[] = {0.0,       -0.0,      INFINITY,  -INFINITY,  NAN,
                            0x1p-1074, 0x1p-1022, 0x1p-1023, -0x1p-1074, 0x1.fffffffffffffp1023,
                            1.0,       4.0};
  std::copy(std::begin(special), std::end(special), in.begin());
  for (const size_t width : {1, 2, 3, 4, 8, 16}) {
    const std::string n = width == 1 ? "" : std::to_string(width);
    const auto built = build(
        "kernel void f(global const double* in, global double* out) {\n"
        "  size_t i = get_global_id(0);\n" +
        (width == 1 ? "  out[i] = rsqrt(in[i]);\n}\n"
                    : "  vstore" + n + "(rsqrt(vload" + n + "(i, in)), i, out);\n}\n"));
    ASSERT_TRUE(built.ok) << built.log;
    std::vector<double> out(items);
    const double* from = in.data();
    double* to = out.data();
    const uint64_t count = items / width / 8 * 8;
    Program(built.image).run("f", {count, 1, 1}, {8, 1, 1}, {&from, &to});
    for (size_t i = 0; i < count * width; ++i) {
      const long double exact = 1 / std::sqrt(static_cast<long double>(in[i]));
      if (std::isnan(exact) || std::isinf(exact) || exact == 0) {
        ASSERT_TRUE(std::isnan(exact) ? std::isnan(out[i]) : out[i] == exact) << in[i];
        continue;
      }
      ASSERT_LE(std::abs(out[i] - exact) / std::ldexp(1.0L, std::ilogb(exact) - 52), 2) << in[i];
      if (width > 1) {
        ASSERT_EQ(out[i], first[i]) << in[i] << " width " << width;
      }
    }
    if (width == 1) first = out;
  }
}

// Not what is no quotient of 1 and a root.
TEST_F(InverseRoots, RootsAndQuotientsStayExact) {
  const std::vector<float> in = arguments();
  const auto roots = evaluate("sqrt(x)", 1, 64), quotients = evaluate("1.0f / x", 1, 64);
  const auto both = evaluate("sqrt(x) + 0.0f * (1.0f / sqrt(x))", 1, 64);
  for (size_t i = 0; i < count; ++i) {
    if (!(in[i] > 0) || std::isinf(in[i])) continue;
    ASSERT_EQ(roots[i], std::sqrt(in[i])) << in[i];
    ASSERT_EQ(quotients[i], 1 / in[i]) << in[i];
    ASSERT_EQ(both[i], std::sqrt(in[i])) << in[i];
  }
}

}  // namespace
}  // namespace weft
