// Loads of lanes that lie near each other, but not one after the other.
#include <gtest/gtest.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

#include "tests/compiler/passes/guarded_buffer.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

constexpr int items = 203, elements = 211;

struct Place {
  const char* code;  // of the item g and a number n
  int (*of)(int g, int n);
};
constexpr Place places[] = {
    {"g >> 1", [](int g, int) { return g >> 1; }},
    {"(g >> 2) + n", [](int g, int n) { return (g >> 2) + n; }},
    {"g / 3 + n", [](int g, int n) { return g / 3 + n; }},
    {"(uint)g / 7u", [](int g, int) { return g / 7; }},
    {"(g + 3 * n) >> 1", [](int g, int n) { return (g + 3 * n) >> 1; }},
    {"(g * 5) >> 3", [](int g, int) { return (g * 5) >> 3; }},
    {"(202 - g) >> 1", [](int g, int) { return (202 - g) >> 1; }},
    {"g < 40 ? 40 : g", [](int g, int) { return std::max(g, 40); }},
    {"g > 150 ? 150 : g", [](int g, int) { return std::min(g, 150); }},
    {"n + 200 - g", [](int g, int n) { return n + 200 - g; }},
    {"(uint)n + 206u - (uint)g", [](int g, int n) { return n + 206 - g; }},
    {"n < 0 ? 0 : n * 101 - g", [](int g, int n) { return n * 101 - g; }},
    {"(size_t)(g >> 2) * 3 + 1", [](int g, int) { return (g >> 2) * 3 + 1; }},
    {"(size_t)((uint)g / 9u) * 4 + n", [](int g, int n) { return g / 9 * 4 + n; }},
    {"(g >> 2) * 2 + (g >> 7)", [](int g, int) { return (g >> 2) * 2 + (g >> 7); }},
    {"g / 20 * 4 + 1", [](int g, int) { return g / 20 * 4 + 1; }},
    {"g / 2 + 109", [](int g, int) { return g / 2 + 109; }},  // to the end
};

// All lanes, those in the middle, most of them and few.
struct Choice {
  const char* code;
  bool (*of)(int g);
};
constexpr Choice choices[] = {{"1", [](int) { return true; }},
                              {"g > 3 && g < 190", [](int g) { return g > 3 && g < 190; }},
                              {"g % 5 != 2", [](int g) { return g % 5 != 2; }},
                              {"(g * 7 & 8) == 0", [](int g) { return (g * 7 & 8) == 0; }}};

std::string kernelName(size_t place, size_t choice) {
  return "k" + std::to_string(place) + "_" + std::to_string(choice);
}

// A kernel for each place and choice.
std::string kernels(const std::string& type) {
  std::string source;
  for (size_t p = 0; p < std::size(places); ++p)
    for (size_t c = 0; c < std::size(choices); ++c)
      source += "kernel void " + kernelName(p, c) + "(global const " + type +
                "* in, global int* out, int n) { int g = get_global_id(0); if (" + choices[c].code +
                ") out[g] = in[" + places[p].code + "] + 1; }\n";
  return source;
}

template <class T>
void check(const char* type) {
  const GuardedBuffer in(elements * sizeof(T));
  const auto* const numbers = static_cast<const T*>(in.begin());
  constexpr int n = 2;
  for (const auto form : {Vectorising::automatic, Vectorising::always}) {
    const Program program(kernels(type), true, form);
    for (size_t p = 0; p < std::size(places); ++p)
      for (size_t c = 0; c < std::size(choices); ++c) {
        std::vector<int> out(items, -1);
        program.run(kernelName(p, c), {1, {items, 1, 1}, {items, 1, 1}},
                    {Program::buffer(numbers), Program::buffer(out.data()), Program::value(n)});
        for (int g = 0; g < items; ++g) {
          const bool runs = choices[c].of(g);
          const int expected = runs ? static_cast<int>(numbers[places[p].of(g, n)]) + 1 : -1;
          ASSERT_EQ(out[static_cast<size_t>(g)], expected)
              << places[p].code << ", " << choices[c].code << ", in " << g;
        }
      }
  }
}

TEST(NearLoads, OfBytes) { check<uint8_t>("uchar"); }
TEST(NearLoads, OfHalfWords) { check<int16_t>("short"); }
TEST(NearLoads, OfWords) { check<int>("int"); }
TEST(NearLoads, OfLongs) { check<int64_t>("long"); }

TEST(NearLoads, OfFields) {
  const GuardedBuffer in(elements * sizeof(int[3]));
  const auto* const numbers = static_cast<const int*>(in.begin());
  std::vector<int> out(items);
  Program(
      "typedef struct { int a, b, c; } record;"
      "kernel void k(global const record* in, global int* out) {"
      "  int g = get_global_id(0); out[g] = in[g >> 2].b + in[g / 3 + 20].c; }",
      true, Vectorising::always)
      .run("k", {1, {items, 1, 1}, {items, 1, 1}},
           {Program::buffer(numbers), Program::buffer(out.data())});
  for (int g = 0; g < items; ++g)
    ASSERT_EQ(out[static_cast<size_t>(g)],
              numbers[(g >> 2) * 3 + 1] + numbers[(g / 3 + 20) * 3 + 2])
        << g;
}

TEST(NearLoads, MayGoDown) {
  const std::string text = optimisedText(
      "kernel void k(global const float* in, global float* out, int n) "
      "{ int g = get_global_id(0); for (int i = 0; i < n; ++i) out[g] += in[n * i - g]; }",
      "k", Vectorising::always);
  EXPECT_NE(text.find("i32 2, i32 1, i32 0>"), text.npos) << text;
}

TEST(NearLoads, AreTakenFromOneVector) {
  if (!hostMachine().getTargetTriple().isX86() ||
      !hostMachine().getMCSubtargetInfo()->checkFeatures("+avx2"))
    GTEST_SKIP() << "nothing permutes words here";
  const auto text = [](const std::string& place) {
    return optimisedText(
        "kernel void k(global const float* in, global float* out, int n) "
        "{ int g = get_global_id(0); out[g] = in[" +
            place + "]; }",
        "k", Vectorising::always);
  };
  const auto permutes = [](const std::string& code) {
    return code.find("permvar") != code.npos || code.find("permd") != code.npos;
  };
  EXPECT_TRUE(permutes(text("(g >> 1) + n")));
  EXPECT_FALSE(permutes(text("g * n")));
}

}  // namespace
}  // namespace weft::test
