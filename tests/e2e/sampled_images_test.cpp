// Images that kernels read on the device, however it does, beside the same reads on the CPU: equal
// but for filters, which devices may do with weights of few bits.
#include <cmath>
#include <cstring>

#include "tests/conformance/image_fixture.h"
#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

using conformance::describe;

// One work-item a read: at.xyz are coordinates as the sampler wants them, at.w counts texels.
constexpr char source[] = R"(
kernel void line(read_only image1d_t image, sampler_t sampler, global float4* at, global float4* out) {
  const int i = get_global_id(0), x = (int)at[i].w % 23 - 3;
  out[2 * i] = read_imagef(image, sampler, at[i].x);
  out[2 * i + 1] = read_imagef(image, sampler, x) + read_imagef(image, (x + 3) % get_image_width(image));
}
kernel void plane(read_only image2d_t image, sampler_t sampler, global float4* at, global float4* out) {
  const int i = get_global_id(0), n = (int)at[i].w;
  const int2 place = (int2)(n % 29 - 4, n / 29 % 25 - 4);
  out[2 * i] = read_imagef(image, sampler, at[i].xy);
  out[2 * i + 1] = read_imagef(image, sampler, place) +
                   read_imagef(image, (place + 4) % get_image_dim(image));
}
kernel void lines(read_only image1d_array_t image, sampler_t sampler, global float4* at,
                  global float4* out) {
  const int i = get_global_id(0), n = (int)at[i].w;
  out[2 * i] = read_imagef(image, sampler, at[i].xz);
  out[2 * i + 1] = read_imagef(image, sampler, (int2)(n % 29 - 4, n / 29 % 9 - 3));
}
kernel void layers(read_only image2d_array_t image, sampler_t sampler, global float4* at,
                   global float4* out) {
  const int i = get_global_id(0), n = (int)at[i].w;
  out[2 * i] = read_imagef(image, sampler, at[i]);
  out[2 * i + 1] = read_imagef(image, sampler, (int4)(n % 29 - 4, n / 29 % 9 - 3, n % 7 - 2, 0));
}
kernel void volume(read_only image3d_t image, sampler_t sampler, global float4* at, global float4* out) {
  const int i = get_global_id(0), n = (int)at[i].w;
  out[2 * i] = read_imagef(image, sampler, at[i]);
  out[2 * i + 1] = read_imagef(image, sampler, (int4)(n % 29 - 4, n / 29 % 9 - 3, n % 11 - 2, 0));
}
kernel void counts(read_only image2d_t image, sampler_t sampler, global float4* at, global float4* out) {
  const int i = get_global_id(0), n = (int)at[i].w;
  out[2 * i] = as_float4(read_imageui(image, sampler, at[i].xy));
  out[2 * i + 1] = as_float4(read_imageui(image, sampler, (int2)(n % 29 - 4, n / 29 % 25 - 4)));
}
kernel void differences(read_only image2d_t image, sampler_t sampler, global float4* at,
                        global float4* out) {
  const int i = get_global_id(0), n = (int)at[i].w;
  out[2 * i] = as_float4(read_imagei(image, sampler, at[i].xy));
  out[2 * i + 1] = as_float4(read_imagei(image, sampler, (int2)(n % 29 - 4, n / 29 % 25 - 4)));
}
constant sampler_t repeated = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
constant sampler_t closest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
float4 inner(read_only image2d_t image, sampler_t sampler, float2 at) {
  return read_imagef(image, sampler, at);
}
kernel void literals(read_only image2d_t image, sampler_t sampler, global float4* at, global float4* out) {
  const int i = get_global_id(0);
  out[2 * i] = inner(image, repeated, at[i].xy) + inner(image, sampler, at[i].yx);
  out[2 * i + 1] = inner(image, closest, at[i].xy) + get_image_channel_order(image);
}
)";

struct Way {
  cl_bool normalized;
  cl_addressing_mode mode;
  cl_filter_mode filter;
};
constexpr Way ways[] = {{CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST},
                        {CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR},
                        {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST},
                        {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_LINEAR},
                        {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST},
                        {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR},
                        {CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR},
                        {CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST},
                        {CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR},
                        {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST},
                        {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR}};

struct Case {
  const char* kernel;
  cl_image_desc shape;
  cl_image_format format;
};

// Numbers between 0 and 1, or any integers.
std::vector<unsigned char> pixelsOf(const cl_image_format& format) {
  std::vector<unsigned char> bytes(1 << 16);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i * 37 + i / 7 + i / 256 * 11);
  if (format.image_channel_data_type == CL_FLOAT)
    for (size_t i = 0; i < bytes.size(); i += 4) {
      const auto value = static_cast<float>(bytes[i] * 256 + bytes[i + 1]) / 65535.0f;
      std::memcpy(&bytes[i], &value, sizeof value);
    }
  if (format.image_channel_data_type == CL_HALF_FLOAT)
    for (size_t i = 1; i < bytes.size(); i += 2) bytes[i] = 0x30 + bytes[i] % 12;
  return bytes;
}

class SampledImages : public testing::Test {
 protected:
  static constexpr size_t reads = 512;

  void SetUp() override {
    cl_device_id cpu = nullptr;
    cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_CPU, 1, &cpu, nullptr);
    if (!deviceInfo<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) || !cpu)
      GTEST_SKIP() << "no images, or no CPU";
    if (cpu == testDevice()) GTEST_SKIP() << "the CPU is what others are compared with";
    const cl_device_id both[] = {cpu, testDevice()};
    cl_int code = 1;
    context = OwnedContext(cl.clCreateContext(nullptr, 2, both, nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    for (const cl_device_id device : both)
      queues.emplace_back(cl.clCreateCommandQueue(context, device, 0, &code));
    const char* text = source;
    program = OwnedProgram(cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code));
    ASSERT_EQ(cl.clBuildProgram(program, 0, nullptr, "-cl-std=CL3.0", nullptr, nullptr),
              CL_SUCCESS);
    out = buffer(std::vector<cl_float4>(2 * reads));
  }

  OwnedMem buffer(const std::vector<cl_float4>& values) const {
    cl_int code = 1;
    return OwnedMem(cl.clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, values.size() * 16,
                                      const_cast<cl_float4*>(values.data()), &code));
  }
  OwnedMem image(const cl_image_desc& desc, const cl_image_format& format) const {
    std::vector<unsigned char> pixels = pixelsOf(format);
    cl_int code = 1;
    OwnedMem made(
        cl.clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, pixels.data(), &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  // In and around the image, some of them between texels.
  OwnedMem places(const cl_image_desc& desc, bool normalized) const {
    const auto extent = [](size_t size) { return static_cast<float>(std::max<size_t>(size, 1)); };
    const float sizes[] = {extent(desc.image_width), extent(desc.image_height),
                           extent(std::max(desc.image_depth, desc.image_array_size))};
    const float steps[] = {0.1371f, 0.0917f, 0.2113f};
    std::vector<cl_float4> values(reads);
    for (size_t i = 0; i < reads; ++i) {
      for (size_t d = 0; d < 3; ++d) {
        float at = std::fmod(static_cast<float>(i) * steps[d], 3.3f) - 1.1f;
        if (i % 5 == d) at = std::floor(at * sizes[d]) / sizes[d];
        const bool is_layer = d == 2 && desc.image_array_size > 0;
        values[i].s[d] = normalized && !is_layer ? at : at * sizes[d];
      }
      values[i].s[3] = static_cast<float>(i * 7 % 1024);
    }
    return buffer(values);
  }
  std::vector<cl_float4> read(const OwnedQueue& queue, const char* name, cl_mem of, cl_sampler by,
                              cl_mem at) const {
    cl_int code = 1;
    const OwnedKernel kernel(cl.clCreateKernel(program, name, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    const cl_mem result = out;
    cl.clSetKernelArg(kernel, 0, sizeof of, &of);
    cl.clSetKernelArg(kernel, 1, sizeof by, &by);
    cl.clSetKernelArg(kernel, 2, sizeof at, &at);
    cl.clSetKernelArg(kernel, 3, sizeof result, &result);
    std::vector<cl_float4> values(2 * reads);
    EXPECT_EQ(
        cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &reads, nullptr, 0, nullptr, nullptr),
        CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queue, out, CL_TRUE, 0, values.size() * 16, values.data(), 0,
                                     nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
  void compare(const Case& one, const Way& way) {
    SCOPED_TRACE(
        std::string(one.kernel) + " of format " + std::to_string(one.format.image_channel_order) +
        " " + std::to_string(one.format.image_channel_data_type) + ", width " +
        std::to_string(one.shape.image_width) + ", mode " + std::to_string(way.mode) +
        (way.normalized ? " normalized" : "") + (way.filter == CL_FILTER_LINEAR ? " linear" : ""));
    cl_int code = 1;
    const OwnedSampler sampler(
        cl.clCreateSampler(context, way.normalized, way.mode, way.filter, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const OwnedMem made = image(one.shape, one.format), at = places(one.shape, way.normalized);
    const auto expected = read(queues[0], one.kernel, made, sampler, at),
               found = read(queues[1], one.kernel, made, sampler, at);
    const bool filters =
        way.filter == CL_FILTER_LINEAR || std::string_view(one.kernel) == "literals";
    const bool equal = std::memcmp(expected.data(), found.data(), expected.size() * 16) == 0;
    EXPECT_TRUE(equal || filters);
    if (equal || !filters) return;
    // Of the range; two reads are added.
    constexpr float tolerance = 0.015f;
    float worst = 0;
    for (size_t i = 0; i < expected.size(); ++i)
      for (int c = 0; c < 4; ++c)
        worst = std::max(worst, std::abs(found[i].s[c] - expected[i].s[c]));
    EXPECT_LE(worst, tolerance);
  }

  OwnedContext context;
  std::vector<OwnedQueue> queues;
  OwnedProgram program;
  OwnedMem out;
};

TEST_F(SampledImages, OfEveryShape) {
  const Case cases[] = {
      {"line", describe(CL_MEM_OBJECT_IMAGE1D, 19), {CL_RGBA, CL_UNORM_INT8}},
      {"plane", describe(CL_MEM_OBJECT_IMAGE2D, 16, 9), {CL_RGBA, CL_UNORM_INT8}},
      {"plane", describe(CL_MEM_OBJECT_IMAGE2D, 13, 9), {CL_RGBA, CL_UNORM_INT8}},
      {"lines", describe(CL_MEM_OBJECT_IMAGE1D_ARRAY, 16, 0, 5), {CL_BGRA, CL_UNORM_INT8}},
      {"layers", describe(CL_MEM_OBJECT_IMAGE2D_ARRAY, 8, 5, 4), {CL_RGBA, CL_UNORM_INT16}},
      {"layers", describe(CL_MEM_OBJECT_IMAGE2D_ARRAY, 7, 5, 4), {CL_RGBA, CL_UNORM_INT16}},
      {"volume", describe(CL_MEM_OBJECT_IMAGE3D, 16, 5, 6), {CL_RG, CL_UNORM_INT8}},
      {"literals", describe(CL_MEM_OBJECT_IMAGE2D, 8, 8), {CL_RGBA, CL_UNORM_INT8}}};
  for (const Case& one : cases)
    for (const Way& way : ways) compare(one, way);
}

TEST_F(SampledImages, OfEveryFormat) {
  const cl_channel_type types[] = {CL_UNORM_INT8,  CL_UNORM_INT16, CL_SNORM_INT8,
                                   CL_SNORM_INT16, CL_HALF_FLOAT,  CL_FLOAT};
  const cl_image_desc plane = describe(CL_MEM_OBJECT_IMAGE2D, 32, 7);
  for (const cl_channel_order order : {CL_R, CL_RG, CL_RGBA})
    for (const cl_channel_type type : types)
      for (const Way& way : {ways[1], ways[7], ways[8]})
        compare({"plane", plane, {order, type}}, way);
  for (const cl_image_format format : {cl_image_format{CL_BGRA, CL_UNORM_INT8},
                                       {CL_A, CL_UNORM_INT8},
                                       {CL_sRGBA, CL_UNORM_INT8},
                                       {CL_RGB, CL_UNORM_SHORT_565}})
    for (const Way& way : {ways[1], ways[7], ways[8]}) compare({"plane", plane, format}, way);
}

TEST_F(SampledImages, OfIntegers) {
  const cl_image_desc plane = describe(CL_MEM_OBJECT_IMAGE2D, 32, 16);
  for (const cl_channel_order order : {CL_R, CL_RG, CL_RGBA})
    for (const Way& way : {ways[0], ways[4], ways[7], ways[9]}) {
      for (const cl_channel_type type : {CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32})
        compare({"counts", plane, {order, type}}, way);
      for (const cl_channel_type type : {CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32})
        compare({"differences", plane, {order, type}}, way);
    }
}

}  // namespace
}  // namespace weft::e2e
