// AMD's extensions of the language, beside the formulas of their texts.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

#include "api/cl_weft_ext.h"
#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class AmdExtensions : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    size_t bytes = 0;
    cl.clGetDeviceInfo(testDevice(), CL_DEVICE_EXTENSIONS, 0, nullptr, &bytes);
    std::string names(bytes, ' ');
    cl.clGetDeviceInfo(testDevice(), CL_DEVICE_EXTENSIONS, bytes, names.data(), nullptr);
    if (names.find("cl_amd_media_ops2") == std::string::npos)
      GTEST_SKIP() << "the device does not have them";
  }
};

cl_uint byte(cl_uint x, int i) { return x >> (8 * i) & 0xff; }
cl_uint apart(cl_uint x, cl_uint y) { return x > y ? x - y : y - x; }

cl_uint sad(cl_uint x, cl_uint y, cl_uint z) {
  for (int i = 0; i < 4; ++i) z += apart(byte(x, i), byte(y, i));
  return z;
}
cl_uint msad(cl_uint x, cl_uint y, cl_uint z) {
  for (int i = 0; i < 4; ++i)
    if (byte(y, i)) z += apart(byte(x, i), byte(y, i));
  return z;
}
cl_uint lerp(cl_uint x, cl_uint y, cl_uint z) {
  cl_uint result = 0;
  for (int i = 0; i < 4; ++i) result += (byte(x, i) + byte(y, i) + (byte(z, i) & 1)) / 2 << (8 * i);
  return result;
}
cl_uint field(cl_uint x, cl_uint y, cl_uint z, bool is_signed) {
  const cl_uint offset = y & 31, width = z & 31;
  const cl_long wide = is_signed ? cl_long(cl_int(x)) : cl_long(x);
  if (width == 0) return 0;
  if (offset + width >= 32) return cl_uint(wide >> offset);
  cl_uint bits = cl_uint(wide >> offset) & ((1u << width) - 1);
  if (is_signed && bits >> (width - 1)) bits |= ~0u << width;
  return bits;
}
template <class T>
cl_uint ofThree(cl_uint x, cl_uint y, cl_uint z, int which) {
  T sorted[] = {T(x), T(y), T(z)};
  std::sort(sorted, sorted + 3);
  return cl_uint(sorted[which]);
}

struct Operation {
  const char* code;  // of x, y and z
  std::function<cl_uint(cl_uint, cl_uint, cl_uint)> reference;
};

const Operation operations[] = {
    {"amd_bitalign(x, y, z)",
     [](auto x, auto y, auto z) { return cl_uint((cl_ulong(x) << 32 | y) >> (z & 31)); }},
    {"amd_bytealign(x, y, z)",
     [](auto x, auto y, auto z) { return cl_uint((cl_ulong(x) << 32 | y) >> (z & 3) * 8); }},
    {"amd_lerp(x, y, z)", lerp},
    {"amd_sad(x, y, z)", sad},
    {"amd_sadhi(x, y, z)", [](auto x, auto y, auto z) { return z + (sad(x, y, 0) << 16); }},
    {"amd_msad(x, y, z)", msad},
    {"amd_sadw(x, y, z)",
     [](auto x, auto y, auto z) {
       return z + apart(x & 0xffff, y & 0xffff) + apart(x >> 16, y >> 16);
     }},
    {"amd_sadd(x, y, z)", [](auto x, auto y, auto z) { return z + apart(x, y); }},
    {"amd_bfm(x, y)", [](auto x, auto y, auto) { return ((1u << (x & 31)) - 1) << (y & 31); }},
    {"amd_bfe(x, y, z)", [](auto x, auto y, auto z) { return field(x, y, z, false); }},
    {"AS_UINT(amd_bfe(AS_INT(x), y, z))",
     [](auto x, auto y, auto z) { return field(x, y, z, true); }},
    {"amd_min3(x, y, z)", [](auto x, auto y, auto z) { return ofThree<cl_uint>(x, y, z, 0); }},
    {"amd_median3(x, y, z)", [](auto x, auto y, auto z) { return ofThree<cl_uint>(x, y, z, 1); }},
    {"AS_UINT(amd_median3(AS_INT(x), AS_INT(y), AS_INT(z)))",
     [](auto x, auto y, auto z) { return ofThree<cl_int>(x, y, z, 1); }},
    {"AS_UINT(amd_max3(AS_INT(x), AS_INT(y), AS_INT(z)))",
     [](auto x, auto y, auto z) { return ofThree<cl_int>(x, y, z, 2); }},
    {"TO_UINT(amd_unpack3(x))", [](auto x, auto, auto) { return byte(x, 3); }},
    {"TO_UINT(amd_unpack2(x) + amd_unpack1(y) + amd_unpack0(z))",
     [](auto x, auto y, auto z) { return byte(x, 2) + byte(y, 1) + byte(z, 0); }},
    {"popcnt(x)", [](auto x, auto, auto) { return cl_uint(__builtin_popcount(x)); }},
};

// Each operation of scalars and of vectors of two, of random numbers.
TEST_F(AmdExtensions, MediaOperations) {
  std::string scalars, vectors;
  size_t count = 0;
  for (const Operation& operation : operations) {
    const std::string place = std::to_string(count++) + " * n + i] = ";
    scalars += std::string("out[") + place + operation.code + ";\n";
    vectors += std::string("out2[") + place + operation.code + ";\n";
  }
  const OwnedProgram program = built(
      "#pragma OPENCL EXTENSION cl_amd_media_ops : enable\n"
      "#pragma OPENCL EXTENSION cl_amd_media_ops2 : enable\n"
      "#pragma OPENCL EXTENSION cl_amd_popcnt : enable\n"
      "#define AS_INT as_int\n#define AS_UINT as_uint\n#define TO_UINT convert_uint\n"
      "kernel void one(global const uint* in, global uint* out) {\n"
      "  const uint i = get_global_id(0), n = get_global_size(0);\n"
      "  const uint x = in[i], y = in[n + i], z = in[2 * n + i];\n" +
          scalars +
          "}\n#undef AS_INT\n#undef AS_UINT\n#undef TO_UINT\n"
          "#define AS_INT as_int2\n#define AS_UINT as_uint2\n#define TO_UINT convert_uint2\n"
          "kernel void two(global const uint2* in, global uint2* out2) {\n"
          "  const uint i = get_global_id(0), n = get_global_size(0);\n"
          "  const uint2 x = in[i], y = in[n + i], z = in[2 * n + i];\n" +
          vectors + "}\n",
      "-Werror");
  constexpr size_t n = 128;
  std::mt19937 random(1);
  std::vector<cl_uint> in(3 * n);
  for (cl_uint& x : in) x = random();
  in[n] = 0;  // masks everything
  const OwnedMem input = upload(in);
  for (const char* name : {"one", "two"}) {
    const OwnedMem output = upload(std::vector<cl_uint>(count * n));
    const OwnedKernel k = kernel(program, name);
    set(k, input, output);
    run(k, {{std::string(name) == "one" ? n : n / 2}});
    const auto out = download<cl_uint>(output);
    for (size_t at = 0; at < count; ++at)
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(out[at * n + i], operations[at].reference(in[i], in[n + i], in[2 * n + i]))
            << operations[at].code << " of " << in[i] << ", " << in[n + i] << ", " << in[2 * n + i];
  }
}

TEST_F(AmdExtensions, QuadsAndPacks) {
  const OwnedProgram program = built(R"(
    kernel void k(global const ulong2* in, global ulong2* out) {
      const uint2 y = convert_uint2(in[1]);
      out[0] = amd_qsad(in[0], y, in[2]);
      out[1] = amd_mqsad(in[0], y, in[2]);
      const uint4 four = as_uint4(in[0]);
      out[2].x = amd_sad4(four, four.wzyx, 5);
      out[2].y = amd_pack((float4)(1.9f, 255, 16, 3)) | (ulong)amd_max3(1.5f, 3.0f, 2.0f) << 32;
    })");
  const std::vector<cl_ulong> in{0x0123456789abcdef, 0xfedcba9876543210, 0x00ff10a0,
                                 0x12003400,         0xffff000100020003, 0x8000700060005000};
  const OwnedMem input = upload(in), output = upload(std::vector<cl_ulong>(6));
  const OwnedKernel k = kernel(program, "k");
  set(k, input, output);
  run(k, {{1}});
  const auto out = download<cl_ulong>(output);
  for (size_t i = 0; i < 2; ++i)
    for (int part = 0; part < 4; ++part) {
      const cl_uint x = cl_uint(in[i] >> (8 * part)), y = cl_uint(in[2 + i]);
      const cl_uint sum = in[4 + i] >> (16 * part) & 0xffff;
      EXPECT_EQ(out[i] >> (16 * part) & 0xffff, sad(x, y, sum) & 0xffff) << i << ' ' << part;
      EXPECT_EQ(out[2 + i] >> (16 * part) & 0xffff, msad(x, y, sum) & 0xffff) << i << ' ' << part;
    }
  const cl_uint x[] = {0x89abcdef, 0x01234567, 0x76543210, 0xfedcba98};
  cl_uint expected = 5;
  for (int i = 0; i < 4; ++i) expected = sad(x[i], x[3 - i], expected);
  EXPECT_EQ(out[4], expected);
  EXPECT_EQ(out[5], 0x300000000ul | 0x0310ff01);
}

// What later versions of the language have for everybody, and where a program runs.
TEST_F(AmdExtensions, SynonymsAndMacros) {
  const OwnedProgram program = built(R"(
    #pragma OPENCL EXTENSION cl_amd_fp64 : enable
    #pragma OPENCL EXTENSION cl_amd_printf : enable
    #pragma OPENCL EXTENSION cl_amd_vec3 : enable
    #if !defined(cl_amd_fp64) || !defined(cl_amd_printf) || !defined(cl_amd_vec3)
    #error no macro
    #endif
    kernel void k(global int* out) {
      double d = 2.5;
      int3 v = (int3)(1, 2, 3);
      out[0] = (int)(d * 2) + v.z;
      if (out[0] == 0) printf("%d\n", out[0]);
    #if defined(__CPU__) && defined(__X86_64__) && !defined(__GPU__)
      out[0] += 100;
    #elif defined(__GPU__) && !defined(__CPU__)
      out[0] += 200;
    #endif
    })",
                                     "-Werror");
  const OwnedMem out = upload(std::vector<cl_int>(1));
  const OwnedKernel k = kernel(program, "k");
  set(k, out);
  run(k, {{1}});
  const bool gpu = deviceInfo<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU;
  const cl_int result = download<cl_int>(out).front();
  // On a unified device of both it may have run on either.
  const std::string extensions = listOf<char>(testDevice(), CL_DEVICE_EXTENSIONS).data();
  if (extensions.find(CL_WEFT_UNIFIED_DEVICE_EXTENSION_NAME) != std::string::npos)
    EXPECT_TRUE(result == 108 || result == 208) << result;
  else
    EXPECT_EQ(result, gpu ? 208 : 108);
}

}  // namespace
}  // namespace weft::e2e
