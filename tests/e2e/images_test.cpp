// Images and samplers as kernel arguments, on one device and on several that move them.
#include "tests/conformance/image_fixture.h"
#include "tests/e2e/several_devices.h"

namespace weft::e2e {
namespace {

constexpr char source[] = R"(
kernel void shift(read_only image2d_t from, write_only image2d_t to, sampler_t sampler) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageui(to, at, read_imageui(from, sampler, at + (int2)(1, 0)) + (uint4)(1));
}
kernel void count(read_only image1d_buffer_t line, global uint* sum) {
  atomic_add(sum, read_imageui(line, get_global_id(0)).x);
}
kernel void measure(read_only image3d_t volume, read_only image2d_array_t layers, global int* out) {
  out[0] = get_image_width(volume);
  out[1] = get_image_height(volume);
  out[2] = get_image_depth(volume);
  out[3] = get_image_width(layers);
  out[4] = (int)get_image_array_size(layers);
}
)";

class ImagePrograms : public SeveralDevices {
 protected:
  static constexpr size_t width = 16, height = 4, bytes = width * height * 4;

  void SetUp() override {
    if (!deviceInfo<cl_bool>(CL_DEVICE_IMAGE_SUPPORT)) GTEST_SKIP() << "no images";
    useDevices();
    queue = makeQueue(context);
    buffer = makeBuffer();
    cl_int code = 1;
    sampler = OwnedSampler(
        cl.clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    program = built(source);
  }
  OwnedMem plane(cl_mem_flags flags = 0) const {
    return make(describe(CL_MEM_OBJECT_IMAGE2D, width, height), rgba8ui, flags);
  }
  OwnedMem make(const cl_image_desc& desc, const cl_image_format& format,
                cl_mem_flags flags = 0) const {
    cl_int code = 1;
    OwnedMem made(cl.clCreateImage(context, flags, &format, &desc, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  cl_int setCode(cl_kernel kernel, cl_uint index, const void* handle, size_t size = 8) const {
    return cl.clSetKernelArg(kernel, index, size, handle);
  }

  OwnedSampler sampler;
  OwnedProgram program;
};

// What `shift` does, on the host: beyond the edge there is the border's (0, 0, 0, 0).
PixelData shifted(const PixelData& from, size_t width) {
  PixelData to(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const bool edge = i / 4 % width == width - 1;
    to[i] = static_cast<unsigned char>(edge ? 1 : std::min(from[i + 4] + 1, 255));
  }
  return to;
}

TEST_F(ImagePrograms, MoveBetweenDevices) {
  const OwnedMem images[] = {plane(), plane()};
  const OwnedKernel shift = kernel(program, "shift");
  PixelData expected = counting(bytes);
  const Triple zero{0, 0, 0}, all{width, height, 1};
  ASSERT_EQ(cl.clEnqueueWriteImage(queues[0], images[0], CL_TRUE, zero.data(), all.data(), 0, 0,
                                   expected.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  const size_t global[] = {width, height};
  for (size_t round = 0; round < 9; ++round) {
    const OwnedQueue& on = queues[round % queues.size()];
    set(shift, images[round % 2], images[(round + 1) % 2], cl_sampler(sampler));
    ASSERT_EQ(
        cl.clEnqueueNDRangeKernel(on, shift, 2, nullptr, global, nullptr, 0, nullptr, nullptr),
        CL_SUCCESS);
    // Part of the result is overwritten on another device.
    const cl_uint colour[4] = {cl_uint(round), 2, 3, 4};
    const Triple origin{2, 1, 0}, region{3, 2, 1};
    ASSERT_EQ(cl.clFinish(on), CL_SUCCESS);
    const OwnedQueue& other = queues[(round + 1) % queues.size()];
    ASSERT_EQ(cl.clEnqueueFillImage(other, images[(round + 1) % 2], colour, origin.data(),
                                    region.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(other), CL_SUCCESS);
    expected = shifted(expected, width);
    for (size_t y = 1; y < 3; ++y)
      for (size_t x = 2; x < 5; ++x)
        for (size_t c = 0; c < 4; ++c)
          expected[(y * width + x) * 4 + c] = static_cast<unsigned char>(colour[c]);
  }
  PixelData result(bytes);
  ASSERT_EQ(cl.clEnqueueReadImage(queue, images[1], CL_TRUE, zero.data(), all.data(), 0, 0,
                                  result.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(result, expected);
}

TEST_F(ImagePrograms, ReadWhatABufferHolds) {
  std::vector<cl_uint> values(64);
  cl_uint expected = 0;
  for (size_t i = 0; i < values.size(); ++i) expected += values[i] = static_cast<cl_uint>(i * i);
  const OwnedMem memory = upload(values), sum = upload(std::vector<cl_uint>{0});
  cl_image_desc desc = describe(CL_MEM_OBJECT_IMAGE1D_BUFFER, values.size());
  desc.mem_object = memory;
  const OwnedMem line = make(desc, r32ui);
  const OwnedKernel count = kernel(program, "count");
  set(count, line, sum);
  run(count, {{values.size()}});
  EXPECT_EQ(download<cl_uint>(sum), std::vector<cl_uint>{expected});
}

TEST_F(ImagePrograms, AskForSizes) {
  const OwnedMem volume = make(describe(CL_MEM_OBJECT_IMAGE3D, 5, 6, 7), rgba8ui);
  const OwnedMem layers = make(describe(CL_MEM_OBJECT_IMAGE2D_ARRAY, 8, 3, 9), rgba8ui);
  const OwnedMem out = upload(std::vector<cl_int>(5));
  const OwnedKernel measure = kernel(program, "measure");
  set(measure, volume, layers, out);
  run(measure, {{1}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{5, 6, 7, 8, 9}));
}

// Each stored value comes back to where it was, by way of linear intensities; the alpha is linear.
TEST_F(ImagePrograms, WriteSrgb) {
  constexpr char srgb_source[] =
      "kernel void through(read_only image1d_t from, write_only image1d_t to, global float* "
      "linear) "
      "{\n"
      "  int i = get_global_id(0); float4 v = read_imagef(from, i);\n"
      "  write_imagef(to, i, v); vstore4(v, i, linear);\n"
      "}\n";
  const OwnedKernel through = kernel(built(srgb_source), "through");
  for (const cl_channel_order order : {CL_sRGBA, CL_sBGRA}) {
    const cl_image_format format{order, CL_UNORM_INT8};
    const cl_image_desc desc = describe(CL_MEM_OBJECT_IMAGE1D, 256);
    const OwnedMem from = make(desc, format), to = make(desc, format);
    const OwnedMem linear = upload(std::vector<cl_float>(1024));
    PixelData values(1024);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<unsigned char>(i % 4 == 1 ? 255 - i / 4 : i / 4);
    const Triple zero{0, 0, 0}, all{256, 1, 1};
    ASSERT_EQ(cl.clEnqueueWriteImage(queue, from, CL_TRUE, zero.data(), all.data(), 0, 0,
                                     values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    set(through, from, to, linear);
    run(through, {{256}});
    PixelData result(values.size());
    ASSERT_EQ(cl.clEnqueueReadImage(queue, to, CL_TRUE, zero.data(), all.data(), 0, 0,
                                    result.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(result, values);
    const auto seen = download<cl_float>(linear);
    EXPECT_NEAR(seen[4 * 188], 0.502886, 1e-5);  // ((188 / 255 + 0.055) / 1.055)^2.4
    EXPECT_FLOAT_EQ(seen[4 * 188 + 3], 188 / 255.0f);
  }
}

TEST_F(ImagePrograms, RefuseWrongArguments) {
  const OwnedKernel shift = kernel(program, "shift");
  const OwnedMem good = plane(), read = plane(CL_MEM_READ_ONLY), written = plane(CL_MEM_WRITE_ONLY);
  const OwnedMem volume = make(describe(CL_MEM_OBJECT_IMAGE3D, 2, 2, 2), rgba8ui);
  const auto image = [&](cl_uint index, cl_mem handle) { return setCode(shift, index, &handle); };
  EXPECT_EQ(image(0, good), CL_SUCCESS);
  EXPECT_EQ(image(0, read), CL_SUCCESS);
  EXPECT_EQ(image(0, written), CL_INVALID_ARG_VALUE);
  EXPECT_EQ(image(1, written), CL_SUCCESS);
  EXPECT_EQ(image(1, read), CL_INVALID_ARG_VALUE);
  EXPECT_EQ(image(0, volume), CL_INVALID_ARG_VALUE);
  EXPECT_EQ(image(0, buffer), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(image(0, nullptr), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(setCode(shift, 0, nullptr), CL_INVALID_MEM_OBJECT);
  const cl_mem handle = good;
  EXPECT_EQ(setCode(shift, 0, &handle, 4), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(setCode(shift, 2, &handle), CL_INVALID_SAMPLER);
  EXPECT_EQ(setCode(shift, 2, nullptr), CL_INVALID_SAMPLER);
  const cl_sampler valid = sampler;
  EXPECT_EQ(setCode(shift, 2, &valid, 4), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(setCode(shift, 2, &valid), CL_SUCCESS);
}

TEST_F(ImagePrograms, ArgumentsDoNotKeepImages) {
  const OwnedKernel shift = kernel(program, "shift");
  OwnedMem from = plane();
  const OwnedMem to = plane();
  set(shift, from, to, cl_sampler(sampler));
  from.reset();
  EXPECT_EQ(enqueue(shift, {{1, 1}}), CL_INVALID_KERNEL_ARGS);
}

}  // namespace
}  // namespace weft::e2e
