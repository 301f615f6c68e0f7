// What the options of OpenCL 5.8.6.2 and 5.8.6.3 and the FP_CONTRACT pragma do to arithmetic.
#include <cfloat>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class MathOptions : public Programs {
 protected:
  static constexpr size_t count = 4096;

  // out[i] = expression of float x = a[i], y = b[i], z = c[i]
  std::vector<cl_float> evaluate(const std::string& expression, const char* options,
                                 const std::string& before = {}) const {
    const OwnedKernel k = kernel(
        built(before +
                  "kernel void k(global const float* a, global const float* b, global const float* "
                  "c, global float* out) {\n"
                  "  size_t i = get_global_id(0); float x = a[i], y = b[i], z = c[i];\n"
                  "  out[i] = " +
                  expression + ";\n}\n",
              options),
        "k");
    const OwnedMem a = upload(x), b = upload(y), c = upload(z),
                   out = upload(std::vector<cl_float>(count));
    set(k, a, b, c, out);
    run(k, {{count}});
    return download<cl_float>(out);
  }
  // x, y in [0.5, 2) with full mantissas, z = -x * y rounded.
  void SetUp() override {
    Programs::SetUp();
    std::mt19937 random(5);
    std::uniform_real_distribution<float> ordinary(0.5f, 2.0f);
    for (size_t i = 0; i < count; ++i) {
      x.push_back(ordinary(random));
      y.push_back(ordinary(random));
      z.push_back(-(x[i] * y[i]));
    }
  }
  std::vector<cl_float> x, y, z;
};

TEST_F(MathOptions, ContractionsOnlyWhereTheyAreAllowed) {
  const std::vector<cl_float> zeros(count);
  const std::string off = "#pragma OPENCL FP_CONTRACT OFF\n";
  for (const char* options : {"", "-cl-std=CL3.0", "-cl-opt-disable", "-cl-mad-enable",
                              "-cl-no-signed-zeros", "-cl-finite-math-only"}) {
    EXPECT_EQ(evaluate("x * y + z", options, off), zeros) << options;
    EXPECT_EQ(evaluate("((float4)(x, y, x, y) * (float4)(y, x, y, x) + (float4)z).w", options, off),
              zeros)
        << options;
    // An fma of the program stays one.
    const auto exact = evaluate("fma(x, y, z)", options, off);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(exact[i], std::fma(x[i], y[i], z[i]));
    // Across statements nothing is contracted even where it is on.
    EXPECT_EQ(evaluate("0; float product = x * y; out[i] = product + z", options), zeros)
        << options;
  }
  // On, either is right, but nothing else is.
  const auto either = evaluate("x * y + z", "");
  for (size_t i = 0; i < count; ++i)
    ASSERT_TRUE(either[i] == 0 || either[i] == std::fma(x[i], y[i], z[i])) << i;
}

TEST_F(MathOptions, ConstantsBecomeSingle) {
  const std::string before = "constant double table[2] = {0.1, 1e-3};\n";
  const std::string expression =
      "(table[1] == (double)1e-3f) + 2 * (0.1 == (double)0.1f) + 4 * (sizeof(0.1) == 4) +\n"
      "  8 * ((double)x * 0.3 == (double)x * (double)0.3f)";
  EXPECT_EQ(evaluate(expression, "-cl-single-precision-constant", before)[0], 15);
  EXPECT_EQ(evaluate(expression, "", before)[0], 0);
}

// Options that let a compiler take them for impossible do not keep programs from meeting them: a
// logistic function, a logarithm of zero.
TEST_F(MathOptions, InfinitiesOfQuotientsStayWhatTheyAre) {
  for (const char* options :
       {"", "-cl-fast-relaxed-math", "-cl-finite-math-only -cl-unsafe-math-optimizations"}) {
    EXPECT_EQ(evaluate("1 / (1 + exp(200 * x))", options), std::vector<cl_float>(count)) << options;
    EXPECT_EQ(evaluate("log(fmax(x - 3, 0.0f)) / y < -1e30f", options),
              std::vector<cl_float>(count, 1))
        << options;
  }
}

// With the option, and where the device says so without it. Elsewhere a quotient may be 2.5 units
// in the last place off, and a root 3 (OpenCL C, 7.4).
TEST_F(MathOptions, DivisionAndRootsAreRoundedCorrectly) {
  const bool always = deviceInfo<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG) &
                      CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  const auto unit = [](float value) { return std::ldexp(FLT_EPSILON, std::ilogb(value)); };
  for (const char* options : {"-cl-fp32-correctly-rounded-divide-sqrt", ""}) {
    const bool exact = always || *options;
    const auto divided = evaluate("x / y", options), root = evaluate("sqrt(x)", options);
    for (size_t i = 0; i < count; ++i) {
      const float quotient = x[i] / y[i], squared = std::sqrt(x[i]);
      ASSERT_NEAR(divided[i], quotient, exact ? 0 : 2.5f * unit(quotient)) << options;
      ASSERT_NEAR(root[i], squared, exact ? 0 : 3 * unit(squared)) << options;
    }
  }
}

// Of vectors, too, which processors estimate with few bits: 2.5 units in the last place.
TEST_F(MathOptions, RelaxedReciprocalsKeepTheirBound) {
  const OwnedKernel k =
      kernel(built("kernel void k(global float* out, global const float* in, int n) {\n"
                   "  for (int i = 0; i < n; ++i) vstore4(1.0f / vload4(i, in), i, out); }\n",
                   "-cl-fast-relaxed-math"),
             "k");
  constexpr cl_int vectors = 1 << 16;
  std::vector<float> in(4 * size_t{vectors});
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = std::ldexp(1 + static_cast<float>(i * 32) * FLT_EPSILON, 60);
  const OwnedMem from = upload(in), to = upload(std::vector<float>(in.size()));
  set(k, to, from, vectors);
  run(k, {{1}});
  const auto results = download<float>(to);
  for (size_t i = 0; i < in.size(); ++i) {
    const double exact = 1.0 / in[i];
    ASSERT_NEAR(results[i], exact, 2.5 * std::ldexp(FLT_EPSILON, std::ilogb(exact))) << in[i];
  }
}

// The options are hints that let implementations flush: CPUs do. Programs without them keep
// denormals, on threads that have run others, too.
TEST_F(MathOptions, DenormalsStayUnlessTheProgramGivesThemUp) {
  const bool on_cpu = deviceInfo<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
  for (const char* options : {"", "-cl-denorms-are-zero", "", "-cl-unsafe-math-optimizations", "",
                              "-cl-fast-relaxed-math", "", "-cl-no-signed-zeros"}) {
    const bool flushed = std::strstr(options, "-cl-denorms") || std::strstr(options, "math");
    for (const char* const number : {"x * 0x1p-140f", "exp2(-140 + x)"}) {
      const auto small = evaluate(number, options);
      for (size_t i = 0; i < count; ++i) {
        const float kept = number[0] == 'x' ? x[i] * 0x1p-140f : std::exp2(-140 + x[i]);
        if (flushed && (on_cpu || small[i] == 0))
          ASSERT_EQ(small[i], 0) << options << ' ' << number;
        else
          ASSERT_NEAR(small[i], kept, number[0] == 'x' ? 0 : 0x1p-149f) << options << ' ' << number;
      }
    }
  }
}

TEST_F(MathOptions, SpecialValuesUnlessTheProgramGivesThemUp) {
  x = {-0.0f, 0.0f, INFINITY, NAN};
  x.resize(count, 1.0f);
  const auto zero = evaluate("1.0f / (x + 0.0f)", "-cl-mad-enable");
  EXPECT_EQ(zero[0], INFINITY);  // -0 + 0 is +0
  const auto kept = evaluate("1.0f / (x * 1.0f)", "");
  EXPECT_EQ(kept[0], -INFINITY);
  const auto nan = evaluate("isnan(x) + 2 * isinf(x) + 4 * (x != x)", "");
  EXPECT_EQ(nan[2], 2);
  EXPECT_EQ(nan[3], 5);
}

// With none of them may an ordinary value become a wrong one.
TEST_F(MathOptions, OrdinaryValuesAreRightWithAll) {
  for (const char* options :
       {"", "-cl-mad-enable", "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations",
        "-cl-finite-math-only", "-cl-fast-relaxed-math", "-cl-denorms-are-zero",
        "-cl-fast-relaxed-math -cl-opt-disable", "-cl-fast-relaxed-math -cl-std=CL3.0"}) {
    const auto results = evaluate(
        "sin(x) * exp(y) / (x + y) + mad(x, y, pow(y, x)) - log(x * y) * rsqrt(x)", options);
    for (size_t i = 0; i < count; ++i) {
      const double a = x[i], b = y[i];
      const double exact = std::sin(a) * std::exp(b) / (a + b) + a * b + std::pow(b, a) -
                           std::log(a * b) / std::sqrt(a);
      ASSERT_NEAR(results[i], exact, 1e-5) << options << " " << a << " " << b;
    }
  }
}

// -cl-fast-relaxed-math on a library acts at its link with others, where that was allowed.
TEST_F(MathOptions, OptionsOfALink) {
  const OwnedProgram object = compiled("float twice(float x) { return x / 3.0f * 6.0f; }");
  const OwnedProgram user = compiled(
      "float twice(float);\n"
      "kernel void k(global float* out) { size_t i = get_global_id(0); out[i] = twice(i); }\n");
  cl_int code = 1;
  const OwnedProgram library =
      link({object}, "-create-library -enable-link-options -cl-fast-relaxed-math", &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(binaryType(library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
  for (const char* options : {"", "-cl-fast-relaxed-math", "-cl-denorms-are-zero"}) {
    const OwnedProgram linked = link({user, library}, options, &code);
    ASSERT_EQ(code, CL_SUCCESS) << options;
    const OwnedKernel k = kernel(linked, "k");
    const OwnedMem out = upload(std::vector<cl_float>(16));
    set(k, out);
    run(k, {{16}});
    const auto results = download<cl_float>(out);
    for (int i = 0; i < 16; ++i) EXPECT_NEAR(results[i], 2 * i, 1e-5) << options;
  }
  link({user}, "-enable-link-options", &code);
  EXPECT_EQ(code, CL_INVALID_LINKER_OPTIONS);
  link({user}, "-cl-mad-enable", &code);
  EXPECT_EQ(code, CL_INVALID_LINKER_OPTIONS);
}

}  // namespace
}  // namespace weft::e2e
