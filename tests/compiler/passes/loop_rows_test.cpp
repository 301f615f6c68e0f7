// Loops in which lanes go through memory of their own.
#include <numeric>
#include <regex>

#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

constexpr const char* source = R"(
  kernel void product(global const float* a, global const float* x, global float* y, int n) {
    const int row = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
    y[row] = sum;
  }
  kernel void bounded(global const float* a, global const float* x, global float* y, int n,
                      int rows) {
    const int row = get_global_id(0);
    if (row >= rows) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
    y[row] = sum;
  }
  kernel void sums(global const uchar* bytes, global const double* doubles, global const int* start,
                   global double* out, int n) {
    const size_t i = get_global_id(0);
    double sum = 0;
    for (int k = 0; k < n; ++k) sum = sum * 0.5 + bytes[i * 40 + k] * doubles[start[i] + k];
    out[i] = sum;
  }
  kernel void shift(global const float* a, global float* same, int n) {
    const int row = get_global_id(0);
    for (int k = 0; k < n; ++k) same[row * (n + 1) + k + 1] = a[row * (n + 1) + k] + 1;
  }
  kernel void neighbours(global const float* a, global float* y, int n) {
    const int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[(i > 1 ? i : 1) + k];
    y[i] = sum;
  })";

// Each lane of a vector loads one.
bool loadsRows(const std::string& kernel) {
  const std::string text = optimisedText(source, kernel, compiler::Vectorising::always);
  const std::regex row("= load <(4|8|16) x (float|double|i8)>");
  constexpr int fewest_lanes = 4;
  return std::distance(std::sregex_iterator(text.begin(), text.end(), row), {}) >= fewest_lanes;
}

TEST(LoopRows, AreLoadedWhole) {
  EXPECT_TRUE(loadsRows("product"));
  EXPECT_TRUE(loadsRows("bounded"));
  EXPECT_TRUE(loadsRows("sums"));
}

// Lanes that are neighbours in each turn need none.
TEST(LoopRows, NotOfNeighbours) {
  const std::string text = optimisedText(source, "neighbours", compiler::Vectorising::always);
  const std::regex turning("shufflevector <\\d+ x float> %\\S+, <\\d+ x float> %");
  EXPECT_FALSE(std::regex_search(text, turning));
  EXPECT_TRUE(
      std::regex_search(optimisedText(source, "product", compiler::Vectorising::always), turning));
}

// What a turn writes may be what the next one loads.
TEST(LoopRows, NotWhereTheLoopWrites) {
  const int n = 37, rows = 40;
  std::vector<float> a(rows * (n + 1), -1);
  for (int row = 0; row < rows; ++row) a[row * (n + 1)] = static_cast<float>(row);
  Program(source, true, compiler::Vectorising::always)
      .run("shift", {1, {rows, 1, 1}, {rows, 1, 1}, {0, 0, 0}},
           {Program::buffer(a.data()), Program::buffer(a.data()), Program::value(n)});
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k <= n; ++k)
      ASSERT_EQ(a[row * (n + 1) + k], static_cast<float>(row + k)) << row << " " << k;
}

// In the order of the program, whatever the number of turns, and for the lanes that run only.
TEST(LoopRows, Sums) {
  Program program(source, true, compiler::Vectorising::always);
  const int rows = 21;
  for (int n = 0; n < 70; n += n < 20 ? 1 : 7) {
    std::vector<float> a(rows * n + 1), x(n + 1), wanted(rows, -1);
    for (size_t i = 0; i < a.size(); ++i) a[i] = 1 / static_cast<float>(i * 7 % 31 + 1);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 1 / static_cast<float>(i * 5 % 17 + 1);
    for (int row = 0; row < rows; ++row) {
      wanted[row] = 0;
      for (int k = 0; k < n; ++k) {
        const float product = a[row * n + k] * x[k];
        wanted[row] += product;
      }
    }
    std::vector<float> y(rows, -1);
    program.run("product", {1, {rows, 1, 1}, {rows, 1, 1}, {0, 0, 0}},
                {Program::buffer(a.data()), Program::buffer(x.data()), Program::buffer(y.data()),
                 Program::value(n)});
    for (int row = 0; row < rows; ++row)
      ASSERT_NEAR(y[row], wanted[row], 1e-5 * wanted[row]) << n << " " << row;
    // Beyond the last row there is no memory of the object.
    y.assign(64, -1);
    program.run("bounded", {1, {64, 1, 1}, {32, 1, 1}, {0, 0, 0}},
                {Program::buffer(a.data()), Program::buffer(x.data()), Program::buffer(y.data()),
                 Program::value(n), Program::value(rows)});
    for (int row = 0; row < 64; ++row) {
      const float expected = row < rows ? wanted[row] : -1;
      ASSERT_NEAR(y[row], expected, 1e-5 * std::abs(expected)) << n << " " << row;
    }
  }
}

TEST(LoopRows, BytesAndDoubles) {
  Program program(source, true, compiler::Vectorising::always);
  const int rows = 37;
  for (const int n : {0, 1, 7, 8, 9, 15, 16, 17, 24, 33, 40}) {
    std::vector<uint8_t> bytes(rows * 40);
    std::vector<double> doubles(200), out(rows, -1);
    std::vector<int> start(rows);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37);
    std::iota(doubles.begin(), doubles.end(), 3.0);
    for (int i = 0; i < rows; ++i) start[i] = i * 71 % 160;
    program.run("sums", {1, {rows, 1, 1}, {rows, 1, 1}, {0, 0, 0}},
                {Program::buffer(bytes.data()), Program::buffer(doubles.data()),
                 Program::buffer(start.data()), Program::buffer(out.data()), Program::value(n)});
    for (int i = 0; i < rows; ++i) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum = sum * 0.5 + bytes[i * 40 + k] * doubles[start[i] + k];
      ASSERT_NEAR(out[i], sum, 1e-12 * sum) << n << " " << i;
    }
  }
}

// A number of turns that is known, in bodies of all sizes: of none of them the last loop is lost.
TEST(LoopRows, OfAKnownNumber) {
  const int count = 40;
  std::vector<uint32_t> in(1000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint32_t>(i * 2654435761u);
  for (const unsigned turns : {4u, 8u, 16u, 24u})
    for (unsigned length = 2; length < 40; length += 7) {
      std::string text =
          "kernel void hash(global const uint* in, global uint* out) {\n"
          "  const size_t g = get_global_id(0);\n  uint x = g;\n"
          "  for (int k = 0; k < " +
          std::to_string(turns) + "; ++k) {\n    x += in[g * 24 + k];\n";
      for (unsigned i = 0; i < length; ++i)
        text += "    x = x * " + std::to_string(3 + i) + "u ^ x >> " + std::to_string(1 + i % 13) +
                ";\n";
      std::vector<uint32_t> out(count);
      Program(text + "  }\n  out[g] = x;\n}\n", true, compiler::Vectorising::always)
          .run("hash", {1, {count, 1, 1}, {count, 1, 1}, {0, 0, 0}},
               {Program::buffer(in.data()), Program::buffer(out.data())});
      for (uint32_t g = 0; g < count; ++g) {
        uint32_t x = g;
        for (unsigned k = 0; k < turns; ++k) {
          x += in[g * 24 + k];
          for (unsigned i = 0; i < length; ++i) x = (x * (3 + i)) ^ (x >> (1 + i % 13));
        }
        ASSERT_EQ(out[g], x) << turns << " " << length << " " << g;
      }
    }
}

}  // namespace
}  // namespace weft::test
