// OpenCL 8.2 and OpenCL C 6.15.15: addressing and filtering, coordinates and queries.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <CL/cl.h>

#include "tests/compiler/images.h"

namespace weft {
namespace {

using test::ImagesTest;
using test::Program;

constexpr int width = 5, height = 3, depth = 4;

struct Shape {
  const char* name;
  cl_mem_object_type type;
  int dimensions;
  bool layered;
};
constexpr Shape shapes[] = {{"image1d_t", CL_MEM_OBJECT_IMAGE1D, 1, false},
                            {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, true},
                            {"image2d_t", CL_MEM_OBJECT_IMAGE2D, 2, false},
                            {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY, 2, true},
                            {"image3d_t", CL_MEM_OBJECT_IMAGE3D, 3, false}};

// The same pixels for every shape, each using as much of them as it has dimensions. Colours are
// numbers that no other pixel has.
struct Pixels {
  explicit Pixels(const Shape& shape) {
    std::mt19937 random(7);
    for (float& x : values) x = static_cast<float>(random() % 4096) / 4096.0f;
    image = {.address = reinterpret_cast<uint64_t>(values),
             .row_pitch = width * 16,
             .slice_pitch = height * width * 16,
             .width = width,
             .height = shape.dimensions > 1 ? uint32_t{height} : 1,
             .depth = shape.dimensions > 2 ? uint32_t{depth} : 1,
             .array_size = shape.layered ? uint32_t{depth} : 1,
             .type = shape.type,
             .channel_order = CL_RGBA,
             .channel_type = CL_FLOAT,
             .pixel_bytes = 16};
  }
  const float* at(int x, int y, int z) const { return &values[((z * height + y) * width + x) * 4]; }

  alignas(16) float values[width * height * depth * 4];
  port::ImageDescriptor image;
};

// Table of the specification: the one or two texels of an axis and their weights.
struct Texel {
  int index;
  double weight;
};

std::vector<Texel> axis(double s, uint32_t sampler, int size) {
  const uint32_t mode = sampler & 14;
  double u = sampler & port::sampler_normalized ? s * size : s;
  if (mode == port::sampler_address_repeat) u = (s - std::floor(s)) * size;
  if (mode == port::sampler_address_mirrored_repeat)
    u = std::abs(s - 2.0 * std::nearbyint(0.5 * s)) * size;
  const auto address = [&](int i) {
    if (mode == port::sampler_address_repeat) return (i + size) % size;
    if (mode == port::sampler_address_clamp) return std::clamp(i, -1, size);
    return std::clamp(i, 0, size - 1);
  };
  if (sampler & port::sampler_filter_nearest)
    return {{address(static_cast<int>(std::floor(u))), 1.0}};
  const double below = std::floor(u - 0.5);
  const double part = u - 0.5 - below;
  return {{address(static_cast<int>(below)), 1.0 - part},
          {address(static_cast<int>(below) + 1), part}};
}

std::array<double, 4> sample(const Pixels& pixels, const Shape& shape, uint32_t sampler,
                             const float* at) {
  const std::vector<Texel> first = {{0, 1.0}};
  const auto xs = axis(at[0], sampler, width);
  const auto ys = shape.dimensions > 1 ? axis(at[1], sampler, height) : first;
  auto zs = shape.dimensions > 2 ? axis(at[2], sampler, depth) : first;
  if (shape.layered) {
    const float layer = at[shape.dimensions];
    zs = {{static_cast<int>(std::clamp(std::nearbyint(layer), 0.0f, depth - 1.0f)), 1.0}};
  }
  std::array<double, 4> sum{};
  for (const Texel& x : xs)
    for (const Texel& y : ys)
      for (const Texel& z : zs) {
        const bool inside = x.index >= 0 && x.index < width && y.index >= 0 && y.index < height &&
                            z.index >= 0 && z.index < depth;
        for (size_t c = 0; c < 4 && inside; ++c)
          sum[c] += x.weight * y.weight * z.weight *
                    static_cast<double>(pixels.at(x.index, y.index, z.index)[c]);
      }
  return sum;
}

std::string sampleSource() {
  std::string source;
  const char* coordinates[] = {"x", "xy", "xy", "xyzw", "xyzw"};
  for (size_t i = 0; i < std::size(shapes); ++i)
    for (const char* type : {"float", "int"})
      source += std::string("kernel void ") + type + "_" + shapes[i].name + "(read_only " +
                shapes[i].name + " image, sampler_t s, global " + type +
                "4* at, global float4* out) {\n  int x = get_global_id(0);\n"
                "  out[x] = read_imagef(image, s, at[x]." +
                coordinates[i] + "); }\n";
  return source;
}

// Exact in float, so that rounding never moves a coordinate to another texel.
constexpr int samples = 256;
struct Coordinates {
  Coordinates(bool normalised, std::mt19937& random) {
    for (auto& at : values)
      for (float& x : at)
        x = (static_cast<float>(random() % 1024) + 0.5f) / (normalised ? 256.0f : 64.0f) -
            (normalised ? 1.5f : 4.0f);
  }
  alignas(16) float values[samples][4];
};

TEST_F(ImagesTest, AddressesAndFilters) {
  const Program program = load(sampleSource());
  std::mt19937 random(1);
  for (const Shape& shape : shapes) {
    const Pixels pixels(shape);
    for (const uint32_t filter : {port::sampler_filter_nearest, port::sampler_filter_linear})
      for (uint32_t mode = port::sampler_address_clamp_to_edge;
           mode <= port::sampler_address_mirrored_repeat; mode += 2)
        for (const uint32_t normalised : {0u, port::sampler_normalized}) {
          if (!normalised && mode >= port::sampler_address_repeat) continue;
          const uint32_t sampler = filter | mode | normalised;
          const Coordinates at(normalised, random);
          alignas(16) float out[samples][4];
          const void *in = at.values, *result = out;
          program.run(std::string("float_") + shape.name, {samples, 1, 1}, {16, 1, 1},
                      {&pixels.image, &sampler, &in, &result});
          for (int i = 0; i < samples; ++i) {
            const auto expected = sample(pixels, shape, sampler, at.values[i]);
            for (size_t c = 0; c < 4; ++c)
              ASSERT_NEAR(out[i][c], expected[c], filter == port::sampler_filter_linear ? 1e-6 : 0)
                  << shape.name << " " << sampler << " at " << at.values[i][0] << ", "
                  << at.values[i][1] << ", " << at.values[i][2];
          }
        }
  }
}

TEST_F(ImagesTest, IntegerCoordinates) {
  const Program program = load(sampleSource());
  std::mt19937 random(2);
  for (const Shape& shape : shapes) {
    const Pixels pixels(shape);
    for (const uint32_t mode : {port::sampler_address_clamp_to_edge, port::sampler_address_clamp}) {
      const uint32_t sampler = mode | port::sampler_filter_nearest;
      alignas(16) int at[samples][4];
      alignas(16) float out[samples][4];
      for (auto& coordinate : at)
        for (int& x : coordinate) x = static_cast<int>(random() % 12) - 3;
      const void *in = at, *result = out;
      program.run(std::string("int_") + shape.name, {samples, 1, 1}, {16, 1, 1},
                  {&pixels.image, &sampler, &in, &result});
      for (int i = 0; i < samples; ++i) {
        float same[4];
        std::copy(at[i], at[i] + 4, same);
        const auto expected = sample(pixels, shape, sampler, same);
        for (size_t c = 0; c < 4; ++c)
          ASSERT_EQ(static_cast<double>(out[i][c]), expected[c]) << shape.name << " " << mode;
      }
    }
  }
}

// Coordinates of no meaning give some colour, and no access outside of the image.
TEST_F(ImagesTest, SurvivesWildCoordinates) {
  const Program program = load(sampleSource());
  for (const Shape& shape : shapes) {
    const Pixels pixels(shape);
    alignas(16) float out[4], at[4];
    const void *in = at, *result = out;
    for (const float wild : {NAN, INFINITY, -INFINITY, 3e38f, -3e9f})
      for (uint32_t sampler = 0; sampler < 0x40; ++sampler) {
        std::fill(std::begin(at), std::end(at), wild);
        program.run(std::string("float_") + shape.name, {1, 1, 1}, {1, 1, 1},
                    {&pixels.image, &sampler, &in, &result});
      }
  }
}

TEST_F(ImagesTest, BordersFollowTheChannelOrder) {
  const Program program = load(
      "constant sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
      "kernel void f(image1d_t image, global float4* out) { out[0] = read_imagef(image, s, -1); }\n"
      "kernel void i(image1d_t image, global int4* out) { out[0] = read_imagei(image, s, 9); }\n");
  struct Border {
    int order, alpha;
    uint16_t channels;
  };
  for (const auto& [order, alpha, channels] :
       {Border{CL_R, 1, 1}, Border{CL_RG, 1, 2}, Border{CL_LUMINANCE, 1, 1}, Border{CL_A, 0, 1},
        Border{CL_RGBA, 0, 4}, Border{CL_BGRA, 0, 4}}) {
    port::ImageDescriptor image{.width = 4,
                                .channel_order = static_cast<cl_uint>(order),
                                .channel_type = CL_UNORM_INT8,
                                .pixel_bytes = channels};
    alignas(16) float real[4];
    alignas(16) int whole[4];
    const void *f = real, *i = whole;
    program.run("f", {1, 1, 1}, {1, 1, 1}, {&image, &f});
    image.channel_type = CL_SIGNED_INT8;
    program.run("i", {1, 1, 1}, {1, 1, 1}, {&image, &i});
    EXPECT_EQ(real[0], 0.0f);
    EXPECT_EQ(real[3], static_cast<float>(alpha)) << order;
    EXPECT_EQ(whole[2], 0);
    EXPECT_EQ(whole[3], alpha) << order;
  }
}

TEST_F(ImagesTest, DepthBufferAndReadWriteImages) {
  const Program program = load(
      "kernel void f(read_only image2d_depth_t d, read_write image1d_buffer_t b,\n"
      "              write_only image3d_t v, global float* out) {\n"
      "  const sampler_t s = CLK_FILTER_LINEAR | CLK_ADDRESS_CLAMP_TO_EDGE;\n"
      "  out[0] = read_imagef(d, s, (float2)(1.0f, 0.5f));\n"
      "  out[1] = read_imagef(d, (int2)(1, 0));\n"
      "  write_imagei(b, 1, read_imagei(b, 0) + 1);\n"
      "  write_imagei(b, 2, read_imagei(b, 1) + 1);\n"
      "  write_imagei(b, 3, (int4)9);\n"
      "  write_imageui(v, (int4)(0, 1, 1, 0), (uint4)(7, 8, 9, 10));\n"
      "  write_imageui(v, (int4)(0, 1, 2, 0), (uint4)5);\n}\n");
  float depths[2] = {0.25f, 0.75f}, out[2];
  int numbers[4] = {40, 0, 0, 1};
  uint8_t volume[12] = {};
  const port::ImageDescriptor d{reinterpret_cast<uint64_t>(depths),
                                8,
                                8,
                                2,
                                1,
                                1,
                                1,
                                CL_MEM_OBJECT_IMAGE2D,
                                CL_DEPTH,
                                CL_FLOAT,
                                4};
  const port::ImageDescriptor b{reinterpret_cast<uint64_t>(numbers),
                                12,
                                12,
                                3,
                                1,
                                1,
                                1,
                                CL_MEM_OBJECT_IMAGE1D_BUFFER,
                                CL_R,
                                CL_SIGNED_INT32,
                                4};
  const port::ImageDescriptor v{reinterpret_cast<uint64_t>(volume),
                                2,
                                4,
                                1,
                                2,
                                2,
                                1,
                                CL_MEM_OBJECT_IMAGE3D,
                                CL_RG,
                                CL_UNSIGNED_INT8,
                                2};
  float* pointer = out;
  program.run("f", {1, 1, 1}, {1, 1, 1}, {&d, &b, &v, &pointer});
  EXPECT_EQ(out[0], 0.5f);
  EXPECT_EQ(out[1], 0.75f);
  EXPECT_EQ(numbers[1], 41);
  EXPECT_EQ(numbers[2], 42);
  EXPECT_EQ(numbers[3], 1) << "beyond the image";
  const uint8_t expected[12] = {0, 0, 0, 0, 0, 0, 7, 8};
  EXPECT_TRUE(std::equal(volume, volume + 12, expected));
}

TEST_F(ImagesTest, AccessQualifiersSayWhatIsReadAndWritten) {
  const Program program = load(
      "kernel void f(read_write image1d_t b, write_only image2d_t w, read_only image3d_t r) {}\n");
  const auto& arguments = program.kernel("f").arguments;
  EXPECT_TRUE(arguments[0].reads && arguments[0].writes);
  EXPECT_TRUE(!arguments[1].reads && arguments[1].writes);
  EXPECT_TRUE(arguments[2].reads && !arguments[2].writes);
}

TEST_F(ImagesTest, Queries) {
  const Program program = load(
      "kernel void f(read_only image2d_array_t a, write_only image3d_t v,\n"
      "              read_write image1d_array_t l, global int* out) {\n"
      "  out[0] = get_image_width(a); out[1] = get_image_height(a);\n"
      "  out[2] = get_image_dim(a).y; out[3] = get_image_array_size(a);\n"
      "  out[4] = get_image_depth(v); out[5] = get_image_dim(v).z; out[6] = get_image_dim(v).w;\n"
      "  out[7] = get_image_array_size(l);\n"
      "  out[8] = get_image_channel_order(l) == CLK_BGRA;\n"
      "  out[9] = get_image_channel_data_type(l) == CLK_SNORM_INT16;\n}\n");
  const port::ImageDescriptor a{.width = 3, .height = 4, .array_size = 5};
  const port::ImageDescriptor v{.width = 6, .height = 7, .depth = 8};
  const port::ImageDescriptor l{
      .width = 9, .array_size = 10, .channel_order = CL_BGRA, .channel_type = CL_SNORM_INT16};
  int out[10];
  int* pointer = out;
  program.run("f", {1, 1, 1}, {1, 1, 1}, {&a, &v, &l, &pointer});
  const int expected[10] = {3, 4, 4, 5, 8, 8, 0, 10, 1, 1};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

}  // namespace
}  // namespace weft
