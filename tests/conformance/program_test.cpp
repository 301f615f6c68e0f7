// clCreateProgramWithSource, clBuildProgram, clGetProgramInfo, clGetProgramBuildInfo.
#include "tests/conformance/program_fixture.h"

namespace weft::conformance {
namespace {

class ProgramTest : public ProgramFixture {
 protected:
  cl_int createCode(cl_context in, cl_uint count, const char** strings, const size_t* lengths) {
    cl_int code = 1;
    const OwnedProgram made(cl.clCreateProgramWithSource(in, count, strings, lengths, &code));
    EXPECT_EQ(made != nullptr, code == CL_SUCCESS);
    return code;
  }
  cl_int buildCode(cl_program program, cl_uint count, const cl_device_id* devices,
                   const char* options = nullptr, void* user = nullptr) {
    return cl.clBuildProgram(program, count, devices, options, nullptr, user);
  }
};

TEST_F(ProgramTest, CreateChecksItsArguments) {
  const char* strings[] = {"kernel void", " k() {}", nullptr};
  EXPECT_EQ(createCode(context, 2, strings, nullptr), CL_SUCCESS);
  EXPECT_EQ(createCode(nullptr, 2, strings, nullptr), CL_INVALID_CONTEXT);
  EXPECT_EQ(createCode(foreign<cl_context>(cl_command_queue(queue)), 2, strings, nullptr),
            CL_INVALID_CONTEXT);
  EXPECT_EQ(createCode(context, 0, strings, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(context, 2, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(context, 3, strings, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clCreateProgramWithSource(nullptr, 0, nullptr, nullptr, nullptr), nullptr);
}

TEST_F(ProgramTest, SourceIsTheStringsJoined) {
  const char* strings[] = {"/* a */xxx", "kernel void k() {}", "yy"};
  const size_t lengths[] = {7, 0, 1};
  cl_int code = 1;
  const OwnedProgram program(cl.clCreateProgramWithSource(context, 3, strings, lengths, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  char text[64] = {};
  size_t size = 0;
  ASSERT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &size), CL_SUCCESS);
  EXPECT_STREQ(text, "/* a */kernel void k() {}y");
  EXPECT_EQ(size, std::string(text).size() + 1);
}

TEST_F(ProgramTest, RetainAndRelease) {
  const OwnedProgram program = fromSource(scale_source);
  EXPECT_EQ(cl.clRetainProgram(program), CL_SUCCESS);
  EXPECT_EQ(info<cl_uint>(cl.clGetProgramInfo, cl_program(program), CL_PROGRAM_REFERENCE_COUNT),
            2u);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
  EXPECT_EQ(cl.clRetainProgram(nullptr), CL_INVALID_PROGRAM);
  EXPECT_EQ(cl.clReleaseProgram(foreign<cl_program>(cl_context(context))), CL_INVALID_PROGRAM);
}

TEST_F(ProgramTest, BuildChecksItsArguments) {
  const OwnedProgram program = fromSource(scale_source);
  const cl_device_id device = testDevice();
  const cl_device_id twice[] = {device, device};
  int user = 0;
  EXPECT_EQ(buildCode(nullptr, 0, nullptr), CL_INVALID_PROGRAM);
  EXPECT_EQ(buildCode(foreign<cl_program>(cl_context(context)), 0, nullptr), CL_INVALID_PROGRAM);
  EXPECT_EQ(buildCode(program, 1, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(buildCode(program, 0, &device), CL_INVALID_VALUE);
  EXPECT_EQ(buildCode(program, 0, nullptr, nullptr, &user), CL_INVALID_VALUE);
  const auto wrong = foreign<cl_device_id>(cl_context(context));
  EXPECT_EQ(buildCode(program, 1, &wrong), CL_INVALID_DEVICE);
  EXPECT_EQ(buildCode(program, 0, nullptr, "-no-such-option"), CL_INVALID_BUILD_OPTIONS);
  EXPECT_NE(log(program).find("-no-such-option"), std::string::npos);
  EXPECT_EQ(buildCode(program, 1, &device), CL_SUCCESS);
  EXPECT_EQ(buildCode(program, 2, twice), CL_SUCCESS);
}

TEST_F(ProgramTest, ADeviceOutsideTheContextIsRefused) {
  const auto units = deviceInfo<cl_uint>(CL_DEVICE_PARTITION_MAX_SUB_DEVICES);
  if (units < 2) GTEST_SKIP() << "the device has no sub-devices";
  const auto by_one = smallestParts();
  std::vector<cl_device_id> parts(units);
  cl_uint count = 0;
  ASSERT_EQ(cl.clCreateSubDevices(testDevice(), by_one.data(), units, parts.data(), &count),
            CL_SUCCESS);
  const OwnedProgram program = fromSource(scale_source);
  EXPECT_EQ(buildCode(program, 1, parts.data()), CL_INVALID_DEVICE);
  size_t size = 0;
  EXPECT_EQ(cl.clGetProgramBuildInfo(program, parts[0], CL_PROGRAM_BUILD_STATUS, 0, nullptr, &size),
            CL_INVALID_DEVICE);
  for (cl_uint i = 0; i < count; ++i) EXPECT_EQ(cl.clReleaseDevice(parts[i]), CL_SUCCESS);
}

TEST_F(ProgramTest, BuildInfo) {
  const OwnedProgram program = fromSource(scale_source);
  EXPECT_EQ(status(program), CL_BUILD_NONE);
  EXPECT_EQ(log(program), "");
  EXPECT_EQ(binaryType(program), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_NONE});
  EXPECT_EQ(listInfo<size_t>(cl.clGetProgramInfo, cl_program(program), CL_PROGRAM_BINARY_SIZES),
            std::vector<size_t>(testDevices().size(), 0));
  ASSERT_EQ(build(program, "-cl-mad-enable -DX=1"), CL_SUCCESS);
  EXPECT_EQ(status(program), CL_BUILD_SUCCESS);
  EXPECT_EQ(buildText(program, CL_PROGRAM_BUILD_OPTIONS), "-cl-mad-enable -DX=1");
  EXPECT_EQ(binaryType(program), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  EXPECT_EQ(info<size_t>(cl.clGetProgramBuildInfo, cl_program(program), testDevice(),
                         CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE),
            0u);
}

TEST_F(ProgramTest, BuildInfoRefusesBadArguments) {
  const OwnedProgram program = fromSource(scale_source);
  cl_build_status value = 0;
  const auto code = [&](cl_program p, cl_device_id d, cl_program_build_info name, size_t size) {
    return cl.clGetProgramBuildInfo(p, d, name, size, &value, nullptr);
  };
  EXPECT_EQ(code(nullptr, testDevice(), CL_PROGRAM_BUILD_STATUS, sizeof value), CL_INVALID_PROGRAM);
  EXPECT_EQ(code(program, nullptr, CL_PROGRAM_BUILD_STATUS, sizeof value), CL_INVALID_DEVICE);
  EXPECT_EQ(code(program, testDevice(), 0, sizeof value), CL_INVALID_VALUE);
  EXPECT_EQ(code(program, testDevice(), CL_PROGRAM_BUILD_STATUS, 1), CL_INVALID_VALUE);
}

TEST_F(ProgramTest, Info) {
  const OwnedProgram owned = built(two_kernels_source);
  const cl_program program = owned;
  EXPECT_EQ(info<cl_context>(cl.clGetProgramInfo, program, CL_PROGRAM_CONTEXT),
            cl_context(context));
  EXPECT_EQ(info<cl_uint>(cl.clGetProgramInfo, program, CL_PROGRAM_NUM_DEVICES),
            testDevices().size());
  EXPECT_EQ(listInfo<cl_device_id>(cl.clGetProgramInfo, program, CL_PROGRAM_DEVICES),
            testDevices());
  EXPECT_EQ(info<size_t>(cl.clGetProgramInfo, program, CL_PROGRAM_NUM_KERNELS), 2u);
  char names[32] = {};
  ASSERT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, nullptr),
            CL_SUCCESS);
  EXPECT_STREQ(names, "first;second");
  size_t size = 99;
  EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_IL, 0, nullptr, &size), CL_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(info<cl_bool>(cl.clGetProgramInfo, program, CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT),
            cl_bool{CL_FALSE});
  EXPECT_EQ(info<cl_bool>(cl.clGetProgramInfo, program, CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT),
            cl_bool{CL_FALSE});
}

TEST_F(ProgramTest, InfoRefusesBadArguments) {
  const OwnedProgram program = fromSource(scale_source);
  size_t value = 0;
  const auto code = [&](cl_program p, cl_program_info name, size_t size) {
    return cl.clGetProgramInfo(p, name, size, &value, nullptr);
  };
  EXPECT_EQ(code(nullptr, CL_PROGRAM_NUM_DEVICES, sizeof value), CL_INVALID_PROGRAM);
  EXPECT_EQ(code(program, 0, sizeof value), CL_INVALID_VALUE);
  EXPECT_EQ(code(program, CL_PROGRAM_NUM_DEVICES, 1), CL_INVALID_VALUE);
  EXPECT_EQ(code(program, CL_PROGRAM_NUM_KERNELS, sizeof value), CL_INVALID_PROGRAM_EXECUTABLE);
  EXPECT_EQ(code(program, CL_PROGRAM_KERNEL_NAMES, sizeof value), CL_INVALID_PROGRAM_EXECUTABLE);
}

TEST_F(ProgramTest, FailedBuild) {
  const OwnedProgram program = fromSource(bad_source);
  EXPECT_EQ(build(program), CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(status(program), CL_BUILD_ERROR);
  EXPECT_NE(log(program).find("data[0] = nothing"), std::string::npos) << log(program);
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateKernel(program, "bad", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_PROGRAM_EXECUTABLE);
}

TEST_F(ProgramTest, AttachedKernelsForbidAnotherBuild) {
  const OwnedProgram program = built(scale_source);
  OwnedKernel scale = kernel(program, "scale");
  EXPECT_EQ(build(program), CL_INVALID_OPERATION);
  EXPECT_EQ(compile(program), CL_INVALID_OPERATION);
  scale.reset();
  EXPECT_EQ(build(program), CL_SUCCESS);
}

TEST_F(ProgramTest, CallbackComesOnceAfterTheBuild) {
  for (const char* text : {scale_source, bad_source}) {
    const OwnedProgram program = fromSource(text);
    BuildDone done;
    ASSERT_EQ(cl.clBuildProgram(program, 0, nullptr, nullptr, BuildDone::notify, done.user()),
              CL_SUCCESS);
    EXPECT_EQ(done.wait(), cl_program(program));
    EXPECT_EQ(status(program), text == bad_source ? CL_BUILD_ERROR : CL_BUILD_SUCCESS);
  }
}

TEST_F(ProgramTest, EmptySourcesBuild) {
  for (const char* text : {"", " \n", "// nothing\n", "constant int x = 1;\n"}) {
    const OwnedProgram program = fromSource(text);
    EXPECT_EQ(build(program), CL_SUCCESS) << text << log(program);
    EXPECT_EQ(info<size_t>(cl.clGetProgramInfo, cl_program(program), CL_PROGRAM_NUM_KERNELS), 0u);
    cl_uint count = 99;
    EXPECT_EQ(cl.clCreateKernelsInProgram(program, 0, nullptr, &count), CL_SUCCESS);
    EXPECT_EQ(count, 0u);
  }
}

TEST_F(ProgramTest, UnsupportedWays) {
  const OwnedProgram program = fromSource(scale_source);
  const cl_device_id device = testDevice();
  const unsigned char il[] = {3, 2, 0x23, 7};  // the start of a module alone
  const cl_uint value = 1;
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateProgramWithIL(context, il, sizeof il, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clCreateProgramWithIL(nullptr, il, sizeof il, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clCreateProgramWithBuiltInKernels(context, 1, &device, "any", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clCreateProgramWithBuiltInKernels(context, 0, nullptr, "any", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clCreateProgramWithBuiltInKernels(nullptr, 1, &device, "any", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
  const auto wrong = foreign<cl_device_id>(cl_context(context));
  EXPECT_EQ(cl.clCreateProgramWithBuiltInKernels(context, 1, &wrong, "any", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_DEVICE);
  EXPECT_EQ(cl.clSetProgramSpecializationConstant(program, 0, sizeof value, &value),
            CL_INVALID_PROGRAM);
  EXPECT_EQ(cl.clSetProgramSpecializationConstant(nullptr, 0, sizeof value, &value),
            CL_INVALID_PROGRAM);
  const auto ignore = [](cl_program, void*) {};
  EXPECT_EQ(cl.clSetProgramReleaseCallback(program, ignore, nullptr), CL_INVALID_OPERATION);
  EXPECT_EQ(cl.clSetProgramReleaseCallback(program, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clSetProgramReleaseCallback(nullptr, ignore, nullptr), CL_INVALID_PROGRAM);
  EXPECT_EQ(cl.clUnloadPlatformCompiler(testPlatform()), CL_SUCCESS);
  EXPECT_EQ(cl.clUnloadPlatformCompiler(nullptr), CL_INVALID_PLATFORM);
  EXPECT_EQ(cl.clUnloadCompiler(), CL_SUCCESS);
}

}  // namespace
}  // namespace weft::conformance
