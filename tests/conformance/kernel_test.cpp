// clCreateKernel, clCreateKernelsInProgram, clCloneKernel, clGetKernel*Info.
#include "tests/conformance/program_fixture.h"

namespace weft::conformance {
namespace {

class KernelTest : public ProgramFixture {};

TEST_F(KernelTest, CreateChecksItsArguments) {
  const OwnedProgram program = built(scale_source);
  const OwnedProgram unbuilt = fromSource(scale_source);
  const auto code = [](cl_program p, const char* name) {
    cl_int result = 1;
    const OwnedKernel made(cl.clCreateKernel(p, name, &result));
    EXPECT_EQ(made != nullptr, result == CL_SUCCESS);
    return result;
  };
  EXPECT_EQ(code(program, "scale"), CL_SUCCESS);
  EXPECT_EQ(code(nullptr, "scale"), CL_INVALID_PROGRAM);
  EXPECT_EQ(code(foreign<cl_program>(cl_context(context)), "scale"), CL_INVALID_PROGRAM);
  EXPECT_EQ(code(program, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(code(program, ""), CL_INVALID_KERNEL_NAME);
  EXPECT_EQ(code(program, "scal"), CL_INVALID_KERNEL_NAME);
  EXPECT_EQ(code(unbuilt, "scale"), CL_INVALID_PROGRAM_EXECUTABLE);
}

TEST_F(KernelTest, CreateAll) {
  const OwnedProgram program = built(two_kernels_source);
  cl_uint count = 0;
  EXPECT_EQ(cl.clCreateKernelsInProgram(program, 0, nullptr, &count), CL_SUCCESS);
  EXPECT_EQ(count, 2u);
  cl_kernel raw[2] = {};
  EXPECT_EQ(cl.clCreateKernelsInProgram(program, 1, raw, &count), CL_INVALID_VALUE);
  EXPECT_EQ(raw[0], nullptr);
  ASSERT_EQ(cl.clCreateKernelsInProgram(program, 2, raw, nullptr), CL_SUCCESS);
  const OwnedKernel first(raw[0]), second(raw[1]);
  char name[16] = {};
  EXPECT_EQ(cl.clGetKernelInfo(second, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr),
            CL_SUCCESS);
  EXPECT_STREQ(name, "second");
  EXPECT_EQ(cl.clCreateKernelsInProgram(nullptr, 0, nullptr, &count), CL_INVALID_PROGRAM);
  EXPECT_EQ(cl.clCreateKernelsInProgram(fromSource(scale_source), 0, nullptr, &count),
            CL_INVALID_PROGRAM_EXECUTABLE);
}

TEST_F(KernelTest, RetainAndRelease) {
  const OwnedKernel scale = kernel(built(scale_source), "scale");
  EXPECT_EQ(cl.clRetainKernel(scale), CL_SUCCESS);
  EXPECT_EQ(info<cl_uint>(cl.clGetKernelInfo, cl_kernel(scale), CL_KERNEL_REFERENCE_COUNT), 2u);
  EXPECT_EQ(cl.clReleaseKernel(scale), CL_SUCCESS);
  EXPECT_EQ(cl.clRetainKernel(nullptr), CL_INVALID_KERNEL);
  EXPECT_EQ(cl.clReleaseKernel(foreign<cl_kernel>(cl_context(context))), CL_INVALID_KERNEL);
}

TEST_F(KernelTest, OutlivesTheProgramsHandle) {
  OwnedProgram program = built(scale_source);
  const cl_program handle = program;
  const OwnedKernel scale = kernel(program, "scale");
  program.reset();
  EXPECT_EQ(info<cl_program>(cl.clGetKernelInfo, cl_kernel(scale), CL_KERNEL_PROGRAM), handle);
  EXPECT_EQ(runScale(scale, 2), (std::vector<cl_int>{2, 4, 6, 8}));
}

TEST_F(KernelTest, CloneHasTheSameArguments) {
  const OwnedProgram program = built(scale_source);
  const OwnedKernel scale = kernel(program, "scale");
  cl_int factor = 5;
  ASSERT_EQ(cl.clSetKernelArg(scale, 1, sizeof factor, &factor), CL_SUCCESS);
  cl_int code = 1;
  const OwnedKernel clone(cl.clCloneKernel(scale, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  factor = 7;
  ASSERT_EQ(cl.clSetKernelArg(scale, 1, sizeof factor, &factor), CL_SUCCESS);
  std::vector<cl_int> values{1, 2};
  const OwnedMem memory = makeBuffer(CL_MEM_COPY_HOST_PTR, 8, values.data());
  const cl_mem handle = memory;
  const size_t global = 2;
  ASSERT_EQ(cl.clSetKernelArg(clone, 0, sizeof handle, &handle), CL_SUCCESS);
  ASSERT_EQ(
      cl.clEnqueueNDRangeKernel(queue, clone, 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
      CL_SUCCESS);
  ASSERT_EQ(
      cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 8, values.data(), 0, nullptr, nullptr),
      CL_SUCCESS);
  EXPECT_EQ(values, (std::vector<cl_int>{5, 10}));
  EXPECT_EQ(cl.clCloneKernel(nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_KERNEL);
}

TEST_F(KernelTest, Info) {
  const OwnedProgram program = built(
      "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void k(global float* a, float4 b) {}");
  const OwnedKernel owned = kernel(program, "k");
  const cl_kernel k = owned;
  EXPECT_EQ(info<cl_uint>(cl.clGetKernelInfo, k, CL_KERNEL_NUM_ARGS), 2u);
  EXPECT_EQ(info<cl_context>(cl.clGetKernelInfo, k, CL_KERNEL_CONTEXT), cl_context(context));
  EXPECT_EQ(info<cl_program>(cl.clGetKernelInfo, k, CL_KERNEL_PROGRAM), cl_program(program));
  char text[64] = {};
  size_t size = 0;
  ASSERT_EQ(cl.clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof text, text, &size), CL_SUCCESS);
  EXPECT_STREQ(text, "k");
  EXPECT_EQ(size, 2u);
  ASSERT_EQ(cl.clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, sizeof text, text, nullptr), CL_SUCCESS);
  EXPECT_STREQ(text, "reqd_work_group_size(4,2,1)");
  EXPECT_EQ(cl.clGetKernelInfo(nullptr, CL_KERNEL_NUM_ARGS, 0, nullptr, &size), CL_INVALID_KERNEL);
  EXPECT_EQ(cl.clGetKernelInfo(k, 0, 0, nullptr, &size), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, 1, text, nullptr), CL_INVALID_VALUE);
}

TEST_F(KernelTest, WorkGroupInfo) {
  const OwnedProgram program = built(
      "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void k(global int* a, local int* b) {"
      "  local int c[100]; c[get_local_id(0)] = b[0]; barrier(CLK_LOCAL_MEM_FENCE); a[0] = c[1]; }"
      "kernel void plain(global int* a) { a[0] = 1; }");
  const OwnedKernel owned = kernel(program, "k"), plain = kernel(program, "plain");
  const cl_kernel k = owned;
  const auto ask = [&]<class T>(T, cl_kernel of, cl_kernel_work_group_info name) {
    return info<T>(cl.clGetKernelWorkGroupInfo, of, testDevice(), name);
  };
  EXPECT_GE(ask(size_t{}, k, CL_KERNEL_WORK_GROUP_SIZE), 8u);
  EXPECT_LE(ask(size_t{}, k, CL_KERNEL_WORK_GROUP_SIZE),
            deviceInfo<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE));
  EXPECT_EQ(ask(std::array<size_t, 3>{}, k, CL_KERNEL_COMPILE_WORK_GROUP_SIZE),
            (std::array<size_t, 3>{4, 2, 1}));
  EXPECT_EQ(ask(std::array<size_t, 3>{}, plain, CL_KERNEL_COMPILE_WORK_GROUP_SIZE),
            (std::array<size_t, 3>{0, 0, 0}));
  EXPECT_GT(ask(size_t{}, k, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE), 0u);
  const cl_ulong fixed = ask(cl_ulong{}, k, CL_KERNEL_LOCAL_MEM_SIZE);
  EXPECT_GE(fixed, 400u);
  ASSERT_EQ(cl.clSetKernelArg(k, 1, 1000, nullptr), CL_SUCCESS);
  EXPECT_GE(ask(cl_ulong{}, k, CL_KERNEL_LOCAL_MEM_SIZE), fixed + 1000);
  EXPECT_EQ(ask(cl_ulong{}, plain, CL_KERNEL_LOCAL_MEM_SIZE), 0u);
  EXPECT_LT(ask(cl_ulong{}, k, CL_KERNEL_PRIVATE_MEM_SIZE), 1u << 20);
}

TEST_F(KernelTest, WorkGroupInfoRefusesBadArguments) {
  const OwnedKernel scale = kernel(built(scale_source), "scale");
  std::array<size_t, 3> value{};
  const auto code = [&](cl_kernel k, cl_device_id d, cl_kernel_work_group_info name, size_t size) {
    return cl.clGetKernelWorkGroupInfo(k, d, name, size, &value, nullptr);
  };
  EXPECT_EQ(code(scale, testDevice(), CL_KERNEL_WORK_GROUP_SIZE, 8), CL_SUCCESS);
  // "Device can be NULL only if there is a single device associated with kernel."
  EXPECT_EQ(code(scale, nullptr, CL_KERNEL_WORK_GROUP_SIZE, 8),
            testDevices().size() == 1 ? CL_SUCCESS : CL_INVALID_DEVICE);
  EXPECT_EQ(code(nullptr, testDevice(), CL_KERNEL_WORK_GROUP_SIZE, 8), CL_INVALID_KERNEL);
  EXPECT_EQ(code(scale, foreign<cl_device_id>(cl_context(context)), CL_KERNEL_WORK_GROUP_SIZE, 8),
            CL_INVALID_DEVICE);
  EXPECT_EQ(code(scale, testDevice(), 0, 8), CL_INVALID_VALUE);
  EXPECT_EQ(code(scale, testDevice(), CL_KERNEL_WORK_GROUP_SIZE, 4), CL_INVALID_VALUE);
  EXPECT_EQ(code(scale, testDevice(), CL_KERNEL_GLOBAL_WORK_SIZE, sizeof value), CL_INVALID_VALUE)
      << "neither a custom device nor a built-in kernel";
}

TEST_F(KernelTest, SubGroupInfo) {
  if (deviceInfo<cl_uint>(CL_DEVICE_MAX_NUM_SUB_GROUPS)) GTEST_SKIP() << "there are sub-groups";
  const OwnedKernel scale = kernel(built(scale_source), "scale");
  size_t local = 64, value = 0;
  for (const auto query : {cl.clGetKernelSubGroupInfo, cl.clGetKernelSubGroupInfoKHR}) {
    EXPECT_EQ(query(scale, testDevice(), CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof local,
                    &local, sizeof value, &value, nullptr),
              CL_INVALID_OPERATION);
    EXPECT_EQ(query(nullptr, testDevice(), CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof local,
                    &local, sizeof value, &value, nullptr),
              CL_INVALID_KERNEL);
  }
}

struct ArgumentRow {
  const char* name;
  const char* type;
  cl_kernel_arg_address_qualifier address;
  cl_kernel_arg_type_qualifier qualifiers;
};

TEST_F(KernelTest, ArgumentInfo) {
  const OwnedProgram program = built(
      "typedef struct { int x; float y; } pair;\n"
      "kernel void k(global const float* restrict a, constant int4* b, local uchar* c,\n"
      "              unsigned int d, float16 e, volatile global pair* f, const char g) {}",
      "-cl-kernel-arg-info");
  const OwnedKernel k = kernel(program, "k");
  constexpr ArgumentRow rows[] = {
      {"a", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL,
       CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT},
      {"b", "int4*", CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST},
      {"c", "uchar*", CL_KERNEL_ARG_ADDRESS_LOCAL, 0},
      {"d", "uint", CL_KERNEL_ARG_ADDRESS_PRIVATE, 0},
      {"e", "float16", CL_KERNEL_ARG_ADDRESS_PRIVATE, 0},
      {"f", "pair*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_VOLATILE},
      // Qualifiers are those of what a pointer points at; a value has none.
      {"g", "char", CL_KERNEL_ARG_ADDRESS_PRIVATE, 0},
  };
  const auto text = [&](cl_uint index, cl_kernel_arg_info name) {
    char answer[64] = {};
    EXPECT_EQ(cl.clGetKernelArgInfo(k, index, name, sizeof answer, answer, nullptr), CL_SUCCESS);
    return std::string(answer);
  };
  for (cl_uint i = 0; i < std::size(rows); ++i) {
    EXPECT_EQ(text(i, CL_KERNEL_ARG_NAME), rows[i].name);
    EXPECT_EQ(text(i, CL_KERNEL_ARG_TYPE_NAME), rows[i].type);
    EXPECT_EQ(info<cl_kernel_arg_address_qualifier>(cl.clGetKernelArgInfo, cl_kernel(k), i,
                                                    CL_KERNEL_ARG_ADDRESS_QUALIFIER),
              rows[i].address)
        << i;
    EXPECT_EQ(info<cl_kernel_arg_access_qualifier>(cl.clGetKernelArgInfo, cl_kernel(k), i,
                                                   CL_KERNEL_ARG_ACCESS_QUALIFIER),
              cl_kernel_arg_access_qualifier{CL_KERNEL_ARG_ACCESS_NONE})
        << i;
    EXPECT_EQ(info<cl_kernel_arg_type_qualifier>(cl.clGetKernelArgInfo, cl_kernel(k), i,
                                                 CL_KERNEL_ARG_TYPE_QUALIFIER),
              rows[i].qualifiers)
        << i;
  }
  size_t size = 0;
  EXPECT_EQ(cl.clGetKernelArgInfo(k, 7, CL_KERNEL_ARG_NAME, 0, nullptr, &size),
            CL_INVALID_ARG_INDEX);
  EXPECT_EQ(cl.clGetKernelArgInfo(nullptr, 0, CL_KERNEL_ARG_NAME, 0, nullptr, &size),
            CL_INVALID_KERNEL);
  EXPECT_EQ(cl.clGetKernelArgInfo(k, 0, 0, 0, nullptr, &size), CL_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
