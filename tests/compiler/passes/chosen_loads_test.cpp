// Loads from one of two places, chosen by each work-item.
#include <regex>

#include <gtest/gtest.h>

#include "tests/compiler/passes/guarded_buffer.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

constexpr int items = 96, half = 41;

// Work-items behind the end of `b` do not choose it.
constexpr const char* kernels = R"(
  int min(int a, int b) { return a < b ? a : b; }
  kernel void plain(global const T* a, global const T* b, global const uchar* c, global T* out,
                    int n) {
    const int i = get_global_id(0);
    out[i] = c[i] ? a[i] : b[i];
  }
  kernel void loop(global const T* a, global const T* b, global const uchar* c, global T* out,
                   int n) {
    for (int i = get_global_id(0); i < n; i += get_global_size(0) / 3)
      if (get_global_id(0) < get_global_size(0) / 3) out[i] = c[i] ? a[i] : b[i];
  }
  kernel void offset(global const T* a, global const T* b, global const uchar* c, global T* out,
                     int n) {
    const int i = get_global_id(0);
    const int from = get_group_id(0);
    out[i] = (c[i] ? a + from : b)[min(i, n - 1 - from)] + (c[n - 1 - i] ? a[n - 1 - i] : b[0]);
  }
  kernel void three(global const T* a, global const T* b, global const uchar* c, global T* out,
                    int n) {
    const int i = get_global_id(0);
    out[i] = c[i] ? (c[i] & 2 ? a[i] : a[n - 1 - i]) : b[i];
  })";

template <class T>
void check(const std::string& type) {
  const std::string source = std::regex_replace(kernels, std::regex("\\bT\\b"), type);
  const Program lanes(source, true, compiler::Vectorising::never);
  const Program vectors(source, true, compiler::Vectorising::always);
  const Program usual(source);
  const GuardedBuffer a(items * sizeof(T)), b(half * sizeof(T));
  std::vector<uint8_t> c(items);
  for (int i = 0; i < items; ++i) c[static_cast<size_t>(i)] = i < half ? i * 7 % 3 : 1 + i % 3;
  for (const char* kernel : {"plain", "loop", "offset", "three"}) {
    const auto results = [&](const Program& program) {
      std::vector<T> out(items);
      program.run(kernel, {1, {items, 1, 1}, {32, 1, 1}, {0, 0, 0}},
                  {Program::buffer(a.begin()), Program::buffer(b.begin()),
                   Program::buffer(c.data()), Program::buffer(out.data()), Program::value(items)});
      return out;
    };
    EXPECT_EQ(results(vectors), results(lanes)) << type << " " << kernel;
    EXPECT_EQ(results(usual), results(lanes)) << type << " " << kernel;
  }
}

TEST(ChosenLoads, OfEachType) {
  check<int32_t>("int");
  check<int64_t>("long");
  check<uint8_t>("uchar");
  check<int16_t>("short");
  check<float>("float");
}

// Also where the place is counted in 32 bits by steps of 64.
TEST(ChosenLoads, AreWholeVectors) {
  for (const char* counter : {"i < n; i += get_global_size(0)", "i == get_global_id(0); ++i"}) {
    const std::string text = optimisedText(
        std::string("kernel void choose(global const float* a, global const float* b, "
                    "global const uchar* c, global float* out, int n) {\n"
                    "  for (int i = get_global_id(0); ") +
            counter + ") out[i] = c[i] ? a[i] : b[i];\n}",
        "choose");
    EXPECT_TRUE(std::regex_search(text, std::regex("masked\\.load\\.v\\d+f32"))) << text;
  }
}

}  // namespace
}  // namespace weft::test
