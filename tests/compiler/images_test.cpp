// OpenCL C 6.15.15: image builtins on descriptors made by hand, against a plain reference.
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include <CL/cl.h>

#include "tests/compiler/fixture.h"
#include "tests/compiler/program.h"

namespace weft {
namespace {

using test::Program;
using Sampler = uint32_t;

class ImagesTest : public test::CompilerTest {
 protected:
  Program load(const std::string& source, const std::string& options = "-cl-std=CL3.0") {
    port::CompileRequest job = request(source, options);
    job.features.images = true;
    for (const char* macro : {"__opencl_c_3d_image_writes", "__opencl_c_read_write_images"})
      job.features.feature_macros.emplace_back(macro);
    const auto result = compiler().build(job);
    if (!result.ok) throw std::runtime_error(result.log);
    return Program(result.image);
  }
};

TEST_F(ImagesTest, HelpersAndEverySourceOfSamplers) {
  const Program program = load(
      "constant sampler_t outer = CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP;\n"
      "float4 get(read_only image2d_t image, sampler_t s, float2 at) {\n"
      "  return read_imagef(image, s, at); }\n"
      "kernel void f(read_only image2d_t image, sampler_t given, global float4* out) {\n"
      "  const sampler_t inner = CLK_NORMALIZED_COORDS_TRUE | CLK_FILTER_LINEAR\n"
      "                          | CLK_ADDRESS_CLAMP_TO_EDGE;\n"
      "  out[0] = get(image, given, (float2)(1.5f, 0.5f));\n"
      "  out[1] = get(image, outer, (float2)(2.0f, 0.0f));\n"
      "  out[2] = get(image, inner, (float2)(0.5f, 0.5f));\n"
      "  out[3] = read_imagef(image, outer, (int2)(0, 1));\n}\n");
  std::array<uint8_t, 16> pixels;
  std::iota(pixels.begin(), pixels.end(), uint8_t{0});
  const port::ImageDescriptor image{reinterpret_cast<uint64_t>(pixels.data()),
                                    8,
                                    16,
                                    2,
                                    2,
                                    1,
                                    1,
                                    CL_MEM_OBJECT_IMAGE2D,
                                    CL_RGBA,
                                    CL_UNORM_INT8,
                                    4};
  const Sampler given = port::sampler_filter_nearest;
  alignas(16) float out[4][4];
  float* pointer = out[0];
  program.run("f", {1, 1, 1}, {1, 1, 1}, {&image, &given, &pointer});
  for (int c = 0; c < 4; ++c) {
    const auto channel = static_cast<float>(c);
    EXPECT_EQ(out[0][c], (4.0f + channel) / 255.0f);
    EXPECT_EQ(out[1][c], 0.0f);
    EXPECT_NEAR(out[2][c], (6.0f + channel) / 255.0f, 1e-6f);
    EXPECT_EQ(out[3][c], (8.0f + channel) / 255.0f);
  }
  const auto& arguments = program.kernel("f").arguments;
  EXPECT_EQ(arguments[0].kind, ArgumentKind::image);
  EXPECT_TRUE(arguments[0].reads);
  EXPECT_FALSE(arguments[0].writes);
  EXPECT_EQ(arguments[1].kind, ArgumentKind::sampler);
}

}  // namespace
}  // namespace weft
