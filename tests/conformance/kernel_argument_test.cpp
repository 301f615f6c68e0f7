// clSetKernelArg, clSetKernelArgSVMPointer, clSetKernelExecInfo.
#include <string>
#include <tuple>

#include "tests/conformance/program_fixture.h"
#include "tests/conformance/usm.h"

namespace weft::conformance {
namespace {

class KernelArgumentTest : public ProgramFixture {
 protected:
  void SetUp() override {
    program = built(
        "typedef struct { char a; long b; } pair;\n"
        "kernel void k(global int* g, constant int* c, local int* l, int v, float3 f, pair p) {}");
    k = kernel(program, "k");
  }
  cl_int set(cl_uint index, size_t size, const void* value) {
    return cl.clSetKernelArg(k, index, size, value);
  }
  cl_int enqueue() {
    const size_t global = 1;
    return cl.clEnqueueNDRangeKernel(queue, k, 1, nullptr, &global, nullptr, 0, nullptr, nullptr);
  }
  OwnedProgram program;
  OwnedKernel k;
};

TEST_F(KernelArgumentTest, KernelAndIndex) {
  const cl_int value = 1;
  EXPECT_EQ(cl.clSetKernelArg(nullptr, 3, sizeof value, &value), CL_INVALID_KERNEL);
  EXPECT_EQ(cl.clSetKernelArg(foreign<cl_kernel>(cl_context(context)), 3, sizeof value, &value),
            CL_INVALID_KERNEL);
  EXPECT_EQ(set(3, sizeof value, &value), CL_SUCCESS);
  EXPECT_EQ(set(6, sizeof value, &value), CL_INVALID_ARG_INDEX);
}

TEST_F(KernelArgumentTest, Values) {
  const cl_long value[4] = {};
  EXPECT_EQ(set(3, 2, value), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(set(3, 8, value), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(set(3, 4, nullptr), CL_INVALID_ARG_VALUE);
  EXPECT_EQ(set(4, sizeof(cl_float3), value), CL_SUCCESS);
  EXPECT_EQ(set(4, 12, value), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(set(5, 16, value), CL_SUCCESS);
  EXPECT_EQ(set(5, 9, value), CL_INVALID_ARG_SIZE);
}

TEST_F(KernelArgumentTest, Buffers) {
  const cl_mem good = buffer, null = nullptr;
  const auto wrong = foreign<cl_mem>(cl_command_queue(queue));
  for (const cl_uint index : {0u, 1u}) {
    EXPECT_EQ(set(index, sizeof good, &good), CL_SUCCESS);
    EXPECT_EQ(set(index, sizeof good, nullptr), CL_SUCCESS);
    EXPECT_EQ(set(index, sizeof good, &null), CL_SUCCESS);
    EXPECT_EQ(set(index, sizeof good, &wrong), CL_INVALID_MEM_OBJECT);
    EXPECT_EQ(set(index, 4, &good), CL_INVALID_ARG_SIZE);
    EXPECT_EQ(set(index, 0, nullptr), CL_INVALID_ARG_SIZE);
  }
  cl_int code = 1;
  const OwnedMem other(cl.clCreateBuffer(other_context, 0, 64, nullptr, &code));
  const cl_mem elsewhere = other;
  EXPECT_EQ(set(0, sizeof elsewhere, &elsewhere), CL_INVALID_MEM_OBJECT);
}

TEST_F(KernelArgumentTest, Local) {
  const cl_int value = 1;
  EXPECT_EQ(set(2, 64, nullptr), CL_SUCCESS);
  EXPECT_EQ(set(2, 0, nullptr), CL_SUCCESS) << "of OpenCL 3.1";
  EXPECT_EQ(set(2, 64, &value), CL_INVALID_ARG_VALUE);
}

TEST_F(KernelArgumentTest, AllMustBeSetBeforeALaunch) {
  const cl_long value[4] = {};
  const size_t sizes[] = {8, 8, 64, 4, 16, 16};
  for (cl_uint i = 0; i < 6; ++i) {
    EXPECT_EQ(enqueue(), CL_INVALID_KERNEL_ARGS) << i;
    EXPECT_EQ(set(i, sizes[i], i < 3 ? nullptr : value), CL_SUCCESS) << i;
  }
  EXPECT_EQ(enqueue(), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

// "CL_OUT_OF_RESOURCES if the number of read-only image args used in kernel exceed the
// CL_DEVICE_MAX_READ_IMAGE_ARGS value for device", and likewise for samplers.
TEST_F(KernelArgumentTest, MoreSamplersThanTheDeviceTakes) {
  if (!deviceInfo<cl_bool>(CL_DEVICE_IMAGE_SUPPORT)) GTEST_SKIP() << "no images";
  const auto most = deviceInfo<cl_uint>(CL_DEVICE_MAX_SAMPLERS);
  std::string text = "sampler_t s0";
  for (cl_uint i = 1; i < most; ++i) text += ", sampler_t s" + std::to_string(i);
  const OwnedProgram made =
      built("kernel void fits(" + text + ") {} kernel void exceeds(" + text + ", sampler_t s) {}");
  cl_int code = 1;
  const OwnedSampler owned(
      cl.clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const cl_sampler sampler = owned;
  for (const auto& [name, count, expected] :
       {std::tuple{"fits", most, cl_int{CL_SUCCESS}}, {"exceeds", most + 1, CL_OUT_OF_RESOURCES}}) {
    k = kernel(made, name);
    for (cl_uint i = 0; i < count; ++i)
      ASSERT_EQ(set(i, sizeof sampler, &sampler), CL_SUCCESS) << i;
    EXPECT_EQ(enqueue(), expected) << name;
  }
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

// "Implementations shall not allow cl_kernel objects to hold reference counts to cl_kernel
// arguments."
TEST_F(KernelArgumentTest, KernelsDoNotKeepTheirBuffers) {
  OwnedMem made = makeBuffer();
  static bool destroyed;
  destroyed = false;
  ASSERT_EQ(cl.clSetMemObjectDestructorCallback(
                made, [](cl_mem, void*) { destroyed = true; }, nullptr),
            CL_SUCCESS);
  const cl_mem handle = made;
  ASSERT_EQ(set(0, sizeof handle, &handle), CL_SUCCESS);
  made.reset();
  EXPECT_TRUE(destroyed);
}

class KernelSvmTest : public KernelArgumentTest {
 protected:
  void SetUp() override {
    capabilities = combinedInfo<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
    if (!capabilities) GTEST_SKIP() << "shared virtual memory is not supported";
    KernelArgumentTest::SetUp();
    svm = static_cast<char*>(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 256, 0));
  }
  void TearDown() override { cl.clSVMFree(context, svm); }
  cl_int setSvm(cl_uint index, const void* pointer) {
    return cl.clSetKernelArgSVMPointer(k, index, pointer);
  }
  cl_int setInfo(cl_kernel_exec_info name, size_t size, const void* value) {
    return cl.clSetKernelExecInfo(k, name, size, value);
  }
  cl_device_svm_capabilities capabilities = 0;
  char* svm = nullptr;
};

TEST_F(KernelSvmTest, Arguments) {
  EXPECT_EQ(cl.clSetKernelArgSVMPointer(nullptr, 0, svm), CL_INVALID_KERNEL);
  for (const cl_uint index : {0u, 1u})
    for (const void* pointer :
         {static_cast<void*>(svm), static_cast<void*>(svm + 64), static_cast<void*>(nullptr)})
      EXPECT_EQ(setSvm(index, pointer), CL_SUCCESS);
  for (const cl_uint index : {2u, 3u, 5u}) EXPECT_EQ(setSvm(index, svm), CL_INVALID_ARG_VALUE);
  EXPECT_EQ(setSvm(6, svm), CL_INVALID_ARG_INDEX);
  const bool system = capabilities & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM;
  EXPECT_EQ(setSvm(0, host.data()), system ? CL_SUCCESS : CL_INVALID_ARG_VALUE);
}

TEST_F(KernelSvmTest, Pointers) {
  const void* list[] = {svm, svm + 10, nullptr};
  constexpr auto name = CL_KERNEL_EXEC_INFO_SVM_PTRS;
  EXPECT_EQ(cl.clSetKernelExecInfo(nullptr, name, sizeof list, list), CL_INVALID_KERNEL);
  EXPECT_EQ(setInfo(name, sizeof list, list), CL_SUCCESS);
  EXPECT_EQ(setInfo(name, sizeof(void*), list), CL_SUCCESS);
  EXPECT_EQ(setInfo(name, 0, nullptr), CL_SUCCESS);
  EXPECT_EQ(setInfo(name, sizeof list, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(setInfo(name, sizeof(void*) + 1, list), CL_INVALID_VALUE);
  EXPECT_EQ(setInfo(0x1234, sizeof list, list), CL_INVALID_VALUE);
}

TEST_F(KernelSvmTest, FineGrainSystem) {
  constexpr auto name = CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM;
  const cl_bool yes = CL_TRUE, no = CL_FALSE;
  const bool system = capabilities & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM;
  EXPECT_EQ(setInfo(name, sizeof no, &no), CL_SUCCESS);
  EXPECT_EQ(setInfo(name, sizeof yes, &yes), system ? CL_SUCCESS : CL_INVALID_OPERATION);
  EXPECT_EQ(setInfo(name, 1, &yes), CL_INVALID_VALUE);
  EXPECT_EQ(setInfo(name, sizeof yes, nullptr), CL_INVALID_VALUE);
}

// clSetKernelArgMemPointerINTEL and what clSetKernelExecInfo has of unified shared memory. "For all
// devices, any pointer value is valid and may be set as an argument to a kernel."
TEST_F(KernelArgumentTest, UnifiedSharedMemory) {
  if (!deviceInfo<cl_bitfield>(CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL))
    GTEST_SKIP() << "no unified shared memory";
  const UsmFunctions usm;
  void* memory = usm.deviceAlloc(context, testDevice(), nullptr, 64, 0, nullptr);
  ASSERT_NE(memory, nullptr);
  for (const void* pointer :
       {static_cast<const void*>(nullptr), static_cast<const void*>(memory),
        static_cast<const void*>(host.data()), reinterpret_cast<const void*>(8)})
    for (const cl_uint index : {0u, 1u}) EXPECT_EQ(usm.setArgument(k, index, pointer), CL_SUCCESS);
  EXPECT_EQ(usm.setArgument(nullptr, 0, memory), CL_INVALID_KERNEL);
  EXPECT_EQ(usm.setArgument(k, 6, memory), CL_INVALID_ARG_INDEX);
  EXPECT_EQ(usm.setArgument(k, 2, memory), CL_INVALID_ARG_VALUE);
  EXPECT_EQ(usm.setArgument(k, 3, memory), CL_INVALID_ARG_VALUE);

  const void* list[] = {memory, host.data()};
  const cl_bool yes = CL_TRUE;
  EXPECT_EQ(cl.clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof list, list),
            CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, 0, nullptr), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, 5, list),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clSetKernelExecInfo(nullptr, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, 8, list),
            CL_INVALID_KERNEL);
  for (const cl_kernel_exec_info name : {CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
                                         CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
                                         CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL}) {
    EXPECT_EQ(cl.clSetKernelExecInfo(k, name, sizeof yes, &yes), CL_SUCCESS);
    EXPECT_EQ(cl.clSetKernelExecInfo(k, name, 1, &yes), CL_INVALID_VALUE);
    EXPECT_EQ(cl.clSetKernelExecInfo(k, name, sizeof yes, nullptr), CL_INVALID_VALUE);
  }
  EXPECT_EQ(usm.free(context, memory), CL_SUCCESS);
}

}  // namespace
}  // namespace weft::conformance
