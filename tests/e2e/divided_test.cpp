// Kernels that run one after the other on the parts of a unified device, with halos that each part
// reads from its neighbour. On any other device they are kernels like others.
#include <cstdlib>
#include <thread>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr size_t width = 64, height = 192;

constexpr char source[] =
    "kernel void stencil(global const uint* in, global uint* out) {\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  int up = max(y - 1, 0), down = min(y + 1, HEIGHT - 1);\n"
    "  out[y * WIDTH + x] =\n"
    "      in[up * WIDTH + x] + 3 * in[down * WIDTH + x] + 5 * in[y * WIDTH + x];\n"
    "}\n"
    "kernel void image_stencil(read_only image2d_t in, write_only image2d_t out, sampler_t s) {\n"
    "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  write_imageui(out, at, read_imageui(in, s, at - (int2)(0, 1)) +\n"
    "      3 * read_imageui(in, s, at + (int2)(0, 1)) + 5 * read_imageui(in, at));\n"
    "}\n"
    "kernel void spin(global uint* out, uint steps) {\n"
    "  uint value = out[0];\n"
    "  for (uint i = 0; i < steps; ++i) value = value * value + i;\n"
    "  out[0] = value;\n"
    "}\n";

class Divided : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    program = built(source, "-DWIDTH=64 -DHEIGHT=192");
    stencil = kernel(program, "stencil");
  }

  // So many times, from one to the other; the last one's event.
  cl_event iterate(cl_mem even, cl_mem odd, int times) const {
    return iterate(stencil, even, odd, times);
  }
  cl_event iterate(cl_kernel kernel, cl_mem even, cl_mem odd, int times) const {
    cl_event last = nullptr;
    for (int i = 0; i < times; ++i) {
      const cl_mem in = i % 2 ? odd : even, out = i % 2 ? even : odd;
      cl.clSetKernelArg(kernel, 0, sizeof in, &in);
      cl.clSetKernelArg(kernel, 1, sizeof out, &out);
      const size_t global[] = {width, height}, local[] = {16, 2};
      EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global, local, 0, nullptr,
                                          i + 1 == times ? &last : nullptr),
                CL_SUCCESS);
    }
    return last;
  }
  static std::vector<cl_uint> expected(std::vector<cl_uint> in, int times) {
    std::vector<cl_uint> out(in.size());
    for (int i = 0; i < times; ++i) {
      for (size_t y = 0; y < height; ++y)
        for (size_t x = 0; x < width; ++x) {
          const size_t up = y > 0 ? y - 1 : 0, down = y + 1 < height ? y + 1 : height - 1;
          out[y * width + x] =
              in[up * width + x] + 3 * in[down * width + x] + 5 * in[y * width + x];
        }
      in.swap(out);
    }
    return in;
  }
  static std::vector<cl_uint> initial() {
    std::vector<cl_uint> values(width * height);
    for (size_t i = 0; i < values.size(); ++i) values[i] = cl_uint(i * 2654435761u);
    return values;
  }
  cl_int statusOf(cl_event event) const {
    return info<cl_int>(cl.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
  }

  OwnedProgram program;
  OwnedKernel stencil;
};

TEST_F(Divided, IterationsReadTheirNeighboursHalos) {
  for (const int times : {1, 2, 40}) {
    const OwnedMem even = upload(initial()), odd = upload(initial());
    cl.clReleaseEvent(iterate(even, odd, times));
    ASSERT_EQ(download<cl_uint>(times % 2 ? odd : even), expected(initial(), times)) << times;
  }
}

// Of an image, and of one that lies in a buffer.
TEST_F(Divided, IterationsOnImages) {
  if (!deviceInfo<cl_bool>(CL_DEVICE_IMAGE_SUPPORT)) GTEST_SKIP() << "no images";
  cl_int code = 1;
  const OwnedSampler sampler(
      cl.clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &code));
  const OwnedMem odd = upload(initial());
  const auto image = [&](cl_mem buffer) {
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = width;
    desc.image_height = height;
    desc.mem_object = buffer;
    const cl_image_format format{CL_R, CL_UNSIGNED_INT32};
    return OwnedMem(cl.clCreateImage(context, 0, &format, &desc, nullptr, &code));
  };
  const OwnedMem even_image = image(nullptr), odd_image = image(odd);
  const OwnedKernel images = kernel(program, "image_stencil");
  const cl_sampler handle = sampler;
  ASSERT_EQ(cl.clSetKernelArg(images, 2, sizeof handle, &handle), CL_SUCCESS);
  for (const int times : {1, 3, 41}) {
    const auto values = initial();
    const size_t origin[] = {0, 0, 0}, region[] = {width, height, 1};
    ASSERT_EQ(cl.clEnqueueWriteImage(queue, even_image, CL_TRUE, origin, region, 0, 0,
                                     values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    cl.clReleaseEvent(iterate(images, even_image, odd_image, times));
    ASSERT_EQ(download<cl_uint>(odd), expected(values, times)) << times;
  }
}

// With what runs on one device before, between and after them.
TEST_F(Divided, WholeCommandsKeepTheirPlace) {
  const OwnedMem even = upload(initial()), odd = upload(initial());
  auto values = initial();
  for (int round = 0; round < 6; ++round) {
    cl.clReleaseEvent(iterate(even, odd, 4));
    values = expected(values, 4);
    const cl_uint pattern = 77 + cl_uint(round);
    const size_t begin = size_t(round) * 1000;
    ASSERT_EQ(
        cl.clEnqueueFillBuffer(queue, even, &pattern, 4, begin * 4, 512 * 4, 0, nullptr, nullptr),
        CL_SUCCESS);
    std::fill_n(values.begin() + long(begin), 512, pattern);
    ASSERT_EQ(cl.clEnqueueCopyBuffer(queue, even, odd, 0, 4096, 8192, 0, nullptr, nullptr),
              CL_SUCCESS);
  }
  ASSERT_EQ(download<cl_uint>(even), values);
}

TEST_F(Divided, TheNextIsSubmittedBeforeTheLastHasEnded) {
  if (!std::getenv("WEFT_TEST_RUNS_AHEAD")) GTEST_SKIP() << "not devices that wait for each other";
  const OwnedMem even = upload(initial()), odd = upload(initial()),
                 other = upload(std::vector<cl_uint>(1));
  const OwnedKernel spin = kernel(program, "spin");
  // Both have been there and are known.
  cl.clReleaseEvent(iterate(even, odd, 2));
  ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  int times = 2;
  bool seen = false;
  for (cl_uint steps = 1u << 26; !seen && steps != 0; steps *= 2) {
    set(spin, other, steps);
    const size_t one = 1;
    cl_event first = nullptr;
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(queue, spin, 1, nullptr, &one, &one, 0, nullptr, &first),
              CL_SUCCESS);
    const cl_event last = iterate(even, odd, 10);
    times += 10;
    cl.clFlush(queue);
    // In this order: what is submitted while the first still runs is so before it ends.
    while (!seen && statusOf(first) > CL_COMPLETE) {
      seen = statusOf(last) == CL_SUBMITTED && statusOf(first) > CL_COMPLETE;
      std::this_thread::yield();
    }
    ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
    cl.clReleaseEvent(first);
    cl.clReleaseEvent(last);
  }
  EXPECT_TRUE(seen);
  ASSERT_EQ(download<cl_uint>(even), expected(initial(), times));
}

}  // namespace
}  // namespace weft::e2e
