// Functions of the source's vectors do to each element what those of single elements do, to the
// last bit, whichever elements of whichever work-items a processor's vectors hold (OpenCL
// C 6.15.2).
#include <cstring>
#include <random>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr const char* functions[] = {"sin(x)",      "cos(x)",      "tan(x)",     "exp(x)",
                                     "exp2(x)",     "log(x)",      "log2(x)",    "cbrt(x)",
                                     "atan(x)",     "asin(x)",     "tanh(x)",    "asinh(x)",
                                     "erf(x)",      "sinpi(x)",    "pow(x, y)",  "powr(fabs(x), y)",
                                     "atan2(x, y)", "hypot(x, y)", "fmod(x, y)", "exp(sin(x) * y)",
                                     "expm1(x)",    "log1p(y)",    "exp10(x)",   "acosh(fabs(x))",
                                     "erfc(x)",     "tanpi(x)",    "sinh(x)",    "remainder(x, y)"};
constexpr unsigned rounds = 3;

struct MathVectorsCase {
  const char* type;
  unsigned width;
};

class MathVectors : public Programs, public testing::WithParamInterface<MathVectorsCase> {
 protected:
  // For vectors of `width` elements, one per work-item; some leave early, some in other turns.
  static std::string source(const std::string& type, unsigned width) {
    const std::string n = width > 1 ? std::to_string(width) : "", all = type + n;
    const auto access = [&](const std::string& name, const std::string& at) {
      return width > 1 ? "vload" + n + "(" + at + ", " + name + ")" : name + "[" + at + "]";
    };
    std::string text = "kernel void k(global const " + type + "* a, global const " + type +
                       "* b, global " + type + "* out, uint total, uint elements) {\n" +
                       "  const size_t g = get_global_id(0), item = g * " + std::to_string(width) +
                       " / elements;\n  if (item % 7 == 5) return;\n  " + all +
                       " x = " + access("a", "g") + ", y = " + access("b", "g") +
                       ";\n  for (uint i = 0; i < 1 + item % " + std::to_string(rounds) +
                       "; ++i) {\n    " + all + " r;\n    size_t at = g;\n";
    for (const char* function : functions) {
      text += std::string("    r = ") + function + ";\n    ";
      text += width > 1 ? "vstore" + n + "(r, at, out);" : "out[at] = r;";
      text += " at += total / " + std::to_string(width) + ";\n";
    }
    return text + "    x = r;\n  }\n}\n";
  }

  template <class T>
  void compare(unsigned width) {
    constexpr size_t items = 192;
    const size_t total = items * width;
    std::mt19937 random(7);
    std::uniform_real_distribution<T> ordinary(T(-4), T(4));
    std::vector<T> a(total), b(total);
    for (size_t i = 0; i < total; ++i) {
      a[i] = i % 17 == 3 ? ordinary(random) * T(1e6) : ordinary(random);
      b[i] = ordinary(random);
    }
    const auto results = [&](unsigned elements) {
      const OwnedKernel k = kernel(built(source(GetParam().type, elements)), "k");
      const OwnedMem in = upload(a), other = upload(b),
                     out = upload(std::vector<T>(total * std::size(functions)));
      set(k, in, other, out, static_cast<cl_uint>(total), static_cast<cl_uint>(width));
      run(k, {{total / elements}});
      return download<T>(out);
    };
    const std::vector<T> one = results(1), vectors = results(width);
    for (size_t i = 0; i < one.size(); ++i)
      ASSERT_TRUE(std::memcmp(&one[i], &vectors[i], sizeof(T)) == 0 ||
                  (one[i] != one[i] && vectors[i] != vectors[i]))
          << functions[i / total] << " of element " << i % total << ": " << vectors[i] << ", not "
          << one[i];
  }
};

TEST_P(MathVectors, AreThoseOfTheirElements) {
  if (GetParam().type[0] == 'f') return compare<cl_float>(GetParam().width);
  compare<cl_double>(GetParam().width);
}

INSTANTIATE_TEST_SUITE_P(Types, MathVectors,
                         testing::Values(MathVectorsCase{"float", 2}, MathVectorsCase{"float", 3},
                                         MathVectorsCase{"float", 4}, MathVectorsCase{"float", 8},
                                         MathVectorsCase{"float", 16}, MathVectorsCase{"double", 2},
                                         MathVectorsCase{"double", 3},
                                         MathVectorsCase{"double", 8}),
                         [](const auto& info) {
                           return info.param.type + std::to_string(info.param.width);
                         });

}  // namespace
}  // namespace weft::e2e
