// From source to a result: builds programs, loads their images and calls the kernels.
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/compiler/fixture.h"
#include "tests/compiler/program.h"

namespace weft {
namespace {

using test::contains;
using test::Program;

class ExecuteTest : public test::CompilerTest {
 protected:
  Program load(const std::string& source, const std::string& options = {}) {
    const auto result = build(source, options);
    if (!result.ok) throw std::runtime_error(result.log);
    return Program(result.image);
  }
};

TEST_F(ExecuteTest, Saxpy) {
  const Program program = load(
      "kernel void saxpy(float a, global const float* x, global float* y) {\n"
      "  size_t i = get_global_id(0);\n  y[i] = a * x[i] + y[i];\n}\n");
  std::vector<float> x(1000), y(1000, 1.0f);
  std::iota(x.begin(), x.end(), 0.0f);
  const float a = 2.0f;
  float *xp = x.data(), *yp = y.data();
  program.run("saxpy", {1000, 1, 1}, {10, 1, 1}, {&a, &xp, &yp});
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(y[i], 2.0f * static_cast<float>(i) + 1.0f);
  const auto& arguments = program.kernel("saxpy").arguments;
  EXPECT_TRUE(arguments[1].reads);
  EXPECT_FALSE(arguments[1].writes);
  EXPECT_TRUE(arguments[2].reads);
  EXPECT_TRUE(arguments[2].writes);
}

TEST_F(ExecuteTest, KnowsWhatIsOnlyWritten) {
  const Program program = load(
      "void put(global int* p, int v) { p[get_global_id(0)] = v; }\n"
      "kernel void fill(global int* out, global const int* in) { put(out, in[0]); }\n");
  const auto& arguments = program.kernel("fill").arguments;
  EXPECT_FALSE(arguments[0].reads);
  EXPECT_TRUE(arguments[0].writes);
  EXPECT_TRUE(arguments[1].reads);
  EXPECT_FALSE(arguments[1].writes);
}

TEST_F(ExecuteTest, ConstDoesNotProveThatNothingIsWritten) {
  const Program program =
      load("kernel void f(global const int* p) { ((global int*)p)[get_global_id(0)] = 1; }\n");
  EXPECT_TRUE(program.kernel("f").arguments[0].writes);
}

TEST_F(ExecuteTest, BarriersAndLocalMemory) {
  const Program program = load(
      "kernel void reverse(global int* p, local int* t) {\n"
      "  local int extra[64];\n"
      "  int l = get_local_id(0), n = get_local_size(0);\n"
      "  t[l] = p[get_global_id(0)];\n  extra[l] = l;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  p[get_global_id(0)] = t[n - 1 - l] + 1000 * extra[n - 1 - l];\n}\n");
  std::vector<int> p(128);
  std::iota(p.begin(), p.end(), 0);
  int* pointer = p.data();
  const uint64_t offset = program.kernel("reverse").local_bytes;
  EXPECT_GE(offset, 256u);
  program.run("reverse", {128, 1, 1}, {64, 1, 1}, {&pointer, &offset}, 256);
  for (int i = 0; i < 128; ++i) ASSERT_EQ(p[i], i / 64 * 64 + 63 - i % 64 + 1000 * (63 - i % 64));
}

TEST_F(ExecuteTest, StructsVectorsAndMath) {
  const Program program = load(
      "typedef struct { char c; float4 v; int n[3]; } S;\n"
      "kernel void f(S s, float3 w, global float* out) {\n"
      "  out[0] = dot(s.v, (float4)(1, 2, 3, 4)) + s.n[2] + s.c;\n"
      "  out[1] = exp(w.x) + pow(w.y, 2.0f) + sqrt(w.z);\n  out[2] = sin(w.x);\n}\n");
  struct alignas(16) S {
    char c;
    alignas(16) float v[4];
    int n[3];
  } s = {1, {1, 1, 1, 1}, {0, 0, 5}};
  alignas(16) const float w[4] = {1.0f, 3.0f, 16.0f, 0.0f};
  std::vector<float> out(3);
  float* pointer = out.data();
  program.run("f", {1, 1, 1}, {1, 1, 1}, {&s, w, &pointer});
  EXPECT_EQ(out[0], 16.0f);
  EXPECT_NEAR(out[1], std::exp(1.0f) + 13.0f, 1e-5);
  EXPECT_NEAR(out[2], std::sin(1.0f), 1e-6);
}

TEST_F(ExecuteTest, LinkedFromTwoObjects) {
  const auto a = compile("int twice(int x) { return 2 * x; }");
  const auto b = compile("int twice(int);\nkernel void f(global int* p) { *p = twice(*p); }");
  ASSERT_TRUE(a.ok && b.ok);
  port::LinkRequest both;
  both.objects = {a.image, b.image};
  both.target = request({}).target;
  const auto linked = compiler().link(both);
  ASSERT_TRUE(linked.ok) << linked.log;
  int value = 21;
  int* pointer = &value;
  Program(linked.image).run("f", {1, 1, 1}, {1, 1, 1}, {&pointer});
  EXPECT_EQ(value, 42);
}

TEST_F(ExecuteTest, WithoutOptimisation) {
  const Program program =
      load("kernel void f(global int* p) { p[get_global_id(0)] += 1; }", "-cl-opt-disable -g");
  std::vector<int> p(8, 1);
  int* pointer = p.data();
  program.run("f", {8, 1, 1}, {4, 1, 1}, {&pointer});
  EXPECT_EQ(p, std::vector<int>(8, 2));
}

// What an older processor runs, runs on this one, too, with the same results.
TEST_F(ExecuteTest, HalfOnProcessorsWithoutF16c) {
  auto program = request(
      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
      // Processors with arithmetic on halves would round a product and sum once.
      "#pragma OPENCL FP_CONTRACT OFF\n"
      "kernel void f(global const ushort* in, global ushort* out, global float* wide) {\n"
      "  size_t i = get_global_id(0); global const half* h = (global const half*)in;\n"
      "  half4 x = vload4(i, h), y = vload4(i ^ 1, h);\n"
      "  vstore4(as_ushort4(x * y + (half4)1.5h), 3 * i, out);\n"
      "  vstore_half4_rtp(vload_half4(i, h) * 1.37f, 3 * i + 1, (global half*)out);\n"
      "  vstore4(as_ushort4(convert_half4(convert_double4(x) * 0.3)), 3 * i + 2, out);\n"
      "  vstore4(vload_half4(i, h) + sin((float4)i), i, wide);\n"
      "}\n",
      "-cl-std=CL3.0");
  program.features.fp16 = program.features.fp64 = true;
  std::vector<uint16_t> in(65536);
  std::iota(in.begin(), in.end(), uint16_t{0});
  std::vector<uint16_t> results[2];
  for (const bool old : {false, true}) {
    if (old) program.target.cpu = "x86-64-v2";
    const auto result = compiler().build(program);
    ASSERT_TRUE(result.ok) << result.log;
    const std::string code(reinterpret_cast<const char*>(result.image.data()), result.image.size());
    if (old) {
      EXPECT_TRUE(contains(code, "__extendhfsf2"));
    }
    std::vector<uint16_t> out(in.size() * 3);
    std::vector<float> wide(in.size());
    const uint16_t* in_pointer = in.data();
    uint16_t* out_pointer = out.data();
    float* wide_pointer = wide.data();
    Program(result.image)
        .run("f", {in.size() / 4, 1, 1}, {64, 1, 1}, {&in_pointer, &out_pointer, &wide_pointer});
    for (size_t i = 0; i < in.size(); ++i) {
      const bool nan = (in[i] & 0x7fff) > 0x7c00;
      ASSERT_EQ(std::isnan(wide[i]), nan) << i;
    }
    const float value = std::ldexp(1024.0f + 5, -10);  // the half 0x3c05
    EXPECT_NEAR(wide[0x3c05], value + std::sin(float(0x3c05 / 4)), 1e-6);
    results[old] = out;
  }
  // NaN may differ in its bits.
  for (size_t i = 0; i < results[0].size(); ++i) {
    const bool nan = (results[0][i] & 0x7fff) > 0x7c00;
    ASSERT_EQ((results[1][i] & 0x7fff) > 0x7c00, nan) << i;
    if (!nan) {
      ASSERT_EQ(results[0][i], results[1][i]) << i;
    }
  }
}

// Vectors have instructions for the powers of two in them, a lane by itself has not. All orders of
// magnitude, infinities and NaNs among them; groups that leave lanes over.
TEST_F(ExecuteTest, ExponentialsAndLogarithmsAreTheSameInVectors) {
  constexpr uint32_t step = 0x3fff1;
  std::vector<float> in{0.0f, -0.0f, std::numeric_limits<float>::infinity()};
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step)
    in.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (float x = -105.5f; x < 90; x += 0.0625f) in.push_back(x);
  const size_t count = in.size();
  std::vector<float> results[2] = {std::vector<float>(2 * count), std::vector<float>(2 * count)};
  for (const bool vectors : {false, true}) {
    set("WEFT_VECTORIZE", vectors ? "always" : "never");
    const Program program = load(
        "kernel void f(global const float* in, global float* out) {\n"
        "  const int i = get_global_id(0);\n"
        "  out[i] = exp(in[i]);\n  out[i + get_global_size(0)] = log(in[i]);\n}\n");
    const float* from = in.data();
    float* to = results[vectors].data();
    program.run("f", {count, 1, 1}, {70, 1, 1}, {&from, &to});
  }
  for (size_t i = 0; i < 2 * count; ++i) {
    const auto [lane, vector] = std::pair(results[0][i], results[1][i]);
    const float x = in[i % count];
    ASSERT_TRUE(std::bit_cast<uint32_t>(lane) == std::bit_cast<uint32_t>(vector) ||
                (std::isnan(lane) && std::isnan(vector)))
        << (i < count ? "exp(" : "log(") << x << ") is " << lane << " and " << vector;
    const double exact = i < count ? std::exp(double(x)) : std::log(double(x));
    if (std::isnormal(lane)) {
      ASSERT_NEAR(lane / exact, 1, 2e-7) << x;
    } else if (lane == 0 || std::isinf(lane)) {
      ASSERT_EQ(lane, static_cast<float>(exact)) << x;
    } else if (std::isnan(lane)) {
      ASSERT_TRUE(std::isnan(exact)) << x;
    }
  }
}

// Both halves of products, in groups that leave lanes over.
TEST_F(ExecuteTest, HalvesOfProducts) {
  constexpr size_t count = 1000;
  std::vector<uint32_t> in(count), out(2 * count);
  for (size_t i = 0; i < count; ++i) in[i] = static_cast<uint32_t>(i * 2654435761u);
  const auto upper = [](uint64_t number) { return static_cast<uint32_t>(number >> 32); };
  const auto lower = [](uint64_t number) { return static_cast<uint32_t>(number); };
  for (const char* setting : {"auto", "always", "never"}) {
    set("WEFT_VECTORIZE", setting);
    const Program program = load(
        "kernel void f(global const uint* in, global uint* out) {\n"
        "  const int i = get_global_id(0);\n  const uint x = in[i], y = ~x;\n"
        "  out[i] = mul_hi(x, 0xd2511f53u) ^ x * 0xd2511f53u;\n"
        "  out[i + get_global_size(0)] = mul_hi(y, x) + 3 * (x * y);\n}\n"
        // Only some lanes load a factor.
        "kernel void g(global const uint* in, global uint* out) {\n"
        "  const int i = get_global_id(0);\n  out[i] = 0;\n"
        "  if (i % 3 == 1) out[i] = mul_hi(in[i], in[i] + 7) ^ in[i] * (in[i] + 7);\n}\n");
    const uint32_t* from = in.data();
    uint32_t* to = out.data();
    program.run("f", {count, 1, 1}, {70, 1, 1}, {&from, &to});
    for (size_t i = 0; i < count; ++i) {
      const uint64_t x = in[i], a = x * 0xd2511f53u, b = x * (~x & UINT32_MAX);
      ASSERT_EQ(out[i], upper(a) ^ lower(a)) << i;
      ASSERT_EQ(out[i + count], upper(b) + 3 * lower(b)) << i;
    }
    program.run("g", {count, 1, 1}, {70, 1, 1}, {&from, &to});
    for (size_t i = 0; i < count; ++i) {
      const uint64_t product = uint64_t{in[i]} * uint32_t(in[i] + 7);
      ASSERT_EQ(out[i], i % 3 == 1 ? upper(product) ^ lower(product) : 0) << i;
    }
  }
}

// That nobody is seen to use it does not make it a function that is called.
TEST_F(ExecuteTest, KernelsMarkedAsUsed) {
  const Program program = load(
      "__attribute__((used)) int twice(int x) { return 2 * x + (int)get_group_id(0); }\n"
      "kernel __attribute__((used)) void f(global int* p) {\n"
      "  p[get_global_id(0)] = twice(get_local_id(0));\n}\n");
  std::vector<int> values(4);
  int* pointer = values.data();
  program.run("f", {4, 1, 1}, {2, 1, 1}, {&pointer});
  EXPECT_EQ(values, (std::vector<int>{0, 2, 1, 3}));
}

TEST_F(ExecuteTest, ConstantsAndProgramScope) {
  const Program program = load(
      "constant int table[4] = {1, 2, 4, 8};\nglobal int counter = 5;\n"
      "kernel void f(global int* p) { p[0] = table[p[1]] + counter; counter++; }\n",
      "-cl-std=CLC++");
  EXPECT_EQ(program.image().global_variable_bytes, 4u);
  int p[2] = {0, 3};
  int* pointer = p;
  program.run("f", {1, 1, 1}, {1, 1, 1}, {&pointer});
  program.run("f", {1, 1, 1}, {1, 1, 1}, {&pointer});
  EXPECT_EQ(p[0], 14);
}

// "NAN expands to a constant expression of type float"
TEST_F(ExecuteTest, NanIsAConstant) {
  const Program program = load(
      "constant float numbers[] = {NAN, -NAN, HUGE_VALF, INFINITY};\n"
      "kernel void f(global float* o) { *o = numbers[0] + numbers[2] + NAN; }\n");
  float result = 1;
  float* pointer = &result;
  program.run("f", {1, 1, 1}, {1, 1, 1}, {&pointer});
  EXPECT_TRUE(std::isnan(result));
}

TEST_F(ExecuteTest, Printf) {
  const Program program = load(
      "void say(int x) { printf(\"x=%d %s\\n\", x, \"end\"); }\n"
      "kernel void loud(int x) { say(x); }\nkernel void quiet(global int* p) { *p = 1; }\n");
  EXPECT_TRUE(program.kernel("loud").uses_printf);
  EXPECT_FALSE(program.kernel("quiet").uses_printf);
  static std::string printed;
  const port::HostServices services{[](const char* format, const void* arguments, uint64_t bytes) {
    printed += format;
    EXPECT_TRUE(arguments);
    EXPECT_GT(bytes, 0u);
  }};
  const int x = 5;
  program.run("loud", {2, 1, 1}, {2, 1, 1}, {&x}, 0, &services);
  EXPECT_EQ(printed, "x=%d %s\nx=%d %s\n");
}

TEST_F(ExecuteTest, AMissingBuiltinIsNamed) {
  const auto result = build(
      "float __attribute__((overloadable)) nowhere(float4 x);\n"
      "kernel void f(global float* p) { *p = nowhere((float4)(1)); }");
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "nowhere(float4)")) << result.log;
}

}  // namespace
}  // namespace weft
