// Private arrays that work-items keep across barriers, whose elements lie apart in memory.
#include <random>
#include <regex>

#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

constexpr uint64_t group = 24, items = 72;

// Work-items fill an array, go on after barriers with some of its elements, and add all up.
class ArrayKernel {
 public:
  explicit ArrayKernel(uint64_t seed) : random_(seed), count_(3 + below(70)) {
    type_ = pick<6>({"uint", "uchar", "ushort", "ulong", "uint2", "uchar4"});
  }

  std::string text(const std::string& name) {
    text_ = "kernel void " + name +
            "(global const int* in, global int* out, local int* shared, int n) {\n"
            "  const int l = get_local_id(0), g = get_global_id(0);\n  T a[N]" +
            pick<2>({"", " = {0}"}) + ";\n  for (int i = 0; i < N; ++i) a[i] = (T)(in[g + i]);\n";
    for (uint64_t step = 0, steps = 1 + below(3); step < steps; ++step) {
      text_ +=
          "  shared[l] = in[g] + " + std::to_string(step) + ";\n  barrier(CLK_LOCAL_MEM_FENCE);\n";
      if (below(4) == 0) text_ += "  if (l % 3 != 1) {\n";
      const bool guarded = text_.ends_with("{\n");
      change();
      if (below(2) == 0) change();
      if (guarded) text_ += "  }\n";
      text_ += "  barrier(CLK_LOCAL_MEM_FENCE);\n";
    }
    text_ +=
        "  uint sum = 0;\n  for (int i = 0; i < N; ++i) sum = sum * 5 + SUM(a[i]);\n"
        "  out[g] = sum;\n}\n";
    text_ = std::regex_replace(text_, std::regex("\\bT\\b"), type_);
    text_ = std::regex_replace(text_, std::regex("\\bN\\b"), std::to_string(count_));
    const std::string sum = type_ == "uint2" ? "($1.x * 3 + $1.y)" : "($1.x + $1.w)";
    const bool is_scalar = type_ != "uint2" && type_ != "uchar4";
    return std::regex_replace(text_, std::regex("SUM\\(([^;]*)\\);"),
                              (is_scalar ? "(uint)$1" : sum) + ";");
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  template <size_t N>
  std::string pick(const std::array<const char*, N>& from) {
    return from[below(N)];
  }

  void change() {
    text_ += pick<5>({"  for (int i = 0; i < N; ++i) a[i] = a[i] * (T)3 + (T)shared[i % 24];\n",
                      "  for (int i = n; i < N; ++i) a[i] += a[i - n];\n",
                      "  a[in[g] % N] += (T)shared[(l + 1) % 24];\n",
                      "  for (int i = 0; i < in[n] % N; i += 2) a[i] ^= a[N - 1 - i];\n",
                      "  a[0] += a[N - 1]; a[N / 2] = (T)(l + n);\n"});
  }

  std::mt19937_64 random_;
  uint64_t count_;
  std::string type_, text_;
};

TEST(KeptArrays, RandomKernels) {
  constexpr uint64_t programs = 2, kernels = 7;
  std::vector<int> in(items + 128);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 37 % 101);
  for (uint64_t p = 0; p < programs; ++p) {
    std::string source;
    for (uint64_t k = 0; k < kernels; ++k)
      source += ArrayKernel(p * kernels + k).text("k" + std::to_string(k));
    const Program plain(source, false, compiler::Vectorising::never);
    const Program lanes(source, true, compiler::Vectorising::never);
    const Program vectors(source, true, compiler::Vectorising::always);
    const Program usual(source, true, compiler::Vectorising::automatic);
    for (uint64_t k = 0; k < kernels; ++k) {
      const auto results = [&](const Program& program) {
        std::vector<int> out(items);
        program.run("k" + std::to_string(k), {1, {items, 1, 1}, {group, 1, 1}, {0, 0, 0}},
                    {Program::buffer(in.data()), Program::buffer(out.data()),
                     Program::local(group * sizeof(int)), Program::value(2)});
        return out;
      };
      const std::vector<int> expected = results(plain);
      for (const Program* program : {&lanes, &vectors, &usual})
        ASSERT_EQ(results(*program), expected)
            << ArrayKernel(p * kernels + k).text("k" + std::to_string(k));
    }
  }
}

// Too long for registers, and accessed by all lanes at one place: whole vectors. Those of one lane
// depend on each other.
TEST(KeptArrays, AreAccessedAsVectors) {
  const std::string text = optimisedText(R"(
    kernel void rows(global const float* in, global float* out, local float* row, int n) {
      const int l = get_local_id(0), g = get_global_id(0);
      float sums[64];
      for (int i = 0; i < 64; ++i) sums[i] = 0;
      for (int turn = 0; turn < n; ++turn) {
        row[l] = in[turn * get_local_size(0) + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 1; i < 64; ++i) sums[i] = sums[i - 1] * row[i] + sums[i];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      for (int i = 0; i < 64; ++i) out[i * get_global_size(0) + g] = sums[i];
    })",
                                         "rows");
  const std::regex turn(R"(fmuladd\.v\d+f32[^\n]*(\n +%[^\n]*){0,3}\n +store <\d+ x float>)");
  EXPECT_TRUE(std::regex_search(text, turn)) << text;
}

}  // namespace
}  // namespace weft::test
