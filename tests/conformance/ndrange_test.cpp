// clEnqueueNDRangeKernel, clEnqueueTask.
#include <array>
#include <cstdint>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

constexpr const char* source = R"(
kernel void count(global uint* out) { atomic_inc(out + get_global_linear_id()); }
kernel void ids(global uint* out, uint width) {
  out[get_global_id(1) * width + get_global_id(0)] =
      get_group_id(0) * 10000 + get_local_id(0) * 100 + get_local_size(0);
}
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(global uint* out) {
  out[get_global_id(0)] = get_local_size(1);
}
kernel void two(global uint* a, global uint* b) { *a = *b; }
kernel void scratch(global uint* out, local uint* memory) {
  memory[0] = 1;
  *out = memory[0];
}
)";

class NDRangeTest : public CommandTest {
 protected:
  void SetUp() override {
    const char* text = source;
    cl_int code = 1;
    program = OwnedProgram(cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_EQ(cl.clBuildProgram(program, 0, nullptr, "-cl-std=CL3.0", nullptr, nullptr),
              CL_SUCCESS);
    kernel = makeKernel("count");
    clear();
  }
  OwnedKernel makeKernel(const char* name) {
    cl_int code = 1;
    OwnedKernel made(cl.clCreateKernel(program, name, &code));
    EXPECT_EQ(code, CL_SUCCESS) << name;
    setBuffer(made, 0, buffer);
    return made;
  }
  void setBuffer(cl_kernel target, cl_uint index, cl_mem memory) {
    ASSERT_EQ(cl.clSetKernelArg(target, index, sizeof memory, &memory), CL_SUCCESS);
  }
  void clear() { write(buffer, std::vector<unsigned char>(buffer_bytes)); }
  cl_int launch(cl_kernel target, cl_uint dimensions, const size_t* offset, const size_t* global,
                const size_t* local) {
    return cl.clEnqueueNDRangeKernel(queue, target, dimensions, offset, global, local, 0, nullptr,
                                     nullptr);
  }
  cl_int launch(cl_kernel target, std::vector<size_t> global, std::vector<size_t> local = {}) {
    return launch(target, static_cast<cl_uint>(global.size()), nullptr, global.data(),
                  local.empty() ? nullptr : local.data());
  }
  std::vector<uint32_t> words(size_t count) {
    std::vector<uint32_t> result(count);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, count * 4, result.data(), 0,
                                     nullptr, nullptr),
              CL_SUCCESS);
    return result;
  }

  OwnedProgram program;
  OwnedKernel kernel;
};

TEST_F(NDRangeTest, RunsEveryWorkItemOnce) {
  for (const std::vector<size_t>& global :
       {std::vector<size_t>{1000}, {40, 25}, {10, 10, 10}, {7, 11, 13}, {1, 1, 999}}) {
    clear();
    size_t items = 1;
    for (const size_t n : global) items *= n;
    ASSERT_EQ(launch(kernel, global), CL_SUCCESS);
    EXPECT_EQ(words(items), std::vector<uint32_t>(items, 1));
    EXPECT_EQ(words(buffer_bytes / 4)[items], 0u);
  }
}

class SuggestedLocalSize : public NDRangeTest {
 protected:
  cl_int suggest(cl_command_queue on, cl_kernel target, cl_uint dimensions, const size_t* offset,
                 const size_t* global, size_t* local) const {
    const auto function = reinterpret_cast<clGetKernelSuggestedLocalWorkSizeKHR_fn>(
        cl.clGetExtensionFunctionAddressForPlatform(testPlatform(),
                                                    "clGetKernelSuggestedLocalWorkSizeKHR"));
    return function ? function(on, target, dimensions, offset, global, local) : 1;
  }
};

TEST_F(SuggestedLocalSize, IsThatOfALaunch) {
  const OwnedKernel ids = makeKernel("ids");
  for (const size_t width : {64, 60, 100}) {
    const cl_uint stride = static_cast<cl_uint>(width);
    ASSERT_EQ(cl.clSetKernelArg(ids, 1, sizeof stride, &stride), CL_SUCCESS);
    const size_t global[] = {width, 2};
    size_t local[3] = {0, 0, 77};
    ASSERT_EQ(suggest(queue, ids, 2, nullptr, global, local), CL_SUCCESS);
    EXPECT_EQ(local[2], 77u) << "beyond the dimensions";
    ASSERT_EQ(launch(ids, {width, 2}), CL_SUCCESS);
    EXPECT_EQ(words(1)[0] % 100, local[0] % 100) << width;
  }
  const size_t global = 8;
  size_t local = 0;
  ASSERT_EQ(suggest(queue, makeKernel("fixed"), 1, nullptr, &global, &local), CL_SUCCESS);
  EXPECT_EQ(local, 4u) << "what the kernel requires";
}

TEST_F(SuggestedLocalSize, RefusesWhatALaunchDoes) {
  const size_t global[] = {8, 0}, offset = ~size_t{0};
  size_t local[2];
  EXPECT_EQ(suggest(nullptr, kernel, 1, nullptr, global, local), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(suggest(queue, nullptr, 1, nullptr, global, local), CL_INVALID_KERNEL);
  EXPECT_EQ(suggest(queue, kernel, 0, nullptr, global, local), CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(suggest(queue, kernel, 4, nullptr, global, local), CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(suggest(queue, kernel, 1, nullptr, nullptr, local), CL_INVALID_GLOBAL_WORK_SIZE);
  EXPECT_EQ(suggest(queue, kernel, 2, nullptr, global, local), CL_INVALID_GLOBAL_WORK_SIZE);
  EXPECT_EQ(suggest(queue, kernel, 1, &offset, global, local), CL_INVALID_GLOBAL_OFFSET);
  EXPECT_EQ(suggest(queue, kernel, 1, nullptr, global, nullptr), CL_INVALID_VALUE);
  cl_int code = 1;
  const OwnedKernel unset(cl.clCreateKernel(program, "two", &code));
  EXPECT_EQ(suggest(queue, unset, 1, nullptr, global, local), CL_INVALID_KERNEL_ARGS);
}

TEST_F(NDRangeTest, AnyLocalSize) {
  const auto largest = deviceInfo<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  for (const size_t local : {1, 2, 3, 7, 64, 100, 1000}) {
    if (local > largest) continue;
    clear();
    ASSERT_EQ(launch(kernel, {1000}, {local}), CL_SUCCESS) << local;
    EXPECT_EQ(words(1000), std::vector<uint32_t>(1000, 1)) << local;
  }
}

TEST_F(NDRangeTest, IdsAndNonUniformGroups) {
  OwnedKernel ids = makeKernel("ids");
  const cl_uint width = 10;
  ASSERT_EQ(cl.clSetKernelArg(ids, 1, sizeof width, &width), CL_SUCCESS);
  ASSERT_EQ(launch(ids, {width, 3}, {4, 2}), CL_SUCCESS);
  const auto out = words(width * 3);
  for (uint32_t y = 0; y < 3; ++y)
    for (uint32_t x = 0; x < width; ++x)
      EXPECT_EQ(out[y * width + x], x / 4 * 10000 + x % 4 * 100 + (x < 8 ? 4 : 2)) << x << "," << y;
}

TEST_F(NDRangeTest, Offsets) {
  OwnedKernel ids = makeKernel("ids");
  const cl_uint width = 100;
  ASSERT_EQ(cl.clSetKernelArg(ids, 1, sizeof width, &width), CL_SUCCESS);
  const size_t offset[] = {5, 2}, global[] = {3, 1}, local[] = {1, 1};
  ASSERT_EQ(launch(ids, 2, offset, global, local), CL_SUCCESS);
  const auto out = words(300);
  for (size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], i >= 205 && i < 208 ? (i - 205) * 10000 + 1 : 0) << i;
}

// "If global_work_size is NULL, or the value in any passed dimension is 0 then the kernel command
// will trivially succeed after its event dependencies are satisfied."
TEST_F(NDRangeTest, EmptyRangesSucceed) {
  EXPECT_EQ(launch(kernel, 1, nullptr, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(launch(kernel, {0}), CL_SUCCESS);
  EXPECT_EQ(launch(kernel, {5, 0}), CL_SUCCESS);
  EXPECT_EQ(words(8), std::vector<uint32_t>(8));
}

TEST_F(NDRangeTest, Task) {
  ASSERT_EQ(cl.clEnqueueTask(queue, kernel, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(words(2), (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(cl.clEnqueueTask(queue, nullptr, 0, nullptr, nullptr), CL_INVALID_KERNEL);
  EXPECT_EQ(cl.clEnqueueTask(nullptr, kernel, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
}

TEST_F(NDRangeTest, ArgumentsAreThoseOfTheEnqueue) {
  OwnedKernel ids = makeKernel("ids");
  OwnedEvent gate = makeUserEvent();
  const cl_event waits = gate;
  const size_t one = 1;
  OwnedMem second = makeBuffer();
  cl_uint width = 1;
  ASSERT_EQ(cl.clSetKernelArg(ids, 1, sizeof width, &width), CL_SUCCESS);
  ASSERT_EQ(cl.clEnqueueNDRangeKernel(queue, ids, 1, nullptr, &one, &one, 1, &waits, nullptr),
            CL_SUCCESS);
  setBuffer(ids, 0, second);
  second.reset();
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(words(1)[0], 1u);
}

TEST_F(NDRangeTest, RefusesBadHandles) {
  const size_t one = 1;
  EXPECT_EQ(
      cl.clEnqueueNDRangeKernel(nullptr, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
      CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(launch(nullptr, {1}), CL_INVALID_KERNEL);
  EXPECT_EQ(launch(foreign<cl_kernel>(cl_program(program)), {1}), CL_INVALID_KERNEL);
  OwnedQueue other = makeQueue(other_context);
  EXPECT_EQ(
      cl.clEnqueueNDRangeKernel(other, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
      CL_INVALID_CONTEXT);
}

TEST_F(NDRangeTest, RefusesBadDimensions) {
  const size_t ones[] = {1, 1, 1, 1};
  EXPECT_EQ(launch(kernel, 0, nullptr, ones, nullptr), CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(launch(kernel, 4, nullptr, ones, nullptr), CL_INVALID_WORK_DIMENSION);
}

TEST_F(NDRangeTest, RefusesBadLocalSizes) {
  const auto largest = deviceInfo<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  const auto sizes = deviceInfo<std::array<size_t, 3>>(CL_DEVICE_MAX_WORK_ITEM_SIZES);
  EXPECT_EQ(launch(kernel, {16}, {0}), CL_INVALID_WORK_GROUP_SIZE);
  const cl_int too_large = launch(kernel, {largest, 2}, {largest, 2});
  EXPECT_EQ(too_large, CL_INVALID_WORK_GROUP_SIZE);
  const cl_int too_long = launch(kernel, {sizes[0] + 1}, {sizes[0] + 1});
  EXPECT_TRUE(too_long == CL_INVALID_WORK_ITEM_SIZE || too_long == CL_INVALID_WORK_GROUP_SIZE)
      << too_long;
  OwnedKernel fixed = makeKernel("fixed");
  EXPECT_EQ(launch(fixed, {8, 4, 1}, {4, 2, 1}), CL_SUCCESS);
  EXPECT_EQ(launch(fixed, {8, 4, 1}, {2, 4, 1}), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(launch(fixed, {8}, {4}), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

TEST_F(NDRangeTest, RefusesOffsetsThatWrapAround) {
  const size_t offset = SIZE_MAX, global = 2;
  EXPECT_EQ(launch(kernel, 1, &offset, &global, nullptr), CL_INVALID_GLOBAL_OFFSET);
}

TEST_F(NDRangeTest, RefusesMissingArguments) {
  cl_int code = 1;
  OwnedKernel bare(cl.clCreateKernel(program, "two", &code));
  EXPECT_EQ(launch(bare, {1}), CL_INVALID_KERNEL_ARGS);
  setBuffer(bare, 0, buffer);
  EXPECT_EQ(launch(bare, {1}), CL_INVALID_KERNEL_ARGS);
  setBuffer(bare, 1, buffer);
  EXPECT_EQ(launch(bare, {1}), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

TEST_F(NDRangeTest, RefusesMoreLocalMemoryThanThereIs) {
  OwnedKernel scratch = makeKernel("scratch");
  const auto all = deviceInfo<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE);
  ASSERT_EQ(cl.clSetKernelArg(scratch, 1, 64, nullptr), CL_SUCCESS);
  EXPECT_EQ(launch(scratch, {1}), CL_SUCCESS);
  ASSERT_EQ(cl.clSetKernelArg(scratch, 1, all + 1, nullptr), CL_SUCCESS);
  EXPECT_EQ(launch(scratch, {1}), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

}  // namespace
}  // namespace weft::conformance
