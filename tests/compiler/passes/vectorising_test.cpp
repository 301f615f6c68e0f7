// The loops over lanes of textbook kernels become vector code.
#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <type_traits>

#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

const char* const kernels = R"(
  #define TILE 16
  kernel void saxpy(float a, global const float* x, global float* y) {
    size_t i = get_global_id(0);
    y[i] += a * x[i];
  }
  kernel void guarded(float a, global const float* x, global float* y, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] += a * x[i];
  }
  kernel void product(global const float* a, global const float* b, global float* c, int n) {
    local float ta[TILE][TILE], tb[TILE][TILE];
    int row = get_global_id(1), column = get_global_id(0), y = get_local_id(1), x = get_local_id(0);
    float sum = 0;
    for (int t = 0; t < n / TILE; ++t) {
      ta[y][x] = a[row * n + t * TILE + x];
      tb[y][x] = b[(t * TILE + y) * n + column];
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < TILE; ++k) sum += ta[y][k] * tb[k][x];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
  }
  kernel void reduce(global const float* in, global float* out, local float* scratch) {
    uint l = get_local_id(0);
    scratch[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = get_local_size(0) / 2; d > 0; d >>= 1) {
      if (l < d) scratch[l] += scratch[l + d];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = scratch[0];
  }
  kernel void turn(global float2* points, float cosine, float sine) {
    float2 p = points[get_global_id(0)];
    points[get_global_id(0)] = (float2)(p.x * cosine - p.y * sine, p.x * sine + p.y * cosine);
  }
  kernel void escape(global int* out, float step, int most) {
    int x = get_global_id(0);
    float c = x * step - 2.0f, z = 0;
    int turn = 0;
    while (turn < most && z * z < 4.0f) {
      z = z * z + c;
      ++turn;
    }
    out[x] = turn;
  })";

bool hasMaskedVectors() { return hostMachine().getTargetFeatureString().contains("+avx2"); }

TEST(Vectorising, Saxpy) {
  EXPECT_TRUE(std::regex_search(optimisedText(kernels, "saxpy"), std::regex("fmuladd\\.v\\d+f32")));
}

TEST(Vectorising, GuardedSaxpy) {
  if (!hasMaskedVectors()) GTEST_SKIP() << "needs masked loads and stores";
  EXPECT_TRUE(
      std::regex_search(optimisedText(kernels, "guarded"), std::regex("fmuladd\\.v\\d+f32")));
}

TEST(Vectorising, TiledProduct) {
  EXPECT_TRUE(
      std::regex_search(optimisedText(kernels, "product"), std::regex("fmuladd\\.v\\d+f32")));
  const int n = 48;
  std::vector<float> a(n * n), b(n * n), c(n * n, -1);
  for (int i = 0; i < n * n; ++i)
    a[i] = static_cast<float>(i % 7), b[i] = static_cast<float>(i % 5);
  Program(kernels).run("product", {2, {n, n, 1}, {16, 16, 1}, {0, 0, 0}},
                       {Program::buffer(a.data()), Program::buffer(b.data()),
                        Program::buffer(c.data()), Program::value(n)});
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      float want = 0;
      for (int k = 0; k < n; ++k) want += a[row * n + k] * b[k * n + column];
      ASSERT_EQ(c[row * n + column], want);
    }
}

TEST(Vectorising, Reduction) {
  if (!hasMaskedVectors()) GTEST_SKIP() << "needs masked loads and stores";
  EXPECT_TRUE(
      std::regex_search(optimisedText(kernels, "reduce"), std::regex("fadd <\\d+ x float>")));
}

// Lanes are wider than the vectors of the source.
TEST(Vectorising, VectorsOfTheSource) {
  EXPECT_TRUE(std::regex_search(optimisedText(kernels, "turn"),
                                std::regex("fmul <(4|8|16) x float>|fmuladd\\.v(4|8|16)f32")));
  std::vector<float> points;
  for (int i = 0; i < 90; ++i) points.push_back(static_cast<float>(i));
  Program(kernels).run(
      "turn", {1, {45, 1, 1}, {45, 1, 1}, {0, 0, 0}},
      {Program::buffer(points.data()), Program::value(0.5f), Program::value(2.0f)});
  for (int i = 0; i < 45; ++i) {
    const auto x = static_cast<float>(2 * i), y = x + 1;
    ASSERT_EQ(points[2 * i], 0.5f * x - 2 * y);
    ASSERT_EQ(points[2 * i + 1], 2 * x + 0.5f * y);
  }
}

// A loop that each lane leaves in a turn of its own.
TEST(Vectorising, DivergentLoop) {
  EXPECT_TRUE(
      std::regex_search(optimisedText(kernels, "escape"), std::regex("fcmp \\w+ <\\d+ x float>")));
  const int n = 3 * 37, most = 50;
  const float step = 0.0625f * 0.5f;
  std::vector<int> out(n, -1);
  Program(kernels).run("escape", {1, {n, 1, 1}, {37, 1, 1}, {0, 0, 0}},
                       {Program::buffer(out.data()), Program::value(step), Program::value(most)});
  for (int x = 0; x < n; ++x) {
    const float c = static_cast<float>(x) * step - 2.0f;
    float z = 0;
    int turn = 0;
    for (; turn < most && z * z < 4.0f; ++turn) z = std::fma(z, z, c);
    ASSERT_EQ(out[static_cast<size_t>(x)], turn) << x;
  }
}

bool becomesVectors(const std::string& source, const std::string& kernel,
                    compiler::Vectorising mode = compiler::Vectorising::automatic) {
  return optimisedText(source, kernel, mode).find(".lane.simd.tail") != std::string::npos;
}

// Vectors of vectors are bounded: what is too long stays one lane at a time, even if forced.
TEST(Vectorising, LongCodeIsLeftAlone) {
  const auto source = [](int steps) {
    std::string text = "kernel void mix(global ulong16* a) { ulong16 v = a[get_global_id(0)];\n";
    for (int i = 0; i < steps; ++i)
      text += "v = (v ^ (v << 7)) * " + std::to_string(i) + "ul + v;\n";
    return text + "a[get_global_id(0)] = v; }";
  };
  EXPECT_TRUE(becomesVectors(source(3), "mix", compiler::Vectorising::always));
  EXPECT_FALSE(becomesVectors(source(150), "mix", compiler::Vectorising::always));
}

// Other long code only where that was asked for.
TEST(Vectorising, LongCodeTakesLong) {
  std::string text = "kernel void mix(global uint* a) { uint v = a[get_global_id(0)];\n";
  for (int i = 0; i < 3000; ++i) text += "v = (v ^ (v << 7)) * " + std::to_string(i) + "u + v;\n";
  text += "a[get_global_id(0)] = v; }";
  EXPECT_TRUE(becomesVectors(text, "mix", compiler::Vectorising::always));
  EXPECT_FALSE(becomesVectors(text, "mix"));
  const auto forms = loweredKernels(text)[0].other_forms;
  EXPECT_TRUE(forms & static_cast<uint8_t>(port::CodeForm::vectors));
}

// What few lanes do is not done for all of them, nor read through a gather.
TEST(Vectorising, RareAccesses) {
  if (!hasMaskedVectors()) GTEST_SKIP() << "needs masked loads and stores";
  const char* const rare =
      "kernel void last(global int* out) {\n"
      "  if (get_global_id(0) == get_global_size(0) - 1) *out += 1;\n"
      "}";
  EXPECT_TRUE(becomesVectors(rare, "last"));
  int count = 0;
  Program(rare).run("last", {1, {1000, 1, 1}, {100, 1, 1}, {0, 0, 0}}, {Program::buffer(&count)});
  EXPECT_EQ(count, 1);
}

// An atomic that lanes get to now and then does not make their arithmetic one lane's.
TEST(Vectorising, RareAtomics) {
  if (!hasMaskedVectors()) GTEST_SKIP() << "needs masked loads and stores";
  const char* const rare =
      "kernel void count(global uint* out, uint turns) {\n"
      "  uint x = get_global_id(0) + 1;\n"
      "  for (uint i = 0; i < turns; ++i) {\n"
      "    x ^= x << 13;\n"
      "    x ^= x >> 17;\n"
      "    x ^= x << 5;\n"
      "    if ((x & 31) == 0)\n"
      "      __opencl_atomic_fetch_add((volatile global atomic_uint*)out + (x >> 5) % 16, 1u,\n"
      "                                memory_order_relaxed, memory_scope_device);\n"
      "  }\n"
      "}";
  EXPECT_TRUE(becomesVectors(rare, "count"));
  constexpr uint32_t items = 100, turns = 50;
  std::vector<uint32_t> counts(16), expected(16);
  for (uint32_t id = 0; id < items; ++id) {
    uint32_t x = id + 1;
    for (uint32_t i = 0; i < turns; ++i) {
      x ^= x << 13;
      x ^= x >> 17;
      x ^= x << 5;
      if ((x & 31) == 0) ++expected[(x >> 5) % 16];
    }
  }
  Program(rare).run("count", {1, {items, 1, 1}, {50, 1, 1}, {0, 0, 0}},
                    {Program::buffer(counts.data()), Program::value(turns)});
  EXPECT_EQ(counts, expected);
}

// Indices that are clamped, wrapped or masked may be neighbours or not: which, is tested as it
// runs.
TEST(Vectorising, PerhapsNeighbours) {
  const char* const source =
      "kernel void clamped(global int* out, global const int* in, int n, int by) {\n"
      "  int i = get_global_id(0), j = i + by; j = j < 0 ? 0 : j;\n"
      "  if (i % 5) out[i] = in[j < n ? j : n - 1];\n}\n"
      "kernel void wrapped(global int* out, global const int* in, int n, int by) {\n"
      "  int i = get_global_id(0); out[i] = in[(ushort)(i + by)] + 3 * in[(short)(i + by) & "
      "n];\n}\n"
      "kernel void signs(global int* out, global const int* in, int n, int by) {\n"
      "  int i = get_global_id(0); out[i] = (in + 32768)[(short)(i + by)];\n}\n"
      "kernel void apart(global int2* out, global const int2* in, int n, int by) {\n"
      "  int i = get_global_id(0), j = 2 * i - (i & (by - 1));\n"
      "  if (in[j].x != 77) { out[j] = in[j + by]; out[j + by] = in[j]; }\n}\n";
  const Program program(source, true, compiler::Vectorising::always);
  std::vector<int> in(1 << 17);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 7919 % 10007);
  const int count = 300;
  const auto run = [&](const char* kernel, int n, int by) {
    std::vector<int> out(in.size(), -1);
    program.run(kernel, {1, {count, 1, 1}, {60, 1, 1}, {0, 0, 0}},
                {Program::buffer(out.data()), Program::buffer(in.data()), Program::value(n),
                 Program::value(by)});
    return out;
  };
  for (int by : {-310, -20, 0, 3, 100, 65400, 32700}) {
    const std::vector<int> clamped = run("clamped", count, by), wrapped = run("wrapped", 1023, by);
    const std::vector<int> signs = run("signs", 0, by);
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      const auto from = static_cast<size_t>(std::clamp(i + by, 0, count - 1));
      ASSERT_EQ(clamped[at], i % 5 ? in[from] : -1) << i << ", " << by;
      const auto low = static_cast<uint16_t>(i + by);
      ASSERT_EQ(wrapped[at], in[low] + 3 * in[low & 1023]) << i << ", " << by;
      ASSERT_EQ(signs[at], in[static_cast<uint16_t>(low + 32768)]) << i << ", " << by;
    }
  }
  for (int by = 1; by <= 64; by *= 2) {
    const std::vector<int> out = run("apart", 0, by);
    for (int i = 0; i < count; ++i)
      for (int part = 0; part < 2; ++part) {
        const int j = 2 * i - (i & (by - 1));
        const auto a = static_cast<size_t>(2 * j + part),
                   b = static_cast<size_t>(2 * (j + by) + part);
        const bool runs = in[static_cast<size_t>(2 * j)] != 77;
        ASSERT_EQ(out[a], runs ? in[b] : -1) << i << ", " << by;
        ASSERT_EQ(out[b], runs ? in[a] : -1) << i << ", " << by;
      }
  }
}

// What all lanes add to their indices is added to the address, whether they are neighbours (n = 1)
// or not.
TEST(Vectorising, RowsOfAMatrix) {
  const char* const source =
      "kernel void f(global int* out, global const int* in, int n, int first) {\n"
      "  int row = get_global_id(0), sum = 0;\n"
      "  if (row % 7 == 3) return;\n"
      "  for (int k = 0; k < 5; ++k)\n"
      "    if (in[k] != 4) sum = 3 * sum + in[row * n + k + first] - 5 * in[first + row * n - k];\n"
      "  out[row] = sum;\n}\n";
  const Program program(source, true, compiler::Vectorising::always);
  const int count = 75, first = 10;
  std::vector<int> in(count * 9 + 2 * first);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 7919 % 10007);
  in[2] = 4;
  for (const int n : {1, 2, 9}) {
    std::vector<int> out(count, -1);
    program.run("f", {1, {count, 1, 1}, {25, 1, 1}, {0, 0, 0}},
                {Program::buffer(out.data()), Program::buffer(in.data()), Program::value(n),
                 Program::value(first)});
    for (int row = 0; row < count; ++row) {
      uint32_t sum = 0;
      for (int k = 0; k < 5; ++k)
        if (k != 2)
          sum = 3 * sum + static_cast<uint32_t>(in[static_cast<size_t>(row * n + k + first)] -
                                                5 * in[static_cast<size_t>(first + row * n - k)]);
      ASSERT_EQ(out[static_cast<size_t>(row)], row % 7 == 3 ? -1 : static_cast<int>(sum)) << row;
    }
  }
}

// Bytes that have to become words are loaded as many at a time as words fit a vector.
TEST(Vectorising, ExtendedBytes) {
  const char* const source =
      "kernel void mix(global uchar* out, global const uchar* in) {\n"
      "  int i = get_global_id(0);\n"
      "  out[i] = (uchar)(in[i] * 0.25f + in[i + 1] * 0.75f);\n}\n"
      "kernel void copy(global uchar* out, global const uchar* in) {\n"
      "  out[get_global_id(0)] = in[get_global_id(0)];\n}\n";
  EXPECT_TRUE(becomesVectors(source, "mix"));
  EXPECT_FALSE(becomesVectors(source, "copy"));
}

// Rows none of whose lanes come past the first condition are left out: those beyond a bound, on
// either side of it, before and after ids wrap around zero, and all but the one with an id.
TEST(Vectorising, EmptyRows) {
  const char* const source =
      "kernel void below(global int* out, int n) {\n"
      "  int i = get_global_id(0); if (i < n) out[i] += 3;\n}\n"
      "kernel void above(global int* out, int n) {\n"
      "  int i = get_global_id(0); if (i <= n) return; out[i] += 3;\n}\n"
      "kernel void wrapping(global int* out, ulong n) {\n"
      "  if (get_global_id(0) - n < 40ul) out[get_global_id(0)] += 3;\n}\n"
      "kernel void within(global int* out, int n) {\n"
      "  int x = get_global_id(0), y = get_global_id(1);\n"
      "  if (x < 30 || y < 2 || !(3 * x < n) || y >= 6) return;\n"
      "  out[y * 200 + x] += 3;\n}\n"
      "kernel void one(global int* out, int n) {\n"
      "  if (get_global_id(0) == (size_t)n) out[n] += 3;\n}\n";
  const Program program(source, true, compiler::Vectorising::always);
  const int count = 200, rows = 8;
  const auto check = [&](const char* kernel, auto n, uint64_t height, auto wanted) {
    std::vector<int> out(count * rows);
    program.run(kernel, {2, {count, height, 1}, {25, 4, 1}, {0, 0, 0}},
                {Program::buffer(out.data()), Program::value(n)});
    for (int i = 0; i < count * rows; ++i)
      ASSERT_EQ(out[static_cast<size_t>(i)], wanted(i % count, i / count) ? 3 : 0)
          << kernel << ", " << n << ", " << i;
  };
  for (const int n : {-1, 0, 1, 24, 25, 26, 60, 199, 200, 599, 1000}) {
    check("below", n, 1, [&](int x, int y) { return y == 0 && x < n; });
    check("above", n, 1, [&](int x, int y) { return y == 0 && x > n; });
    if (n >= 0 && n < count) check("one", n, 1, [&](int x, int y) { return y == 0 && x == n; });
    check("within", n, rows, [&](int x, int y) { return x >= 30 && y >= 2 && 3 * x < n && y < 6; });
  }
  for (const uint64_t n :
       {uint64_t{0}, uint64_t{10}, uint64_t{120}, uint64_t{190}, 0 - uint64_t{12}})
    check("wrapping", n, 1,
          [&](int x, int y) { return y == 0 && static_cast<uint64_t>(x) - n < 40; });
}

// How often do products and sums occur in the code of one lane?
TEST(Vectorising, DivergentLoopsAreNotUnrolled) {
  const char* const source =
      "kernel void rows(global float* out, global const float* in, global const int* starts) {\n"
      "  int i = get_global_id(0); float sum = 0;\n"
      "  for (int k = starts[i]; k < starts[i + 1]; ++k) sum += in[k] * in[k + 1];\n"
      "  out[i] = sum;\n}\n"
      "kernel void same(global float* out, global const float* in, int n) {\n"
      "  int i = get_global_id(0); float sum = 0;\n"
      "  for (int k = 0; k < n; ++k) sum += in[i + k] * in[i + k + 1];\n"
      "  out[i] = sum;\n}\n";
  const auto sums = [&](const char* kernel) {
    const std::string text = optimisedText(source, kernel, compiler::Vectorising::never);
    const std::regex sum("call float @llvm\\.fmuladd");
    return std::distance(std::sregex_iterator(text.begin(), text.end(), sum),
                         std::sregex_iterator());
  };
  EXPECT_EQ(sums("rows"), 1);
  EXPECT_GT(sums("same"), 1);
}

// Nor does it make scatters of them.
TEST(Vectorising, RecordsAreLeftToOneLane) {
  const char* const records =
      "typedef struct { float x, y, z, vx, vy, vz; } Record;\n"
      "kernel void move(global Record* all, float dt) {\n"
      "  global Record* r = &all[get_global_id(0)];\n"
      "  r->x += dt * r->vx;\n"
      "  r->y += dt * r->vy;\n"
      "  r->z += dt * r->vz;\n"
      "}";
  EXPECT_FALSE(std::regex_search(optimisedText(records, "move"), std::regex("fmuladd\\.v\\d")));
}

// What all lanes have at one index of a private array lies side by side.
TEST(Vectorising, PrivateArrays) {
  const char* const source =
      "kernel void mix(global uint* out, global const uint* in, uint n) {\n"
      "  uint g = get_global_id(0), w[16] = {0}, sum = 0; float2 f[3][4]; uchar c[40];\n"
      "  for (uint i = 0; i < n; ++i) w[i & 15] = in[i] * 3 + g;\n"
      "  for (uint i = 0; i < n; ++i) f[i % 3][i & 3] = (float2)(i, g);\n"
      "  for (uint i = 0; i < n; ++i) c[i % 40] = g + i;\n"
      "  for (uint i = 0; i < n; ++i) {\n"
      "    if ((w[i & 15] ^ g) & 4) w[(i + 1) & 15] += w[(i + 9) & 15] ^ i;\n"
      "    sum = sum * 5 + w[i & 15] + c[i % 40] + (uint)f[i % 3][i & 3].y;\n"
      "  }\n"
      "  out[g] = sum;\n}\n";
  if (hasMaskedVectors()) {
    const std::string text = optimisedText(source, "mix");
    EXPECT_NE(text.find(".lane.simd.tail"), std::string::npos);
    EXPECT_EQ(text.find("masked.gather"), std::string::npos);
    EXPECT_EQ(text.find("masked.scatter"), std::string::npos);
  }
  const uint32_t n = 120, count = 90;
  std::vector<uint32_t> in(n), out(count);
  for (uint32_t i = 0; i < n; ++i) in[i] = i * 2654435761u;
  Program(source).run("mix", {1, {count, 1, 1}, {45, 1, 1}, {0, 0, 0}},
                      {Program::buffer(out.data()), Program::buffer(in.data()), Program::value(n)});
  for (uint32_t g = 0; g < count; ++g) {
    uint32_t w[16] = {}, sum = 0;
    for (uint32_t i = 0; i < n; ++i) w[i & 15] = in[i] * 3 + g;
    for (uint32_t i = 0; i < n; ++i) {
      if ((w[i & 15] ^ g) & 4) w[(i + 1) & 15] += w[(i + 9) & 15] ^ i;
      const auto byte = static_cast<uint8_t>(g + 80 + i % 40);
      sum = sum * 5 + w[i & 15] + byte + g;
    }
    ASSERT_EQ(out[g], sum) << g;
  }
}

template <class T>
void divides(const std::string& type, const std::vector<T>& numbers) {
  const std::string source =
      "kernel void varying(global " + type + "* q, global " + type + "* r, global const " + type +
      "* x, global const " + type + "* y) {\n" +
      "  size_t i = get_global_id(0); q[i] = x[i] / y[i]; r[i] = x[i] % y[i];\n}\n" +
      "kernel void same(global " + type + "* q, global " + type + "* r, global const " + type +
      "* x, " + type + " y) {\n" +
      "  size_t i = get_global_id(0); q[i] = x[i] / y; r[i] = x[i] % y;\n}";
  const Program program(source, true, compiler::Vectorising::always);
  std::vector<T> x, y;
  for (T a : numbers)
    for (T b : numbers)
      if (b != 0 && !(std::is_signed_v<T> && b == T(-1) && a == std::numeric_limits<T>::min())) {
        x.push_back(a);
        y.push_back(b);
      }
  std::vector<T> q(x.size()), r(x.size());
  const NdRange range{1, {x.size(), 1, 1}, {x.size(), 1, 1}, {0, 0, 0}};
  program.run("varying", range,
              {Program::buffer(q.data()), Program::buffer(r.data()), Program::buffer(x.data()),
               Program::buffer(y.data())});
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(q[i], static_cast<T>(x[i] / y[i])) << +x[i] << " / " << +y[i];
    ASSERT_EQ(r[i], static_cast<T>(x[i] % y[i])) << +x[i] << " % " << +y[i];
  }
  for (T b : numbers) {
    if (b == 0 || b == static_cast<T>(-1)) continue;  // the least number has no quotient by -1
    program.run("same", range,
                {Program::buffer(q.data()), Program::buffer(r.data()), Program::buffer(x.data()),
                 Program::value(b)});
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(q[i], static_cast<T>(x[i] / b)) << +x[i] << " / " << +b;
      ASSERT_EQ(r[i], static_cast<T>(x[i] % b)) << +x[i] << " % " << +b;
    }
  }
}

template <class T>
std::vector<T> numbersNearBounds() {
  std::vector<T> numbers;
  const auto most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  for (int i = 0; i < 4; ++i) {
    numbers.push_back(static_cast<T>(most - i));
    numbers.push_back(static_cast<T>(least + i));
    numbers.push_back(static_cast<T>(most / 2 + i - 1));
    numbers.push_back(static_cast<T>(most / 3 + i - 1));
    numbers.push_back(static_cast<T>(i - 2));
    numbers.push_back(static_cast<T>(97 - 31 * i));
  }
  return numbers;
}

// Exact, although vectors divide them as floating-point numbers.
TEST(Vectorising, Divisions) {
  divides<int32_t>("int", numbersNearBounds<int32_t>());
  divides<uint32_t>("uint", numbersNearBounds<uint32_t>());
  divides<int16_t>("short", numbersNearBounds<int16_t>());
  divides<uint8_t>("uchar", numbersNearBounds<uint8_t>());
}

// An id of 32 bits may wrap where it is doubled, as far as LLVM's vectoriser can see: it gathers.
TEST(Vectorising, PairsAreNotGathered) {
  if (!hasMaskedVectors()) GTEST_SKIP() << "needs masked loads and stores";
  const char* const pairs =
      "kernel void sums(global const int* in, global int* out) {\n"
      "  const int i = get_global_id(0);\n"
      "  out[i] = in[2 * i] + 3 * in[2 * i + 1];\n"
      "}";
  EXPECT_TRUE(becomesVectors(pairs, "sums"));
  constexpr size_t count = 150;
  std::vector<int> in(2 * count), out(count, -1);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 101);
  Program(pairs).run("sums", {1, {count, 1, 1}, {50, 1, 1}, {0, 0, 0}},
                     {Program::buffer(in.data()), Program::buffer(out.data())});
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], in[2 * i] + 3 * in[2 * i + 1]) << i;
}

}  // namespace
}  // namespace weft::test
