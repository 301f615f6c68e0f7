// clEnqueueNativeKernel.
#include <cstring>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

struct Arguments {
  unsigned char* memory;
  unsigned char value;
};

void CL_CALLBACK fillAll(void* pointer) {
  const auto& arguments = *static_cast<Arguments*>(pointer);
  std::memset(arguments.memory, arguments.value, 16);
}
void CL_CALLBACK nothing(void*) {}

class NativeKernelTest : public CommandTest {
 protected:
  void SetUp() override {
    if (!(deviceInfo<cl_device_exec_capabilities>(CL_DEVICE_EXECUTION_CAPABILITIES) &
          CL_EXEC_NATIVE_KERNEL))
      GTEST_SKIP() << "the device runs no native kernels";
  }
  cl_int enqueue(void(CL_CALLBACK* function)(void*), void* args, size_t size, cl_uint count,
                 const cl_mem* objects, const void** locations) {
    return cl.clEnqueueNativeKernel(queue, function, args, size, count, objects, locations, 0,
                                    nullptr, nullptr);
  }
  Arguments args{nullptr, 77};
  const void* location = &args.memory;
};

TEST_F(NativeKernelTest, GetsTheAddressesOfBuffers) {
  const cl_mem object = buffer;
  ASSERT_EQ(enqueue(fillAll, &args, sizeof args, 1, &object, &location), CL_SUCCESS);
  EXPECT_EQ(contents(buffer, 16), std::vector<unsigned char>(16, 77));
}

TEST_F(NativeKernelTest, ArgumentsAreCopied) {
  OwnedEvent gate = makeUserEvent();
  const cl_event waits = gate;
  const cl_mem object = buffer;
  ASSERT_EQ(cl.clEnqueueNativeKernel(queue, fillAll, &args, sizeof args, 1, &object, &location, 1,
                                     &waits, nullptr),
            CL_SUCCESS);
  args.value = 1;
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(contents(buffer, 16), std::vector<unsigned char>(16, 77));
}

TEST_F(NativeKernelTest, RefusesBadArguments) {
  const cl_mem object = buffer;
  const auto wrong = foreign<cl_mem>(cl_context(context));
  const void* outside = &host;
  EXPECT_EQ(cl.clEnqueueNativeKernel(nullptr, nothing, nullptr, 0, 0, nullptr, nullptr, 0, nullptr,
                                     nullptr),
            CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(enqueue(nullptr, nullptr, 0, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(enqueue(nothing, nullptr, 8, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(enqueue(nothing, nullptr, 0, 1, &object, &location), CL_INVALID_VALUE);
  EXPECT_EQ(enqueue(nothing, &args, 0, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(enqueue(nothing, &args, sizeof args, 1, nullptr, &location), CL_INVALID_VALUE);
  EXPECT_EQ(enqueue(nothing, &args, sizeof args, 1, &object, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(enqueue(nothing, &args, sizeof args, 0, &object, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(enqueue(nothing, &args, sizeof args, 0, nullptr, &location), CL_INVALID_VALUE);
  EXPECT_EQ(enqueue(nothing, &args, sizeof args, 1, &object, &outside), CL_INVALID_VALUE);
  EXPECT_EQ(enqueue(nothing, &args, sizeof args, 1, &wrong, &location), CL_INVALID_MEM_OBJECT);
}

TEST_F(NativeKernelTest, NullMemoryIsANullPointer) {
  static unsigned char* seen;
  static unsigned char somewhere;
  seen = &somewhere;
  const auto look = [](void* pointer) { seen = static_cast<Arguments*>(pointer)->memory; };
  const cl_mem none = nullptr;
  ASSERT_EQ(enqueue(look, &args, sizeof args, 1, &none, &location), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_EQ(seen, nullptr);
}

}  // namespace
}  // namespace weft::conformance
