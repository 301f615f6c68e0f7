// Kernels that read images through textures (docs/native-images.md): which images are read so, that
// textures show what is written below them, and when they end. What is read is compared elsewhere
// (tests/e2e/sampled_images_test.cpp).
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/conformance/image_fixture.h"
#include "tests/software_gpu/faults.h"

namespace weft::software {
namespace {

using namespace weft::conformance;

constexpr char source[] = R"(
kernel void sample(read_only image2d_t image, sampler_t sampler, global float* out) {
  const int i = get_global_id(0);
  out[i] = read_imagef(image, sampler, (float2)(i + 0.5f, 0.5f)).x;
}
kernel void line(read_only image1d_t image, sampler_t sampler, global float* out) {
  const int i = get_global_id(0);
  out[i] = read_imagef(image, sampler, i + 0.5f).x;
}
kernel void layers(read_only image2d_array_t image, sampler_t sampler, global float* out) {
  const int i = get_global_id(0);
  out[i] = read_imagef(image, sampler, (float4)(i + 0.5f, 0.5f, 1, 0)).x;
}
kernel void volume(read_only image3d_t image, sampler_t sampler, global float* out) {
  const int i = get_global_id(0);
  out[i] = read_imagef(image, sampler, (float4)(i + 0.5f, 0.5f, 1, 0)).x;
}
kernel void fetch(read_only image2d_t image, sampler_t sampler, global float* out) {
  const int i = get_global_id(0);
  out[i] = read_imagef(image, (int2)(i, 0)).x;
}
kernel void integers(read_only image2d_t image, sampler_t sampler, global float* out) {
  const int i = get_global_id(0);
  out[i] = read_imageui(image, sampler, (float2)(i + 0.5f, 0.5f)).x;
}
kernel void whole(read_write image2d_t image, sampler_t sampler, global float* out) {
  const int i = get_global_id(0);
  out[i] = read_imagef(image, (int2)(i, 0)).x;
}
kernel void both(read_only image2d_t image, sampler_t sampler, global float* out,
                 read_only image2d_t other) {
  const int i = get_global_id(0);
  out[i] = read_imagef(image, sampler, (float2)(i + 0.5f, 0.5f)).x + read_imagef(other, (int2)(i, 0)).x;
}
kernel void zero(global float* out) { out[get_global_id(0)] = 0; }
kernel void paint(write_only image2d_t image, float value) {
  write_imagef(image, (int2)(get_global_id(0), get_global_id(1)), (float4)(value));
}
)";

constexpr cl_image_format r32f{CL_R, CL_FLOAT};
constexpr size_t width = 16, height = 4;

class Textures : public testing::Test {
 protected:
  void SetUp() override {
    void* const library = dlopen(std::getenv("WEFT_HIP_RUNTIME"), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr);
    faults = reinterpret_cast<GetFaults>(dlsym(library, "weftSoftwareGpuFaults"))();
    ASSERT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_GPU, 2, gpus, nullptr), CL_SUCCESS);
    cl_int code = 1;
    context = OwnedContext(cl.clCreateContext(nullptr, 2, gpus, nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    for (const cl_device_id gpu : gpus)
      queues.emplace_back(cl.clCreateCommandQueue(context, gpu, 0, &code));
    const char* text = source;
    program = OwnedProgram(cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code));
    ASSERT_EQ(cl.clBuildProgram(program, 0, nullptr, "-cl-std=CL3.0", nullptr, nullptr),
              CL_SUCCESS);
    nearest = sampler(CL_FILTER_NEAREST);
    linear = sampler(CL_FILTER_LINEAR);
    out = OwnedMem(cl.clCreateBuffer(context, 0, width * sizeof(float), nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
  }
  void TearDown() override { faults->allocations.failing = 0; }

  OwnedSampler sampler(cl_filter_mode filter) const {
    cl_int code = 1;
    return OwnedSampler(
        cl.clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, filter, &code));
  }
  OwnedMem image(const cl_image_desc& desc, const cl_image_format& format = r32f) const {
    std::vector<unsigned char> pixels(4 << 20);
    cl_int code = 1;
    OwnedMem made(
        cl.clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, pixels.data(), &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  static cl_image_desc plane(size_t columns = width) {
    return describe(CL_MEM_OBJECT_IMAGE2D, columns, height);
  }
  template <class T>
  static void set(cl_kernel kernel, cl_uint index, const T& value) {
    EXPECT_EQ(cl.clSetKernelArg(kernel, index, sizeof value, &value), CL_SUCCESS);
  }
  template <class... A>
  OwnedKernel kernel(const char* name, const A&... arguments) const {
    cl_int code = 1;
    OwnedKernel made(cl.clCreateKernel(program, name, &code));
    cl_uint index = 0;
    (set(made, index++, arguments), ...);
    return made;
  }
  void run(size_t device, cl_kernel kernel, size_t columns, size_t rows) const {
    const size_t global[] = {columns, rows};
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(queues[device], kernel, 2, nullptr, global, nullptr, 0,
                                        nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
  }
  void paint(size_t device, cl_mem image, float value) const {
    run(device, kernel("paint", image, value), width, height);
  }
  std::vector<float> results(size_t device, cl_kernel kernel) const {
    run(device, kernel, width, 1);
    std::vector<float> values(width);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queues[device], out, CL_TRUE, 0, width * sizeof(float),
                                     values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
  // Launches of twins that reading takes: 0 or 1.
  template <class... A>
  int textured(const char* name, const OwnedMem& of, const OwnedSampler& by,
               const A&... more) const {
    const int before = faults->image_launches;
    results(0, kernel(name, cl_mem(of), cl_sampler(by), cl_mem(out), more...));
    return faults->image_launches - before;
  }
  // What ends on another thread does so soon.
  bool become(int textures) const {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (faults->images != textures && std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return faults->images == textures;
  }

  cl_device_id gpus[2] = {};
  OwnedContext context;
  std::vector<OwnedQueue> queues;
  OwnedProgram program;
  OwnedSampler nearest, linear;
  OwnedMem out;
  Faults* faults = nullptr;
};

TEST_F(Textures, AreOfImagesInRowsAsTheDeviceTakesThem) {
  for (const OwnedSampler* by : {&nearest, &linear}) {
    EXPECT_EQ(textured("sample", image(plane()), *by), 1);
    EXPECT_EQ(textured("line", image(describe(CL_MEM_OBJECT_IMAGE1D, 19)), *by), 1);
    EXPECT_EQ(textured("fetch", image(plane()), *by), 1);
    EXPECT_EQ(textured("layers", image(describe(CL_MEM_OBJECT_IMAGE2D_ARRAY, 16, 3, 5)), *by), 1);
    EXPECT_EQ(textured("volume", image(describe(CL_MEM_OBJECT_IMAGE3D, 16, 3, 5)), *by), 1);
  }
  // More rows than a texture has.
  EXPECT_EQ(textured("volume", image(describe(CL_MEM_OBJECT_IMAGE3D, 8, 256, 256)), nearest), 0);
  // Of 17 floats, which is no multiple of 32 bytes: rows are longer.
  EXPECT_EQ(textured("sample", image(plane(17)), nearest), 1);
  EXPECT_EQ(textured("layers", image(describe(CL_MEM_OBJECT_IMAGE2D_ARRAY, 17, 3, 5)), nearest), 1);
  EXPECT_EQ(textured("sample", image(describe(CL_MEM_OBJECT_IMAGE2D, 17, 1)), nearest), 1);
}

// Neither in its memory nor in its buffers.
TEST_F(Textures, AreNotMadeOfOddRowsThatTheApplicationLaidOut) {
  std::vector<float> pixels(17 * height, 3.0f);
  cl_image_desc desc = plane(17);
  cl_int code = 1;
  const OwnedMem used(
      cl.clCreateImage(context, CL_MEM_USE_HOST_PTR, &r32f, &desc, pixels.data(), &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(textured("sample", used, nearest), 0);
}

// Longer rows are nobody's business but who maps the image.
TEST_F(Textures, RowsOfOddWidthHoldWhatTheApplicationGave) {
  constexpr size_t columns = 17, given = 20;  // floats
  std::vector<float> pixels(given * height);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i);
  cl_image_desc desc = plane(columns);
  desc.image_row_pitch = given * sizeof(float);
  const OwnedMem odd(
      cl.clCreateImage(context, CL_MEM_COPY_HOST_PTR, &r32f, &desc, pixels.data(), nullptr));
  ASSERT_TRUE(cl_mem(odd));
  size_t told = 0, mapped = 0;
  EXPECT_EQ(cl.clGetImageInfo(odd, CL_IMAGE_ROW_PITCH, sizeof told, &told, nullptr), CL_SUCCESS);
  EXPECT_EQ(told, given * sizeof(float));
  EXPECT_EQ(textured("sample", odd, nearest), 1);
  const size_t zero[] = {0, 0, 0}, all[] = {columns, height, 1};
  std::vector<float> read(columns * height);
  EXPECT_EQ(cl.clEnqueueReadImage(queues[0], odd, CL_TRUE, zero, all, 0, 0, read.data(), 0, nullptr,
                                  nullptr),
            CL_SUCCESS);
  const auto* const map = static_cast<const char*>(
      cl.clEnqueueMapImage(queues[0], odd, CL_TRUE, CL_MAP_READ, zero, all, &mapped, nullptr, 0,
                           nullptr, nullptr, nullptr));
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(mapped, 96u);
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < columns; ++x) {
      EXPECT_EQ(read[y * columns + x], pixels[y * given + x]);
      EXPECT_EQ(reinterpret_cast<const float*>(map + y * mapped)[x], pixels[y * given + x]);
    }
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(queues[0], odd, const_cast<char*>(map), 0, nullptr, nullptr),
            CL_SUCCESS);
}

TEST_F(Textures, AreOfFormatsThatTheDeviceHas) {
  for (const cl_image_format format : {cl_image_format{CL_RGBA, CL_UNORM_INT8},
                                       {CL_BGRA, CL_UNORM_INT8},
                                       {CL_RG, CL_SNORM_INT16},
                                       {CL_RGBA, CL_HALF_FLOAT}})
    EXPECT_EQ(textured("sample", image(plane(), format), linear), 1);
  for (const cl_image_format format : {cl_image_format{CL_A, CL_FLOAT},
                                       {CL_INTENSITY, CL_FLOAT},
                                       {CL_sRGBA, CL_UNORM_INT8},
                                       {CL_RGB, CL_UNORM_SHORT_565}})
    EXPECT_EQ(textured("sample", image(plane(32), format), linear), 0);
  // Software takes the nearest of integers, whatever the sampler says, and so do texels.
  for (const OwnedSampler* by : {&nearest, &linear})
    EXPECT_EQ(textured("integers", image(plane(), {CL_R, CL_UNSIGNED_INT32}), *by), 1);
}

TEST_F(Textures, AreNotOfImagesThatTheKernelMayWrite) {
  EXPECT_EQ(textured("whole", image(plane()), nearest), 0);
}

TEST_F(Textures, AllOfALaunchOrNone) {
  const OwnedMem one = image(plane()), other = image(plane());
  const OwnedMem odd = image(plane(), {CL_A, CL_FLOAT});
  EXPECT_EQ(textured("both", one, linear, cl_mem(other)), 1);
  EXPECT_EQ(textured("both", one, linear, cl_mem(odd)), 0);
  EXPECT_EQ(textured("both", odd, linear, cl_mem(one)), 0);
}

TEST_F(Textures, ShowWhatWasWrittenAndAreMadeOnce) {
  const OwnedMem drawn = image(plane());
  const OwnedKernel reading = kernel("sample", cl_mem(drawn), cl_sampler(linear), cl_mem(out));
  const auto expect = [&](size_t device, float value) {
    for (const float one : results(device, reading)) EXPECT_EQ(one, value);
  };
  const int before = faults->image_launches;
  for (const float value : {1.0f, 2.0f, 3.0f}) {
    paint(0, drawn, value);
    for (int i = 0; i < 3; ++i) expect(0, value);
  }
  EXPECT_EQ(faults->image_launches - before, 9);
  // Texels, and what filters.
  EXPECT_EQ(faults->images, 2);
  paint(1, drawn, 4);
  expect(0, 4);
  expect(1, 4);
  EXPECT_EQ(faults->images, 4);
  const std::vector<float> five(width * height, 5.0f);
  const size_t zero[] = {0, 0, 0}, all[] = {width, height, 1};
  ASSERT_EQ(cl.clEnqueueWriteImage(queues[0], drawn, CL_TRUE, zero, all, 0, 0, five.data(), 0,
                                   nullptr, nullptr),
            CL_SUCCESS);
  expect(0, 5);
  EXPECT_EQ(faults->images, 4);
}

TEST_F(Textures, OverABufferShowWhatItHolds) {
  std::vector<float> values(width * height + 64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  cl_int code = 1;
  const OwnedMem buffer(cl.clCreateBuffer(context, CL_MEM_COPY_HOST_PTR,
                                          values.size() * sizeof(float), values.data(), &code));
  cl_image_desc desc = plane();
  desc.mem_object = buffer;
  const OwnedMem view(cl.clCreateImage(context, 0, &r32f, &desc, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(textured("sample", view, nearest), 1);
  // 256 bytes in it begins where no texture may.
  const cl_buffer_region region{256, width * height * sizeof(float)};
  const OwnedMem part(
      cl.clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  desc.mem_object = part;
  desc.image_height = 3;
  const OwnedMem window(cl.clCreateImage(context, 0, &r32f, &desc, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(textured("sample", window, nearest), 0);
  const OwnedKernel reading = kernel("sample", cl_mem(window), cl_sampler(nearest), cl_mem(out));
  EXPECT_EQ(results(0, reading)[2], 66.0f);
}

// Of one allocation there are 256, whatever was asked for before them.
TEST_F(Textures, AreAsManyAsABufferMayHave) {
  constexpr size_t most = 256;
  cl_int code = 1;
  const OwnedMem buffer(cl.clCreateBuffer(context, 0, 1 << 16, nullptr, &code));
  const auto viewOf = [&](size_t rows, const cl_image_format& format) {
    cl_image_desc desc = describe(CL_MEM_OBJECT_IMAGE2D, width, rows);
    desc.mem_object = buffer;
    OwnedMem view(cl.clCreateImage(context, 0, &format, &desc, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return view;
  };
  for (size_t i = 1; i <= most; ++i)
    ASSERT_EQ(textured("fetch", viewOf(i, {CL_A, CL_FLOAT}), nearest), 0);
  for (size_t i = 1; i <= most; ++i) ASSERT_EQ(textured("fetch", viewOf(i, r32f), nearest), 1) << i;
  EXPECT_EQ(textured("fetch", viewOf(most + 1, r32f), nearest), 0);
  EXPECT_EQ(textured("fetch", viewOf(1, r32f), nearest), 1);
}

TEST_F(Textures, WhereTheDeviceHasNoRoomSoftwareReads) {
  const OwnedMem drawn = image(plane());
  paint(0, drawn, 7);
  const OwnedKernel reading = kernel("sample", cl_mem(drawn), cl_sampler(linear), cl_mem(out));
  // So that the next allocation is the texture's.
  run(0, kernel("zero", cl_mem(out)), width, 1);
  const int before = faults->image_launches;
  faults->allocations.failing = 1;
  for (const float one : results(0, reading)) EXPECT_EQ(one, 7);
  EXPECT_EQ(faults->allocations.failing, 0);
  EXPECT_EQ(faults->image_launches, before);
  // There may be room again.
  for (const float one : results(0, reading)) EXPECT_EQ(one, 7);
  EXPECT_EQ(faults->image_launches, before + 1);
}

TEST_F(Textures, AreMadeByManyThreadsAtOnce) {
  constexpr int threads = 4, rounds = 25;
  ASSERT_TRUE(become(0));
  for (int round = 0; round < rounds; ++round) {
    const OwnedMem drawn = image(plane());
    paint(0, drawn, 1);
    const int before = faults->image_launches;
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i)
      running.emplace_back([&] {
        cl_int code = 1;
        const OwnedQueue queue(cl.clCreateCommandQueue(context, gpus[0], 0, &code));
        const OwnedMem result(cl.clCreateBuffer(context, 0, width * sizeof(float), nullptr, &code));
        const OwnedKernel reading =
            kernel("sample", cl_mem(drawn), cl_sampler(linear), cl_mem(result));
        EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, reading, 1, nullptr, &width, nullptr, 0, nullptr,
                                            nullptr),
                  CL_SUCCESS);
        std::vector<float> values(width);
        EXPECT_EQ(cl.clEnqueueReadBuffer(queue, result, CL_TRUE, 0, width * sizeof(float),
                                         values.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(values, std::vector<float>(width, 1.0f));
      });
    for (std::thread& each : running) each.join();
    EXPECT_EQ(faults->image_launches - before, threads);
    // Texels, and what filters.
    EXPECT_TRUE(become(2));
  }
  EXPECT_TRUE(become(0));
}

TEST_F(Textures, EndWithTheMemory) {
  ASSERT_TRUE(become(0));
  OwnedMem first = image(plane()), second = image(plane());
  textured("fetch", first, nearest);
  textured("fetch", second, nearest);
  EXPECT_EQ(faults->images, 2);
  first = OwnedMem();
  EXPECT_TRUE(become(1));
  second = OwnedMem();
  EXPECT_TRUE(become(0));
}

}  // namespace
}  // namespace weft::software
