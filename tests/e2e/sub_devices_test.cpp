// One program on several devices of one context.
#include <algorithm>

#include "tests/e2e/several_devices.h"

namespace weft::e2e {
namespace {

class SubDevices : public SeveralDevices {
 protected:
  void SetUp() override {
    if (units() < 2) GTEST_SKIP() << "the device has no sub-devices";
    useDevices({CL_DEVICE_PARTITION_EQUALLY, static_cast<intptr_t>(units() / 2), 0});
  }
};

TEST_F(SubDevices, OneBuildServesAll) {
  const OwnedProgram program = built(scale_source);
  for (const cl_device_id device : devices)
    EXPECT_EQ(info<cl_build_status>(cl.clGetProgramBuildInfo, cl_program(program), device,
                                    CL_PROGRAM_BUILD_STATUS),
              CL_BUILD_SUCCESS);
  const OwnedKernel scale = kernel(program, "scale");
  cl_int value = 1, code = 1;
  const OwnedMem memory(
      cl.clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof value, &value, &code));
  const cl_mem handle = memory;
  const size_t one = 1;
  cl_int expected = 1;
  OwnedEvent last;
  for (int round = 0; round < 5; ++round)
    for (const OwnedQueue& on : queues) {
      const cl_int factor = round % 3 + 1;
      expected *= factor;
      ASSERT_EQ(cl.clSetKernelArg(scale, 0, sizeof handle, &handle), CL_SUCCESS);
      ASSERT_EQ(cl.clSetKernelArg(scale, 1, sizeof factor, &factor), CL_SUCCESS);
      const cl_event wait = last;
      OwnedEvent done;
      ASSERT_EQ(cl.clEnqueueNDRangeKernel(on, scale, 1, nullptr, &one, nullptr, wait ? 1 : 0,
                                          wait ? &wait : nullptr, done.out()),
                CL_SUCCESS);
      last = std::move(done);
    }
  const cl_event wait = last;
  ASSERT_EQ(cl.clEnqueueReadBuffer(queues[0], memory, CL_TRUE, 0, sizeof value, &value, 1, &wait,
                                   nullptr),
            CL_SUCCESS);
  EXPECT_EQ(value, expected);
}

TEST_F(SubDevices, BinariesOfAllDevices) {
  const OwnedProgram program = built(scale_source);
  std::vector<size_t> sizes(devices.size());
  ASSERT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof(size_t),
                                sizes.data(), nullptr),
            CL_SUCCESS);
  std::vector<std::vector<unsigned char>> binaries;
  std::vector<unsigned char*> pointers;
  for (const size_t size : sizes) pointers.push_back(binaries.emplace_back(size).data());
  ASSERT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, pointers.size() * sizeof(void*),
                                pointers.data(), nullptr),
            CL_SUCCESS);
  std::vector<const unsigned char*> inputs(pointers.begin(), pointers.end());
  std::vector<cl_int> loaded(devices.size(), 1);
  cl_int code = 1;
  const auto create = [&] {
    return OwnedProgram(cl.clCreateProgramWithBinary(context, static_cast<cl_uint>(devices.size()),
                                                     devices.data(), sizes.data(), inputs.data(),
                                                     loaded.data(), &code));
  };
  const OwnedProgram again = create();
  ASSERT_EQ(code, CL_SUCCESS);
  ASSERT_EQ(build(again), CL_SUCCESS);
  EXPECT_NE(kernel(again, "scale"), nullptr);
  binaries[1][sizes[1] / 2] ^= 1;
  EXPECT_EQ(create(), nullptr);
  EXPECT_EQ(code, CL_INVALID_BINARY);
  EXPECT_EQ(loaded[0], CL_SUCCESS);
  EXPECT_EQ(loaded[1], CL_INVALID_BINARY);
}

TEST_F(SubDevices, BuiltForSomeRunsOnThose) {
  const OwnedProgram program = fromSource(scale_source);
  ASSERT_EQ(cl.clBuildProgram(program, 1, &devices[1], nullptr, nullptr, nullptr), CL_SUCCESS);
  const OwnedKernel scale = kernel(program, "scale");
  const size_t one = 1;
  cl_int code = 1;
  const OwnedMem memory(cl.clCreateBuffer(context, 0, 64, nullptr, &code));
  const cl_mem handle = memory;
  const cl_int factor = 1;
  ASSERT_EQ(cl.clSetKernelArg(scale, 0, sizeof handle, &handle), CL_SUCCESS);
  ASSERT_EQ(cl.clSetKernelArg(scale, 1, sizeof factor, &factor), CL_SUCCESS);
  const auto launch = [&](size_t on) {
    return cl.clEnqueueNDRangeKernel(queues[on], scale, 1, nullptr, &one, nullptr, 0, nullptr,
                                     nullptr);
  };
  EXPECT_EQ(launch(0), CL_INVALID_PROGRAM_EXECUTABLE);
  EXPECT_EQ(launch(1), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queues[1]), CL_SUCCESS);
}

// Buffers with pages of their own, on each part and on the whole, with work-groups that touch
// neighbouring bytes, in their order and against it.
TEST_F(SubDevices, BigBuffersGoAround) {
  constexpr char shift_source[] = R"(
    kernel void shift(global int* to, global const int* from, int by) {
      size_t i = get_global_id(0), last = get_global_size(0) - 1;
      to[i] = from[last - i] + by;
    })";
  constexpr size_t count = 1 << 20;
  const OwnedProgram program = built(shift_source);
  const OwnedKernel shift = kernel(program, "shift");
  std::vector<cl_int> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<cl_int>(i);
  const OwnedMem memories[2] = {upload(values), upload(std::vector<cl_int>(count, 0))};
  size_t from = 0;
  for (cl_int round = 0; round < 8; ++round)
    for (const OwnedQueue& on : queues) {
      const cl_mem to_handle = memories[1 - from], from_handle = memories[from];
      ASSERT_EQ(cl.clEnqueueMigrateMemObjects(on, 1, &to_handle, 0, 0, nullptr, nullptr),
                CL_SUCCESS);
      ASSERT_EQ(cl.clSetKernelArg(shift, 0, sizeof to_handle, &to_handle), CL_SUCCESS);
      ASSERT_EQ(cl.clSetKernelArg(shift, 1, sizeof from_handle, &from_handle), CL_SUCCESS);
      ASSERT_EQ(cl.clSetKernelArg(shift, 2, sizeof round, &round), CL_SUCCESS);
      ASSERT_EQ(
          cl.clEnqueueNDRangeKernel(on, shift, 1, nullptr, &count, nullptr, 0, nullptr, nullptr),
          CL_SUCCESS);
      ASSERT_EQ(cl.clFinish(on), CL_SUCCESS);
      from = 1 - from;
      std::reverse(values.begin(), values.end());
      for (cl_int& value : values) value += round;
    }
  std::vector<cl_int> result(count);
  ASSERT_EQ(cl.clEnqueueReadBuffer(queues[0], memories[from], CL_TRUE, 0, count * sizeof(cl_int),
                                   result.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(result, values);
}

}  // namespace
}  // namespace weft::e2e
