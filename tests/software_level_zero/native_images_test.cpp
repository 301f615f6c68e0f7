// Images of the device's own: that kernels sample them as the CPU samples in software, that they
// follow what is written, and that what devices do not take stays in software.
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "tests/software_gpu/faults.h"
#include "tests/software_level_zero/fixture.h"

namespace weft::software {
namespace {

// One work-item a sample. `coordinates` are of the space that the sampler says.
constexpr char source[] = R"(
constant sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
constant sampler_t closest = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;
float4 inner(read_only image2d_t image, sampler_t sampler, float4 at) {
  return read_imagef(image, sampler, at.xy);
}
kernel void line(read_only image1d_t image, sampler_t sampler, global float4* at, global float4* out) {
  out[get_global_id(0)] = read_imagef(image, sampler, at[get_global_id(0)].x);
}
kernel void plane(read_only image2d_t image, sampler_t sampler, global float4* at, global float4* out) {
  out[get_global_id(0)] = inner(image, sampler, at[get_global_id(0)]);
}
kernel void layers(read_only image2d_array_t image, sampler_t sampler, global float4* at,
                   global float4* out) {
  out[get_global_id(0)] = read_imagef(image, sampler, at[get_global_id(0)]);
}
kernel void volume(read_only image3d_t image, sampler_t sampler, global float4* at,
                   global float4* out) {
  out[get_global_id(0)] = read_imagef(image, sampler, at[get_global_id(0)]);
}
kernel void whole(read_only image2d_t image, sampler_t sampler, global float4* at, global float4* out) {
  const int i = get_global_id(0), w = get_image_width(image);
  out[i] = convert_float4(read_imageui(image, sampler, (int2)(i % w, i / w))) +
           get_image_channel_order(image);
}
kernel void negative(read_only image2d_t image, sampler_t sampler, global float4* at,
                     global float4* out) {
  out[get_global_id(0)] = convert_float4(read_imagei(image, sampler, at[get_global_id(0)].xy));
}
kernel void literal(read_only image2d_t image, sampler_t sampler, global float4* at,
                    global float4* out) {
  const int i = get_global_id(0);
  out[i] = read_imagef(image, linear, at[i].xy) + read_imagef(image, sampler, at[i].yx) +
           read_imagef(image, (int2)(i % 3, 0));
}
kernel void both(read_only image2d_t image, sampler_t sampler, global float4* at, global float4* out,
                 read_only image2d_t other) {
  const int i = get_global_id(0);
  out[i] = read_imagef(image, sampler, at[i].xy) + convert_float4(read_imageui(other, closest, at[i].xy));
}
kernel void paint(write_only image2d_t image, float value) {
  write_imagef(image, (int2)(get_global_id(0), get_global_id(1)), (float4)(value));
}
kernel void overwrite(global float* pixels, float value) { pixels[get_global_id(0)] = value; }
)";

struct Case {
  const char* kernel;
  cl_image_desc shape;
  cl_image_format format;
};

class NativeImages : public SoftwareLevelZero {
 protected:
  static constexpr size_t samples = 256;

  void SetUp() override {
    SoftwareLevelZero::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (size_t i = 0; i < devices.size(); ++i)
      if (nameOf(devices[i]).starts_with("Software")) gpus.push_back(i);
    ASSERT_EQ(gpus.size(), 2u);
    host = 3 - gpus[0] - gpus[1];
    cl_int code = 1;
    const char* text = source;
    program = OwnedProgram(cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code));
    ASSERT_EQ(cl.clBuildProgram(program, 0, nullptr, "-cl-std=CL3.0", nullptr, nullptr),
              CL_SUCCESS);
    void* const driver = dlopen(WEFT_SOFTWARE_LEVEL_ZERO, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(driver, nullptr);
    faults = reinterpret_cast<GetFaults>(dlsym(driver, "weftSoftwareGpuFaults"))();
    std::vector<cl_float4> places(samples);
    for (size_t i = 0; i < samples; ++i) {
      const auto x = static_cast<float>(i);
      places[i] = {{std::fmod(x * 0.1371f, 3.3f) - 1.1f, std::fmod(x * 0.0917f, 2.9f) - 0.9f,
                    std::fmod(x * 0.2113f, 3.1f) - 1.0f, 0}};
    }
    at = memory(places);
    out = memory(std::vector<cl_float4>(samples));
  }

  template <class T>
  OwnedMem memory(std::vector<T> values) const {
    cl_int code = 1;
    OwnedMem made(cl.clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T),
                                    values.data(), &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  static cl_image_desc shape(cl_mem_object_type type, size_t width, size_t height = 0,
                             size_t depth = 0, size_t layers = 0) {
    cl_image_desc desc{};
    desc.image_type = type;
    desc.image_width = width;
    desc.image_height = height;
    desc.image_depth = depth;
    desc.image_array_size = layers;
    return desc;
  }
  // Full of bytes that make numbers of no great size in any format.
  OwnedMem image(const cl_image_desc& desc, const cl_image_format& format,
                 cl_mem_flags flags = 0) const {
    std::vector<unsigned char> pixels(1 << 16);
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<unsigned char>((i * 37 + i / 7) % 61);
    cl_int code = 1;
    OwnedMem made(cl.clCreateImage(context, flags | CL_MEM_COPY_HOST_PTR, &format, &desc,
                                   pixels.data(), &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  OwnedSampler sampler(cl_bool normalized, cl_addressing_mode mode, cl_filter_mode filter) const {
    cl_int code = 1;
    OwnedSampler made(cl.clCreateSampler(context, normalized, mode, filter, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  OwnedKernel made(const char* name) const {
    cl_int code = 1;
    return OwnedKernel(cl.clCreateKernel(program, name, &code));
  }
  std::vector<cl_float4> sampled(size_t device, const char* name, cl_mem of, cl_sampler by) const {
    const OwnedKernel sampling = made(name);
    set(sampling, 0, of);
    set(sampling, 1, by);
    set(sampling, 2, cl_mem(at));
    set(sampling, 3, cl_mem(out));
    if (other) set(sampling, 4, other);
    run(device, sampling, samples);
    std::vector<cl_float4> result(samples);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queues[device], out, CL_TRUE, 0, samples * 16, result.data(),
                                     0, nullptr, nullptr),
              CL_SUCCESS);
    return result;
  }
  // Does the GPU sample as the CPU does, and by `launches` that take images of its own?
  void expectAsOnCpu(const char* name, cl_mem of, cl_sampler by, int launches) {
    const std::vector<cl_float4> expected = sampled(host, name, of, by);
    const int before = faults->image_launches;
    const std::vector<cl_float4> result = sampled(gpus[0], name, of, by);
    EXPECT_EQ(faults->image_launches - before, launches);
    size_t wrong = 0;
    for (size_t i = 0; i < samples; ++i)
      for (int c = 0; c < 4; ++c)
        wrong += !(std::abs(result[i].s[c] - expected[i].s[c]) <=
                   1e-4f * (1 + std::abs(expected[i].s[c])));
    EXPECT_EQ(wrong, 0u);
  }
  void paint(size_t device, cl_mem image, float value, size_t width, size_t height) const {
    const OwnedKernel painting = made("paint");
    set(painting, 0, image);
    set(painting, 1, value);
    const size_t global[] = {width, height};
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(queues[device], painting, 2, nullptr, global, nullptr, 0,
                                        nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
  }

  std::vector<size_t> gpus;
  size_t host = 0;
  Faults* faults = nullptr;
  OwnedMem at, out;
  cl_mem other = nullptr;  // of `both`
};

constexpr cl_image_format rgba8{CL_RGBA, CL_UNORM_INT8}, r32f{CL_R, CL_FLOAT};

TEST_F(NativeImages, AreSampledAsInSoftware) {
  const Case cases[] = {
      {"line", shape(CL_MEM_OBJECT_IMAGE1D, 19), rgba8},
      {"plane", shape(CL_MEM_OBJECT_IMAGE2D, 13, 9), rgba8},
      {"plane", shape(CL_MEM_OBJECT_IMAGE2D, 13, 9), {CL_BGRA, CL_UNORM_INT8}},
      {"plane", shape(CL_MEM_OBJECT_IMAGE2D, 12, 7), r32f},
      {"plane", shape(CL_MEM_OBJECT_IMAGE2D, 12, 7), {CL_RG, CL_SNORM_INT16}},
      {"plane", shape(CL_MEM_OBJECT_IMAGE2D, 12, 7), {CL_R, CL_UNORM_INT8}},
      {"plane", shape(CL_MEM_OBJECT_IMAGE2D, 5, 11), {CL_RGBA, CL_HALF_FLOAT}},
      {"plane", shape(CL_MEM_OBJECT_IMAGE2D, 5, 11), {CL_RGBA, CL_FLOAT}},
      {"layers", shape(CL_MEM_OBJECT_IMAGE2D_ARRAY, 6, 5, 0, 4), {CL_RGBA, CL_UNORM_INT16}},
      {"volume", shape(CL_MEM_OBJECT_IMAGE3D, 7, 5, 6), {CL_RG, CL_UNORM_INT8}},
      {"literal", shape(CL_MEM_OBJECT_IMAGE2D, 8, 8), rgba8}};
  struct Way {
    cl_bool normalized;
    cl_addressing_mode mode;
    cl_filter_mode filter;
  };
  const Way ways[] = {{CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR},
                      {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST},
                      {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR},
                      {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR},
                      {CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST}};
  for (const Case& one : cases)
    for (const Way& way : ways) {
      SCOPED_TRACE(std::string(one.kernel) + " of format " +
                   std::to_string(one.format.image_channel_order) + " " +
                   std::to_string(one.format.image_channel_data_type) + ", mode " +
                   std::to_string(way.mode));
      const OwnedMem made = image(one.shape, one.format);
      const OwnedSampler by = sampler(way.normalized, way.mode, way.filter);
      expectAsOnCpu(one.kernel, made, by, 1);
    }
}

TEST_F(NativeImages, AreReadAsIntegers) {
  const OwnedSampler nearest = sampler(CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
  const cl_image_desc plane = shape(CL_MEM_OBJECT_IMAGE2D, 21, 16);
  for (const cl_image_format format : {cl_image_format{CL_RGBA, CL_UNSIGNED_INT8},
                                       {CL_R, CL_UNSIGNED_INT32},
                                       {CL_RG, CL_UNSIGNED_INT16}})
    expectAsOnCpu("whole", image(plane, format), nearest, 1);
  for (const cl_image_format format : {cl_image_format{CL_RGBA, CL_SIGNED_INT8},
                                       {CL_RG, CL_SIGNED_INT16},
                                       {CL_R, CL_SIGNED_INT32}})
    expectAsOnCpu("negative", image(plane, format), nearest, 1);
}

TEST_F(NativeImages, OfFloatsAndOfIntegersInOneKernel) {
  const cl_image_desc plane = shape(CL_MEM_OBJECT_IMAGE2D, 10, 9);
  const OwnedMem integers = image(plane, {CL_RG, CL_UNSIGNED_INT8});
  other = integers;
  expectAsOnCpu("both", image(plane, rgba8), sampler(CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR),
                1);
}

TEST_F(NativeImages, WhatDevicesDoNotTakeStaysInSoftware) {
  const OwnedSampler nearest = sampler(CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST),
                     linear = sampler(CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR);
  const cl_image_desc plane = shape(CL_MEM_OBJECT_IMAGE2D, 10, 9);
  for (const cl_image_format format : {cl_image_format{CL_A, CL_UNORM_INT8},
                                       {CL_INTENSITY, CL_FLOAT},
                                       {CL_sRGBA, CL_UNORM_INT8},
                                       {CL_RGB, CL_UNORM_SHORT_565}})
    expectAsOnCpu("plane", image(plane, format), linear, 0);
  // Software takes the nearest of integers, whatever the sampler says.
  expectAsOnCpu("negative", image(plane, {CL_R, CL_SIGNED_INT32}), linear, 0);
  expectAsOnCpu("negative", image(plane, {CL_R, CL_SIGNED_INT32}), nearest, 1);
  cl_image_desc of_buffer = plane;
  const OwnedMem pixels = memory(std::vector<cl_uint>(200, 0x01020304));
  of_buffer.mem_object = pixels;
  cl_int code = 1;
  const OwnedMem window(cl.clCreateImage(context, 0, &rgba8, &of_buffer, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  expectAsOnCpu("plane", window, linear, 0);
}

TEST_F(NativeImages, AreCopiedWhenTheyWereWritten) {
  constexpr size_t width = 16, height = 8;
  const OwnedMem drawn = image(shape(CL_MEM_OBJECT_IMAGE2D, width, height), r32f);
  const OwnedSampler by = sampler(CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST);
  const auto copies = [&](size_t device, float expected) {
    const int before = faults->image_copies, launched = faults->image_launches;
    const auto result = sampled(device, "plane", drawn, by);
    EXPECT_EQ(faults->image_launches - launched, 1);
    for (const cl_float4& one : result) EXPECT_EQ(one.s[0], expected);
    return faults->image_copies - before;
  };
  paint(gpus[0], drawn, 1, width, height);
  EXPECT_EQ(copies(gpus[0], 1), 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(copies(gpus[0], 1), 0);
  EXPECT_EQ(copies(gpus[1], 1), 1);
  EXPECT_EQ(copies(gpus[0], 1), 0);
  paint(gpus[0], drawn, 2, width, height);
  EXPECT_EQ(copies(gpus[0], 2), 1);
  EXPECT_EQ(copies(gpus[1], 2), 1);
  paint(gpus[1], drawn, 3, width, height);
  EXPECT_EQ(copies(gpus[0], 3), 1);
  paint(host, drawn, 4, width, height);
  EXPECT_EQ(copies(gpus[0], 4), 1);
  const std::vector<float> five(width * height, 5.0f);
  const size_t zero[] = {0, 0, 0}, all[] = {width, height, 1};
  ASSERT_EQ(cl.clEnqueueWriteImage(queues[gpus[0]], drawn, CL_TRUE, zero, all, 0, 0, five.data(), 0,
                                   nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(copies(gpus[0], 5), 1);
  const cl_float six[] = {6, 6, 6, 6};
  ASSERT_EQ(cl.clEnqueueFillImage(queues[gpus[0]], drawn, six, zero, all, 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(copies(gpus[0], 6), 1);
  EXPECT_EQ(copies(gpus[0], 6), 0);
}

// Another queue writes what the next kernel samples, and the host waits for nothing in between.
TEST_F(NativeImages, FollowWhatOtherQueuesWrite) {
  constexpr size_t width = 16, height = 8;
  const OwnedMem drawn = image(shape(CL_MEM_OBJECT_IMAGE2D, width, height), r32f);
  const OwnedSampler by = sampler(CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST);
  cl_int code = 1;
  const OwnedQueue writing(cl.clCreateCommandQueue(context, devices[gpus[0]], 0, &code)),
      reading(cl.clCreateCommandQueue(context, devices[gpus[0]],
                                      CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code));
  constexpr size_t rounds = 60, few = 4;
  std::vector<OwnedMem> results;
  OwnedEvent before;
  for (size_t i = 0; i < rounds; ++i) {
    results.push_back(memory(std::vector<cl_float4>(few)));
    const OwnedKernel painting = made("paint"), sampling = made("plane");
    set(painting, 0, cl_mem(drawn));
    set(painting, 1, static_cast<float>(i));
    set(sampling, 0, cl_mem(drawn));
    set(sampling, 1, cl_sampler(by));
    set(sampling, 2, cl_mem(at));
    set(sampling, 3, cl_mem(results.back()));
    const cl_event read = before;
    OwnedEvent painted, sampled;
    const size_t global[] = {width, height};
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(writing, painting, 2, nullptr, global, nullptr,
                                        read ? 1 : 0, read ? &read : nullptr, painted.out()),
              CL_SUCCESS);
    const cl_event wait = painted;
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(reading, sampling, 1, nullptr, &few, nullptr, 1, &wait,
                                        sampled.out()),
              CL_SUCCESS);
    before = std::move(sampled);
  }
  ASSERT_EQ(cl.clFinish(reading), CL_SUCCESS);
  for (size_t i = 0; i < rounds; ++i) {
    std::vector<cl_float4> result(few);
    ASSERT_EQ(cl.clEnqueueReadBuffer(writing, results[i], CL_TRUE, 0, few * 16, result.data(), 0,
                                     nullptr, nullptr),
              CL_SUCCESS);
    for (const cl_float4& one : result) ASSERT_EQ(one.s[0], static_cast<float>(i));
  }
}

TEST_F(NativeImages, WhereADeviceHasNoRoomSoftwareDoes) {
  const OwnedSampler by = sampler(CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR);
  const cl_image_desc plane = shape(CL_MEM_OBJECT_IMAGE2D, 10, 9);
  const OwnedMem first = image(plane, rgba8), second = image(plane, r32f),
                 third = image(plane, r32f);
  expectAsOnCpu("plane", first, by, 1);
  // It is on the device already, so the next allocation is the device's image.
  for (const OwnedMem* each : {&second, &third}) {
    const cl_mem handle = *each;
    ASSERT_EQ(cl.clEnqueueMigrateMemObjects(queues[gpus[0]], 1, &handle, 0, 0, nullptr, nullptr),
              CL_SUCCESS);
  }
  ASSERT_EQ(cl.clFinish(queues[gpus[0]]), CL_SUCCESS);
  const auto expected = sampled(host, "plane", second, by);
  const auto as_expected = [&](const std::vector<cl_float4>& result) {
    bool same = true;
    for (size_t i = 0; i < samples; ++i)
      same = same && std::abs(result[i].s[0] - expected[i].s[0]) < 1e-4f;
    return same;
  };
  const int launches = faults->image_launches;
  faults->allocations.failing = 1;
  EXPECT_TRUE(as_expected(sampled(gpus[0], "plane", second, by)));
  EXPECT_EQ(faults->allocations.failing, 0);
  EXPECT_TRUE(as_expected(sampled(gpus[0], "plane", second, by)));
  faults->copies.failing = 1;
  EXPECT_TRUE(as_expected(sampled(gpus[0], "plane", third, by)));
  EXPECT_EQ(faults->copies.failing, 0);
  EXPECT_EQ(faults->image_launches, launches);
  EXPECT_TRUE(as_expected(sampled(gpus[0], "plane", third, by)));
  EXPECT_EQ(faults->image_launches, launches + 1);
}

TEST_F(NativeImages, EndWithTheMemoryOrTheQueue) {
  const OwnedSampler by = sampler(CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR);
  const cl_image_desc plane = shape(CL_MEM_OBJECT_IMAGE2D, 10, 9);
  // What ends on another thread does so soon.
  const auto become = [&](int count) {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (faults->images != count && std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return faults->images == count;
  };
  ASSERT_TRUE(become(0));
  OwnedMem first = image(plane, rgba8), second = image(plane, rgba8);
  sampled(gpus[0], "plane", first, by);
  sampled(gpus[0], "plane", second, by);
  EXPECT_EQ(faults->images, 2);
  first = OwnedMem();
  EXPECT_TRUE(become(1));
  queues[gpus[0]] = OwnedQueue();
  EXPECT_TRUE(become(0));
}

}  // namespace
}  // namespace weft::software
