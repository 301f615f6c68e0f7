// cl_khr_work_group_uniform_arithmetic, from OpenCL C and from SPIR-V.
#include <functional>

#include "tests/e2e/spirv_text.h"

namespace weft::e2e {
namespace {

class WorkGroupArithmetic : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    // The macro is all that tells of them.
    const OwnedKernel k = kernel(built("kernel void k(global int* has) {\n"
                                       "#ifdef cl_khr_work_group_uniform_arithmetic\n"
                                       "  *has = 1;\n"
                                       "#endif\n}"),
                                 "k");
    const OwnedMem has = upload(std::vector<cl_int>(1));
    set(k, has);
    run(k, {{1}});
    ASSERT_TRUE(download<cl_int>(has)[0]);
  }

  // Three values per work-item: reduced, scanned with and without its own.
  template <class T>
  void check(const OwnedProgram& program, const std::vector<T>& values, size_t local, T identity,
             const std::function<T(T, T)>& combine) {
    const OwnedKernel k = kernel(program, "k");
    const OwnedMem in = upload(values), out = upload(std::vector<T>(values.size() * 3));
    set(k, in, out);
    run(k, {{values.size()}, {local}});
    const auto results = download<T>(out);
    for (size_t first = 0; first < values.size(); first += local) {
      T all = identity;
      for (size_t i = first; i < first + local; ++i) {
        EXPECT_EQ(results[i * 3 + 2], all) << i << ", exclusive";
        all = combine(all, values[i]);
        EXPECT_EQ(results[i * 3 + 1], all) << i << ", inclusive";
      }
      for (size_t i = first; i < first + local; ++i) EXPECT_EQ(results[i * 3], all) << i;
    }
  }
  OwnedProgram programOf(const std::string& type, const std::string& name) {
    return built("kernel void k(global const " + type + "* in, global " + type +
                     "* out) {\n  size_t i = get_global_id(0); " + type +
                     " x = in[i];\n"
                     "  out[i * 3] = work_group_reduce_" +
                     name + "(x);\n  out[i * 3 + 1] = work_group_scan_inclusive_" + name +
                     "(x);\n  out[i * 3 + 2] = work_group_scan_exclusive_" + name + "(x); }",
                 "-cl-std=CL3.0");
  }
};

TEST_F(WorkGroupArithmetic, Products) {
  std::vector<cl_uint> numbers(60);
  for (cl_uint i = 0; i < 60; ++i) numbers[i] = i * 2 + 1;
  check<cl_uint>(programOf("uint", "mul"), numbers, 20, 1, std::multiplies<>());
  // Powers of two, so that the order does not matter.
  check<cl_double>(programOf("double", "mul"), {0.5, 4, 2, 8, 0.25, 2, 1, 16}, 4, 1,
                   std::multiplies<>());
}

TEST_F(WorkGroupArithmetic, ProductsOfHalves) {
  if (!deviceInfo<cl_device_fp_config>(CL_DEVICE_HALF_FP_CONFIG)) GTEST_SKIP() << "no halves";
  const OwnedProgram program = built(
      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
      "kernel void k(global float* data) { size_t i = get_global_id(0); half x = data[i];\n"
      "  data[i] = (float)work_group_scan_inclusive_mul(x) + 1000.0f * work_group_reduce_mul(x); }",
      "-cl-std=CL3.0");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem data = upload(std::vector<cl_float>{0.5f, 4, 8, 0.25f});
  set(k, data);
  run(k, {{4}, {4}});
  EXPECT_EQ(download<cl_float>(data), (std::vector<cl_float>{4000.5f, 4002, 4016, 4004}));
}

TEST_F(WorkGroupArithmetic, Bits) {
  std::vector<cl_long> numbers(66);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<cl_long>(~(0x8040201008040201u * (i % 13)));
  check<cl_long>(programOf("long", "and"), numbers, 33, -1, std::bit_and<>());
  check<cl_long>(programOf("long", "xor"), numbers, 22, 0, std::bit_xor<>());
  check<cl_int>(programOf("int", "or"), {1, 2, 4, 16, 0, 0, 8, 1}, 4, 0, std::bit_or<>());
}

TEST_F(WorkGroupArithmetic, TruthValues) {
  // Neither the sum nor the bits of these are their logical combination.
  const std::vector<cl_int> numbers = {2, 1, 0, 4, -1, 8, 1, 2, 0, 0, 0, 0};
  for (const size_t local : {1, 3, 4, 12}) {
    check<cl_int>(programOf("int", "logical_and"), numbers, local, 1,
                  [](cl_int a, cl_int b) { return cl_int{a && b}; });
    check<cl_int>(programOf("int", "logical_or"), numbers, local, 0,
                  [](cl_int a, cl_int b) { return cl_int{a || b}; });
    check<cl_int>(programOf("int", "logical_xor"), numbers, local, 0,
                  [](cl_int a, cl_int b) { return cl_int{!a != !b}; });
  }
}

TEST_F(WorkGroupArithmetic, FromSpirv) {
  const OwnedProgram program = programFromText(context, R"(
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Int64
    OpCapability Groups
    OpCapability GroupUniformArithmeticKHR
    OpExtension "SPV_KHR_uniform_group_instructions"
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %k "k" %id
    OpDecorate %id BuiltIn GlobalInvocationId
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %ulong = OpTypeInt 64 0
    %ulong3 = OpTypeVector %ulong 3
    %input = OpTypePointer Input %ulong3
    %global_uint = OpTypePointer CrossWorkgroup %uint
    %zero = OpConstant %uint 0
    %one = OpConstant %uint 1
    %two = OpConstant %uint 2
    %hundred = OpConstant %uint 100
    %id = OpVariable %input Input
    %signature = OpTypeFunction %void %global_uint
    %k = OpFunction %void None %signature
    %data = OpFunctionParameter %global_uint
    %start = OpLabel
    %ids = OpLoad %ulong3 %id Aligned 32
    %i = OpCompositeExtract %ulong %ids 0
    %place = OpInBoundsPtrAccessChain %global_uint %data %i
    %x = OpLoad %uint %place Aligned 4
    %product = OpGroupIMulKHR %uint %two InclusiveScan %x
    %is = OpINotEqual %bool %x %zero
    %odd = OpGroupLogicalXorKHR %bool %two Reduce %is
    %more = OpSelect %uint %odd %hundred %zero
    %result = OpIAdd %uint %product %more
    OpStore %place %result Aligned 4
    OpReturn
    OpFunctionEnd
  )");
  ASSERT_EQ(build(program), CL_SUCCESS) << log(program);
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem data = upload(std::vector<cl_uint>{3, 5, 7, 2, 2, 0});
  set(k, data);
  run(k, {{6}, {3}});
  EXPECT_EQ(download<cl_uint>(data), (std::vector<cl_uint>{103, 115, 205, 2, 4, 0}));
}

}  // namespace
}  // namespace weft::e2e
