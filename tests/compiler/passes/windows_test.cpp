// Loops over windows around work-items, cut off at the edges: lanes begin and end them at numbers
// of their own.
#include <random>
#include <regex>

#include <gtest/gtest.h>

#include "tests/compiler/passes/guarded_buffer.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

constexpr int width = 75, height = 6, elements = 1024;

constexpr const char* builtins =
    "int max(int a, int b) { return a > b ? a : b; }\n"
    "int min(int a, int b) { return a < b ? a : b; }\n"
    "int clamp(int a, int b, int c) { return min(max(a, b), c); }\n";

// What a loop does with its number I, and the numbers S and E that it begins and ends with.
class Window {
 public:
  explicit Window(uint64_t seed) : random_(seed) {}

  std::string kernel(const std::string& name) {
    text_ = "kernel void " + name +
            "(global const int* in, global const int* weights, global int* out, int h, int n, "
            "int step) {\n"
            "  const int w = get_global_size(0), g = get_global_id(1) * w + get_global_id(0);\n"
            "  const int x = " +
            pick<2>({"get_global_id(0), y = get_global_id(1)", "g % n, y = g / n"}) +
            ";\n  uint sum = x;\n";
    if (chance(25)) text_ += "  if (x < n / 3) return;\n";
    if (chance(40)) {
      const bool counts_offset = chance(50);
      text_ += counts_offset ? "  for (int j = max(-h, -y); j <= min(h, 5 - y); ++j) {\n"
                             : "  for (int j = max(0, y - h); j < min(4, y + h); ++j) {\n";
      loop(counts_offset ? "(y + j)" : "j");
      text_ += "  }\n";
    } else {
      loop("y");
    }
    text_ += "  out[g] = sum;\n}\n";
    return text_;
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <size_t N>
  std::string pick(const std::array<const char*, N>& from) {
    return from[below(N)];
  }

  void loop(const std::string& row) {
    const bool narrow = chance(60), is_signed = narrow ? chance(70) : chance(50);
    const std::string type = narrow ? (is_signed ? "int" : "uint") : is_signed ? "long" : "ulong";
    const std::string start =
        is_signed ? pick<9>({"max(0, x - h)", "x < h ? 0 : x - h", "clamp(x - h, 2, n)", "x - h",
                             "max(x, 9)", "min(x * 2, n)", "max(-h, -x)", "-min(h, x)", "x / 7"})
                  : pick<5>({"max(0, x - h)", "x < h ? 0 : x - h", "x - h", "(x | 3) - h",
                             "(T)x < (T)h ? (T)0 : (T)x - (T)h"});
    const std::string end = pick<6>(
        {"min(n, x + h)", "min(n - 1, x + h)", "S + 2 * h", "x + h", "n", "x < 20 ? 20 : x"});
    const std::string offset_end = pick<3>({"min(h, n - 1 - x)", "min(h, 74 - x)", "h"});
    constexpr std::array<const char*, 7> loops = {"for (T i = S; i < E; ++i) {",
                                                  "for (T i = S; i <= E; ++i) {",
                                                  "for (T i = S; i < E; i += 3) {",
                                                  "for (T i = S; i < E; i += step) {",
                                                  "for (T i = E; i > S; --i) {",
                                                  "for (T i = S; i != S + (T)(2 * h); ++i) {",
                                                  "T i = S; for (; i < E && turns < 40; ++i) {"};
    line("{ const T s = " + start + "; const T e = " +
             replaced(is_signed && chance(40) ? offset_end : end, "S", "s") + "; int turns = 0;",
         type);
    std::string head = replaced(replaced(pick(loops), "S", "s"), "E", "e");
    // What the number comes to is seen after the loop as well.
    line("T last = s, p = s;", type);
    line(head, type);
    line("last = i; p += 2;", type);
    line(chance(20) ? "if (++turns > 9) break;" : "++turns;", type);
    if (chance(20)) line("if (in[i & 511] > 60) " + pick<2>({"break;", "continue;"}), type);
    line("sum = sum * 3 + in[(" + pick<4>({"R * 64 + i", "i", "i * 2", "R * n + x + i"}) +
             ") & 1023] * weights[(" +
             pick<6>({"i - s", "i - x + h", "i", "e - i", "i + R", "i + h"}) + ") & 63];",
         type, row);
    if (chance(30)) line("if (i == (T)x) sum ^= (int)(i - s) + turns;", type);
    line("} sum = sum * 5 + (int)last + (int)(last - s) + (int)p; }", type);
  }
  static std::string replaced(const std::string& text, const char* from, const std::string& to) {
    return std::regex_replace(text, std::regex("\\b" + std::string(from) + "\\b"), to);
  }
  void line(const std::string& text, const std::string& type, const std::string& row = "0") {
    text_ += "  " + replaced(replaced(text, "T", type), "R", row) + "\n";
  }

  std::mt19937_64 random_;
  std::string text_;
};

std::vector<int> results(const Program& program, const std::string& kernel, int h, int n,
                         int step) {
  std::vector<int> in(elements), weights(64), out(width * height);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 37 % 89);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<int>(i * 11 % 23);
  program.run(
      kernel, {2, {width, height, 1}, {25, 3, 1}, {0, 0, 0}},
      {Program::buffer(in.data()), Program::buffer(weights.data()), Program::buffer(out.data()),
       Program::value(h), Program::value(n), Program::value(step)});
  return out;
}

TEST(Windows, RandomLoops) {
  constexpr uint64_t programs = 4, kernels = 10;
  for (uint64_t p = 0; p < programs; ++p) {
    std::string source = builtins;
    for (uint64_t k = 0; k < kernels; ++k)
      source += Window(p * kernels + k).kernel("k" + std::to_string(k));
    const Program lanes(source, true, compiler::Vectorising::never);
    const Program vectors(source, true, compiler::Vectorising::always);
    for (uint64_t k = 0; k < kernels; ++k)
      for (const auto& [h, n, step] : {std::array{5, 70, 1}, {16, 75, 2}, {0, 3, 5}, {40, 60, 1}}) {
        const std::string kernel = "k" + std::to_string(k);
        ASSERT_EQ(results(vectors, kernel, h, n, step), results(lanes, kernel, h, n, step))
            << "h " << h << ", n " << n << ", step " << step << "\n"
            << Window(p * kernels + k).kernel(kernel);
      }
  }
}

// One work-item for each pixel of three planes in a row, as in a layer of a neural network.
std::vector<int> layer(const Program& program, const char* kernel, int n, int rows, int h) {
  constexpr int planes = 3, channels = 2;
  const auto bytes = [](int numbers) { return static_cast<size_t>(numbers) * sizeof(int); };
  const int side = 2 * h + 1;
  const GuardedBuffer in(bytes(channels * rows * n)),
      weights(bytes(planes * channels * side * side));
  const auto items = static_cast<size_t>(planes * rows * n);
  std::vector<int> out(items);
  program.run(
      kernel, {1, {items, 1, 1}, {items, 1, 1}, {0, 0, 0}},
      {Program::buffer(in.begin()), Program::buffer(weights.begin()), Program::buffer(out.data()),
       Program::value(h), Program::value(n), Program::value(rows)});
  return out;
}

TEST(Windows, OfLayers) {
  const std::string begin = R"((global const int* in, global const int* weights, global int* out,
                                int h, int n, int rows) {
      const int g = get_global_id(0), p = g / (n * rows), y = g % (n * rows) / n, x = g % n;
      const int side = 2 * h + 1;
      uint sum = p;
      for (int c = 0; c < 2; ++c))";
  const std::string source = std::string(builtins) + "kernel void offsets" + begin + R"(
        for (int j = max(-h, -y); j <= min(h, rows - 1 - y); ++j)
          for (int i = max(-h, -x); i <= min(h, n - 1 - x); ++i)
            sum = sum * 3 + in[(c * rows + y + j) * n + x + i] *
                            weights[((p * 2 + c) * side + j + h) * side + i + h];
      out[g] = sum;
    }
    kernel void pixels)" + begin +
                             R"(
        for (int j = max(0, y - h); j < min(rows, y + h + 1); ++j)
          for (int i = max(0, x - h); i < min(n, x + h + 1); ++i) {
            const int pixel = in[(c * rows + j) * n + i];
            if (pixel % 5 == 0) continue;
            sum = sum * 3 + pixel * weights[((p * 2 + c) * side + j - y + h) * side + i - x + h];
          }
      out[g] = sum;
    })";
  const Program lanes(source, true, compiler::Vectorising::never);
  const Program vectors(source, true, compiler::Vectorising::always);
  for (const char* kernel : {"offsets", "pixels"})
    for (const auto& [n, rows, h] : {std::array{28, 6, 2},
                                     {7, 7, 3},
                                     {5, 40, 4},
                                     {64, 3, 40},
                                     {33, 4, 1},
                                     {1, 9, 2},
                                     {16, 4, 0}})
      ASSERT_EQ(layer(vectors, kernel, n, rows, h), layer(lanes, kernel, n, rows, h))
          << kernel << ": " << n << ", " << rows << ", " << h;
}

// Numbers whose distance wraps, from which lanes nevertheless count in the same steps.
TEST(Windows, NearTheEndOfNumbers) {
  const std::string source = std::string(builtins) + R"(
    kernel void wraps(global int* out, int from, uint count) {
      const int x = get_global_id(0);
      int turns = 0;
      for (uint i = max(from, from + x); i != (uint)max(from, from + x) + count; ++i)
        turns = turns * 3 + (i & 7);
      out[x] = turns;
    }
    kernel void compares(global int* out, int from, int to) {
      const int x = get_global_id(0);
      int turns = 0;
      for (int i = max(from, from + x); i < min(to, to - 70 + x); i += 0x4000000) ++turns;
      out[x] = turns;
    })";
  const Program program(source, true, compiler::Vectorising::always);
  std::vector<int> out(width);
  const NdRange range{1, {width, 1, 1}, {width, 1, 1}, {0, 0, 0}};
  program.run("wraps", range,
              {Program::buffer(out.data()), Program::value(INT32_MAX - 80), Program::value(100u)});
  for (uint32_t x = 0; x < width; ++x) {
    uint32_t turns = 0;
    for (uint32_t k = 0; k < 100; ++k) turns = turns * 3 + ((INT32_MAX - 80u + x + k) & 7);
    ASSERT_EQ(static_cast<uint32_t>(out[x]), turns) << x;
  }
  const int from = INT32_MIN, to = INT32_MAX - 0x4000000;
  program.run("compares", range,
              {Program::buffer(out.data()), Program::value(from), Program::value(to)});
  for (int64_t x = 0; x < width; ++x) {
    int turns = 0;
    for (int64_t i = from + x; i < std::min<int64_t>(to, to - 70 + x); i += 0x4000000) ++turns;
    ASSERT_EQ(out[static_cast<size_t>(x)], turns) << x;
  }
}

// Windows far wider than what there is, and some at the greatest number.
TEST(Windows, AsWideAsNumbersGo) {
  const std::string source = std::string(builtins) + R"(
    kernel void window(global int* out, int first, int end, int h) {
      const int x = first + (int)get_global_id(0);
      uint turns = 0;
      for (int i = max(first, x - h); i <= min(end, x + h); ++i) turns = turns * 3 + (i & 7);
      out[get_global_id(0)] = turns;
    }
    kernel void offsets(global int* out, int first, int end, int h) {
      const int x = first + (int)get_global_id(0);
      uint turns = 0;
      for (int i = max(-h, first - x); i <= min(h, end - x); ++i) turns = turns * 3 + (i & 7);
      out[get_global_id(0)] = turns;
    })";
  const Program program(source, true, compiler::Vectorising::always);
  for (const auto& [first, end, h] : {std::array{0, 300, INT32_MAX - width},
                                      {INT32_MAX - 100, INT32_MAX - 1, 9},
                                      {-40, 40, INT32_MAX - width}})
    for (const bool offsets : {false, true}) {
      std::vector<uint32_t> out(width);
      program.run(offsets ? "offsets" : "window", {1, {width, 1, 1}, {width, 1, 1}, {0, 0, 0}},
                  {Program::buffer(out.data()), Program::value(first), Program::value(end),
                   Program::value(h)});
      for (int x = 0; x < width; ++x) {
        const int64_t at = int64_t{first} + x, from = std::max<int64_t>(first, at - h);
        uint32_t turns = 0;
        for (int64_t i = from; i <= std::min<int64_t>(end, at + h); ++i)
          turns = turns * 3 + (static_cast<uint64_t>(offsets ? i - at : i) & 7);
        ASSERT_EQ(out[static_cast<size_t>(x)], turns) << first << ", " << h << ", " << x;
      }
    }
}

std::string filterText(const std::string& loops) {
  return optimisedText(std::string(builtins) + R"(
    kernel void filter(global const float* in, global float* out, constant float* weights, int w,
                       int rows, int h) {
      float sum = 0;
      )" + loops + "}",
                       "filter", compiler::Vectorising::automatic);
}

// Where none of the window is cut off, a turn is straight code that loads whole vectors.
void expectAFormForTheMiddle(const std::string& loops) {
  const std::string text = filterText(loops);
  const std::regex turn(R"((load <|masked\.load)[^\n]*(\n +%[^\n]*){0,6}fmuladd\.v)");
  EXPECT_TRUE(std::regex_search(text, turn)) << text;
  EXPECT_EQ(text.find("weft.lanes."), std::string::npos);
}

TEST(Windows, HaveAFormForTheMiddle) {
  expectAFormForTheMiddle(R"(
      const int x = get_global_id(0), y = get_global_id(1);
      const int from = max(0, x - h), to = min(w, x + h);
      for (int i = from; i < to; i++) sum += in[y * w + i] * weights[i - from];
      out[y * w + x] = sum;)");
}

TEST(Windows, OfOffsetsHaveAFormForTheMiddle) {
  expectAFormForTheMiddle(R"(
      const int x = get_global_id(0), y = get_global_id(1);
      for (int i = max(-h, -x); i <= min(h, w - 1 - x); ++i)
        sum += in[y * w + x + i] * weights[i + h];
      out[y * w + x] = sum;)");
}

// Lanes whose window is cut off take the turns of all, masked.
TEST(Windows, AreNotGatheredWhereTheyAreCutOff) {
  const std::string text = filterText(R"(
      const int x = get_global_id(0), y = get_global_id(1);
      for (int j = max(0, y - h); j <= min(rows - 1, y + h); ++j)
        for (int i = max(0, x - h); i <= min(w - 1, x + h); ++i)
          sum += in[j * w + i] * weights[(j - y + h) * (2 * h + 1) + i - x + h];
      out[y * w + x] = sum;)");
  EXPECT_NE(text.find("masked.load"), std::string::npos) << text;
  EXPECT_EQ(text.find("masked.gather"), std::string::npos) << text;
}

// Which lane begins first and which ends last is asked of those that take their turns together.
// Where windows lie further apart, or go with mirrored ids, that would be many turns.
TEST(Windows, FarFromEachOtherKeepTheirOwnCounts) {
  const auto takesTurnsTogether = [](const std::string& start, const std::string& end) {
    const std::string rows = "for (int j = max(0, y - h); j <= min(rows - 1, y + h); ++j)\n";
    const std::string columns = "for (int i = " + start + "; i <= " + end + "; ++i)";
    return filterText("const int x = get_global_id(0), y = get_global_id(1), m = w - 1 - x;\n" +
                      rows + columns + " sum += in[j * w + i];\n out[y * w + x] = sum;")
               .find("vector.reduce.") != std::string::npos;
  };
  EXPECT_TRUE(takesTurnsTogether("max(0, x - h)", "min(w - 1, x + h)"));
  EXPECT_FALSE(takesTurnsTogether("max(0, x * 2 - h)", "min(w - 1, x * 2 + h)"));
  EXPECT_FALSE(takesTurnsTogether("max(0, m - h)", "min(w - 1, m + h)"));
}

// Lanes are of one row of the image but where it ends: a turn tests that, and loads one weight.
void expectOneWeight(const std::string& loops) {
  const std::string text = filterText(loops);
  const std::regex turn(
      R"(masked\.load[^:]*(:[^:]*){2}= load float, ptr addrspace\(2\)[^\n]*(\n +%[^\n]*){0,4}fmuladd\.v)");
  EXPECT_TRUE(std::regex_search(text, turn)) << text;
}

TEST(Windows, OfPixelsInARowHaveAFormForTheMiddle) {
  expectOneWeight(R"(
      const int pixel = get_global_id(0), x = pixel % w, y = pixel / w;
      for (int j = max(-h, -y); j <= min(h, rows - 1 - y); ++j)
        for (int i = max(-h, -x); i <= min(h, w - 1 - x); ++i)
          sum += in[(y + j) * w + x + i] * weights[(j + h) * (2 * h + 1) + i + h];
      out[pixel] = sum;)");
}

// Nor do the planes of a layer hide that, what is the same for all turns of which is added to the
// address before.
TEST(Windows, OfLayersHaveAFormForTheMiddle) {
  const std::string text = filterText(R"(
      const int g = get_global_id(0), p = g / (w * rows), y = g % (w * rows) / w, x = g % w;
      const int side = 2 * h + 1;
      for (int c = 0; c < 8; ++c)
        for (int j = max(-h, -y); j <= min(h, rows - 1 - y); ++j)
          for (int i = max(-h, -x); i <= min(h, w - 1 - x); ++i)
            sum += in[(c * rows + y + j) * w + x + i] *
                   weights[((p * 8 + c) * side + j + h) * side + i + h];
      out[g] = sum;)");
  EXPECT_TRUE(std::regex_search(text, std::regex("masked\\.load"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("= load float, ptr addrspace\\(2\\)"))) << text;
}

}  // namespace
}  // namespace weft::test
