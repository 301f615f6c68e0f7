// Every kind of argument.
#include <cstring>
#include <numeric>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class Arguments : public Programs {};

struct ScalarRow {
  const char* type;
  std::vector<unsigned char> value;
};

template <class T>
ScalarRow scalar(const char* type, T value) {
  ScalarRow row{type, std::vector<unsigned char>(sizeof value)};
  std::memcpy(row.value.data(), &value, sizeof value);
  return row;
}

// A value arrives as it was sent, whatever stands before and behind it.
TEST_F(Arguments, ScalarsOfEveryType) {
  const ScalarRow rows[] = {
      scalar<cl_char>("char", -100),
      scalar<cl_uchar>("uchar", 200),
      scalar<cl_short>("short", -30000),
      scalar<cl_ushort>("ushort", 60000),
      scalar<cl_int>("int", -2000000000),
      scalar<cl_uint>("uint", 4000000000u),
      scalar<cl_long>("long", -9000000000000000000),
      scalar<cl_ulong>("ulong", 18000000000000000000u),
      scalar<cl_float>("float", 1.5e30f),
      scalar<cl_double>("double", -2.5e300),
  };
  for (const ScalarRow& row : rows) {
    const std::string type = row.type;
    const OwnedProgram program = built("kernel void k(char a, " + type + " b, char c, global " +
                                       type + "* out) { out[0] = b; out[1] = a; out[2] = c; }");
    const OwnedKernel k = kernel(program, "k");
    const size_t size = row.value.size();
    const OwnedMem out = upload(std::vector<unsigned char>(3 * size));
    const cl_mem handle = out;
    const cl_char a = 17, c = 99;
    ASSERT_EQ(cl.clSetKernelArg(k, 0, 1, &a), CL_SUCCESS);
    ASSERT_EQ(cl.clSetKernelArg(k, 1, size, row.value.data()), CL_SUCCESS);
    ASSERT_EQ(cl.clSetKernelArg(k, 2, 1, &c), CL_SUCCESS);
    ASSERT_EQ(cl.clSetKernelArg(k, 3, sizeof handle, &handle), CL_SUCCESS);
    run(k, {{1}});
    const auto bytes = download<unsigned char>(out);
    EXPECT_EQ(std::memcmp(bytes.data(), row.value.data(), size), 0) << type;
  }
}

TEST_F(Arguments, VectorsOfEveryWidth) {
  for (const int width : {2, 3, 4, 8, 16}) {
    const std::string n = std::to_string(width), type = "int" + n;
    const OwnedProgram program =
        built("kernel void k(char before, " + type + " v, long after, global int* out) {\n" +
              "  vstore" + n + "(v * 2, 0, out); out[16] = before; out[17] = after; }");
    const OwnedKernel k = kernel(program, "k");
    const OwnedMem out = upload(std::vector<cl_int>(18));
    cl_int16 v{};
    for (int i = 0; i < 16; ++i) v.s[i] = i + 1;
    const cl_mem handle = out;
    const cl_char before = 5;
    const cl_long after = 6;
    const size_t size = sizeof(cl_int) * static_cast<size_t>(width == 3 ? 4 : width);
    ASSERT_EQ(cl.clSetKernelArg(k, 0, sizeof before, &before), CL_SUCCESS);
    ASSERT_EQ(cl.clSetKernelArg(k, 1, size, &v), CL_SUCCESS);
    ASSERT_EQ(cl.clSetKernelArg(k, 2, sizeof after, &after), CL_SUCCESS);
    ASSERT_EQ(cl.clSetKernelArg(k, 3, sizeof handle, &handle), CL_SUCCESS);
    run(k, {{1}});
    const auto values = download<cl_int>(out);
    for (int i = 0; i < width; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], 2 * (i + 1)) << width;
    EXPECT_EQ(values[16], 5);
    EXPECT_EQ(values[17], 6);
  }
}

TEST_F(Arguments, SixteenWideArithmeticAndSwizzles) {
  const OwnedProgram program = built(
      "kernel void k(global const float16* a, global const float16* b, global float16* out) {\n"
      "  size_t i = get_global_id(0);\n"
      "  float16 x = a[i] * b[i] + (float16)(1.0f);\n"
      "  x.s0123 = x.s3210;\n"
      "  x.odd = select(x.odd, -x.odd, x.odd > 50.0f);\n"
      "  out[i] = x;\n"
      "}");
  const OwnedKernel k = kernel(program, "k");
  constexpr size_t items = 33;
  std::vector<cl_float> a(items * 16), b(items * 16);
  std::iota(a.begin(), a.end(), 0.0f);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7);
  const OwnedMem first = upload(a), second = upload(b),
                 out = upload(std::vector<cl_float>(a.size()));
  set(k, first, second, out);
  run(k, {{items}});
  const auto values = download<cl_float>(out);
  for (size_t i = 0; i < items; ++i) {
    float x[16];
    for (size_t e = 0; e < 16; ++e) x[e] = a[i * 16 + e] * b[i * 16 + e] + 1.0f;
    std::swap(x[0], x[3]);
    std::swap(x[1], x[2]);
    for (size_t e = 1; e < 16; e += 2)
      if (x[e] > 50.0f) x[e] = -x[e];
    for (size_t e = 0; e < 16; ++e) ASSERT_EQ(values[i * 16 + e], x[e]) << i << " " << e;
  }
}

// As the kernel's C has it.
struct Inner {
  cl_short s[3];
  cl_char c;
};
struct Outer {
  cl_char tag;
  cl_double d;
  Inner inner[2];
  cl_float4 v;
};

constexpr char structs[] =
    "typedef struct { short s[3]; char c; } inner;\n"
    "typedef struct { char tag; double d; inner in[2]; float4 v; } outer;\n";

TEST_F(Arguments, StructsByValue) {
  const OwnedProgram program = built(std::string(structs) +
                                     "kernel void k(int before, outer o, int after,\n"
                                     "              global double* out) {\n"
                                     "  out[0] = o.tag; out[1] = o.d; out[2] = o.in[1].s[2];\n"
                                     "  out[3] = o.in[0].c; out[4] = o.v.w; out[5] = before;\n"
                                     "  out[6] = after; o.d = 0; out[7] = o.d + sizeof(outer);\n"
                                     "}");
  const OwnedKernel k = kernel(program, "k");
  Outer o{};
  o.tag = 'x';
  o.d = 2.5;
  o.inner[1].s[2] = -7;
  o.inner[0].c = 9;
  o.v.s[3] = 0.25f;
  const OwnedMem out = upload(std::vector<cl_double>(8));
  set(k, cl_int{1}, o, cl_int{2}, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_double>(out),
            (std::vector<cl_double>{'x', 2.5, -7, 9, 0.25, 1, 2, sizeof(Outer)}));
}

TEST_F(Arguments, StructsInBuffers) {
  const OwnedProgram program =
      built(std::string(structs) +
            "kernel void k(global outer* o) {\n"
            "  global outer* mine = &o[get_global_id(0)];\n"
            "  mine->in[0] = mine->in[1]; mine->d += get_global_id(0); mine->v = mine->v.wzyx; }");
  const OwnedKernel k = kernel(program, "k");
  std::vector<Outer> data(10);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i].d = 100;
    data[i].inner[1].s[1] = static_cast<cl_short>(i);
    data[i].v.s[0] = static_cast<float>(i) + 0.5f;
  }
  const OwnedMem memory = upload(data);
  set(k, memory);
  run(k, {{data.size()}});
  const auto result = download<Outer>(memory);
  for (size_t i = 0; i < data.size(); ++i) {
    EXPECT_EQ(result[i].d, 100.0 + static_cast<double>(i));
    EXPECT_EQ(result[i].inner[0].s[1], static_cast<cl_short>(i));
    EXPECT_EQ(result[i].v.s[3], static_cast<float>(i) + 0.5f);
  }
}

TEST_F(Arguments, ConstantBuffersAndProgramConstants) {
  const OwnedProgram program = built(
      "constant int table[4] = {10, 20, 30, 40};\n"
      "kernel void k(constant int* c, global int* out) {\n"
      "  size_t i = get_global_id(0); out[i] = c[i] + table[i % 4]; }");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem in = upload(std::vector<cl_int>{1, 2, 3, 4, 5}),
                 out = upload(std::vector<cl_int>(5));
  set(k, in, out);
  run(k, {{5}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{11, 22, 33, 44, 15}));
}

TEST_F(Arguments, NullBuffersAreNull) {
  const OwnedProgram program = built(
      "kernel void k(global int* a, constant int* b, global int* out) {\n"
      "  out[0] = a == 0; out[1] = b == 0; out[2] = out == 0; }");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(3));
  set(k, cl_mem{nullptr}, cl_mem{nullptr}, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{1, 1, 0}));
}

TEST_F(Arguments, SubBuffersAndOneBufferTwice) {
  const OwnedProgram program = built(
      "kernel void k(global const int* in, global int* out) {\n"
      "  size_t i = get_global_id(0); out[i] = in[i] + 100; }");
  const OwnedKernel k = kernel(program, "k");
  std::vector<cl_int> values(256);
  std::iota(values.begin(), values.end(), 0);
  const OwnedMem whole = upload(values);
  const OwnedMem low = makeSubBuffer(whole, 0, 512), high = makeSubBuffer(whole, 512, 512);
  set(k, low, high);
  run(k, {{128}});
  const auto result = download<cl_int>(whole);
  for (size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(result[i], static_cast<cl_int>(i));
    EXPECT_EQ(result[i + 128], static_cast<cl_int>(i) + 100);
  }
  set(k, whole, whole);
  run(k, {{256}});
  EXPECT_EQ(download<cl_int>(whole)[5], 105);
}

TEST_F(Arguments, ChangedBetweenLaunches) {
  const OwnedProgram program =
      built("kernel void k(global int* out, int at, int value) { out[at] = value; }");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(200));
  for (cl_int i = 0; i < 200; ++i) {
    set(k, out, i, i * i);
    ASSERT_EQ(enqueue(k, {{1}}), CL_SUCCESS);
  }
  const auto values = download<cl_int>(out);
  for (cl_int i = 0; i < 200; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], i * i);
}

// What a launch uses stays alive until it has run.
TEST_F(Arguments, ReleasedWhileInFlight) {
  const OwnedMem out = upload(std::vector<cl_int>(1));
  {
    const OwnedEvent gate = makeUserEvent();
    const cl_event waited = gate;
    {
      const OwnedProgram program =
          built("kernel void k(global int* a, global int* out) { *out = *a; }");
      const OwnedKernel k = kernel(program, "k");
      const OwnedMem in = upload(std::vector<cl_int>{77});
      set(k, in, out);
      const size_t one = 1;
      ASSERT_EQ(cl.clEnqueueNDRangeKernel(queue, k, 1, nullptr, &one, nullptr, 1, &waited, nullptr),
                CL_SUCCESS);
    }
    ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  }
  EXPECT_EQ(download<cl_int>(out)[0], 77);
}

}  // namespace
}  // namespace weft::e2e
