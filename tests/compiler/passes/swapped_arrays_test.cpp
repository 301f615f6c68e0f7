// Private arrays whose pointers a loop exchanges.
#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

constexpr char source[] = R"(
  kernel void distance(global const int* a, global const int* b, global int* out, int m, int n) {
    const size_t g = get_global_id(0);
    int first[24], second[20];
    int *before = first, *now = second + 1;
    for (int j = 0; j <= m; ++j) before[j] = j;
    for (int i = 1; i <= n; ++i) {
      now[0] = i;
      const int c = b[g * n + i - 1];
      for (int j = 1; j <= m; ++j) {
        const int up = before[j] + 1, left = now[j - 1] + 1, both = before[j - 1] + (a[j - 1] != c);
        const int less = up < left ? up : left;
        now[j] = less < both ? less : both;
      }
      int* t = before;
      before = now;
      now = t;
    }
    out[g] = before[m];
  })";
constexpr int m = 17, n = 19, items = 37;

std::vector<int> run(bool optimise, Vectorising vectorise) {
  std::vector<int> a(m), b(items * n), out(items);
  for (int j = 0; j < m; ++j) a[static_cast<size_t>(j)] = j * j % 5;
  for (int i = 0; i < items * n; ++i) b[static_cast<size_t>(i)] = i * 7 % 11 % 5;
  Program(source, optimise, vectorise)
      .run("distance", {1, {items, 1, 1}, {items, 1, 1}, {0, 0, 0}},
           {Program::buffer(a.data()), Program::buffer(b.data()), Program::buffer(out.data()),
            Program::value(m), Program::value(n)});
  return out;
}

TEST(SwappedArrays, AreAccessedByAllLanesAtOnce) {
  const std::string text = optimisedText(source, "distance");
  EXPECT_NE(text.find(".lane.simd"), std::string::npos);
  EXPECT_EQ(text.find("scatter"), std::string::npos);
}

TEST(SwappedArrays, KeepTheirValues) {
  const std::vector<int> want = run(false, Vectorising::never);
  EXPECT_EQ(run(true, Vectorising::never), want);
  EXPECT_EQ(run(true, Vectorising::automatic), want);
  EXPECT_EQ(run(true, Vectorising::always), want);
}

}  // namespace
}  // namespace weft::test
