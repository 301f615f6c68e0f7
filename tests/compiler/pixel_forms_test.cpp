// Lanes read and write the same bits in vectors of every width, whatever the shape of the image,
// the sampler and the places.
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include <CL/cl.h>

#include "tests/compiler/images.h"

namespace weft {
namespace {

using test::ImagesTest;
using test::Program;

constexpr uint32_t width = 37, height = 9, depth = 5;
constexpr size_t lanes = 192;

struct Shape {
  const char* name;
  const char* components;
  cl_mem_object_type type;
  unsigned dimensions;
  bool layered;
};
constexpr Shape shapes[] = {{"1d", "x", CL_MEM_OBJECT_IMAGE1D, 1, false},
                            {"1d_array", "xy", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, true},
                            {"2d", "xy", CL_MEM_OBJECT_IMAGE2D, 2, false},
                            {"2d_array", "xyzw", CL_MEM_OBJECT_IMAGE2D_ARRAY, 2, true},
                            {"3d", "xyzw", CL_MEM_OBJECT_IMAGE3D, 3, false}};

std::string source() {
  std::string text = "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n";
  for (const Shape& shape : shapes) {
    const std::string name = shape.name, type = "image" + name + "_t";
    const std::string at = std::string("at[i].") + shape.components;
    text += "kernel void sample" + name + "(read_only " + type +
            " in, sampler_t s, global const float4* at, global float4* out) {\n"
            "  int i = get_global_id(0); out[i] = read_imagef(in, s, " +
            at + "); }\n";
    text += "kernel void read" + name + "(read_only " + type +
            " in, sampler_t s, global const int4* at, global float4* out) {\n"
            "  int i = get_global_id(0);\n"
            "  if (i % 5 != 3) out[i] = read_imagef(in, s, " +
            at + ") - read_imagef(in, " + at + "); }\n";
    text += "kernel void write" + name + "(write_only " + type +
            " to, global const int4* at, global const float4* colours) {\n"
            "  int i = get_global_id(0); if (i % 7 != 2) write_imagef(to, " +
            at + ", colours[i]); }\n";
  }
  return text;
}

struct Format {
  cl_channel_order order;
  cl_channel_type type;
  uint16_t bytes;
};
constexpr Format formats[] = {{CL_RGBA, CL_FLOAT, 16},     {CL_BGRA, CL_UNORM_INT8, 4},
                              {CL_R, CL_UNORM_INT8, 1},    {CL_RG, CL_SNORM_INT8, 2},
                              {CL_R, CL_FLOAT, 4},         {CL_RGBA, CL_UNORM_INT16, 8},
                              {CL_RGBA, CL_HALF_FLOAT, 8}, {CL_sRGBA, CL_UNORM_INT8, 4}};

port::ImageDescriptor describe(const Shape& shape, const Format& format, const void* pixels) {
  const uint32_t rows = shape.dimensions > 1 ? height : 1;
  return {.address = reinterpret_cast<uint64_t>(pixels),
          .row_pitch = width * format.bytes,
          .slice_pitch = width * format.bytes * rows,
          .width = width,
          .height = rows,
          .depth = shape.dimensions > 2 ? depth : 1,
          .array_size = shape.layered ? depth : 1,
          .type = shape.type,
          .channel_order = format.order,
          .channel_type = format.type,
          .pixel_bytes = format.bytes};
}

template <class T>
struct Places {
  alignas(16) T at[lanes][4];
};

// Rows, also over the image's edges, and other places. Of written ones no two are the same.
struct Coordinates {
  Coordinates() {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> near(-3.0f, 42.0f), parts(-1.5f, 2.5f);
    for (size_t i = 0; i < lanes; ++i) {
      const auto row = static_cast<int>(i / 32), column = static_cast<int>(i % 32);
      const bool scattered = i >= 96;
      for (int c = 0; c < 4; ++c) {
        between.at[i][c] = scattered ? near(random) : static_cast<float>(row) + 0.25f;
        normal.at[i][c] = parts(random);
        whole.at[i][c] = scattered ? static_cast<int>(near(random)) : row;
      }
      if (!scattered) {
        between.at[i][0] = static_cast<float>(column + 4 * row - 2) + 0.5f;
        whole.at[i][0] = column + 4 * row - 2;
      }
      unlike.at[i][0] = scattered ? (column * 7 + row) % 37 : column + 4 * row - 2;
      unlike.at[i][1] = row;
      unlike.at[i][2] = row % 3;
      unlike.at[i][3] = 0;
    }
    between.at[100][0] = NAN;
    between.at[101][1] = INFINITY;
  }
  Places<float> between, normal;
  Places<int> whole, unlike;
};

class PixelForms : public ImagesTest, public testing::WithParamInterface<std::string> {
 protected:
  Program make(const char* vectorise) {
    set("WEFT_VECTORIZE", vectorise);
    newCompiler();
    return load(source(), "-cl-std=CL3.0", GetParam());
  }
  std::vector<uint8_t> pixels() {
    std::mt19937 random(3);
    std::vector<uint8_t> result(width * height * depth * 16);
    for (uint8_t& byte : result) byte = static_cast<uint8_t>(random() % 60);  // no NaN
    return result;
  }
};
INSTANTIATE_TEST_SUITE_P(Processors, PixelForms, testing::ValuesIn(test::processors()),
                         [](const auto& info) { return std::to_string(info.index); });

template <class T>
std::vector<uint32_t> readBy(const Program& program, const std::string& kernel,
                             const port::ImageDescriptor& image, uint32_t sampler,
                             const Places<T>& places) {
  alignas(16) static uint32_t out[lanes][4];
  std::memset(out, 0, sizeof out);
  const void *at = places.at, *result = out;
  program.run(kernel, {lanes, 1, 1}, {lanes, 1, 1}, {&image, &sampler, &at, &result});
  std::vector<uint32_t> all(&out[0][0], &out[0][0] + lanes * 4);
  for (uint32_t& bits : all)
    if (std::isnan(std::bit_cast<float>(bits))) bits = 0x7fc00000;
  return all;
}

TEST_P(PixelForms, ReadTheSameBits) {
  const Program one = make("never"), many = make("always");
  const Coordinates places;
  const std::vector<uint8_t> bytes = pixels();
  for (const Shape& shape : shapes)
    for (const Format& format : formats) {
      const port::ImageDescriptor image = describe(shape, format, bytes.data());
      const std::string sample = std::string("sample") + shape.name;
      for (uint32_t mode = 0; mode <= 8; mode += 2)
        for (const uint32_t filter : {port::sampler_filter_nearest, port::sampler_filter_linear}) {
          for (const bool normal : {false, true}) {
            if (!normal && mode >= port::sampler_address_repeat) continue;
            const uint32_t sampler = mode | filter | (normal ? port::sampler_normalized : 0);
            const auto& at = normal ? places.normal : places.between;
            ASSERT_EQ(readBy(one, sample, image, sampler, at),
                      readBy(many, sample, image, sampler, at))
                << sample << " " << std::hex << format.order << " " << format.type << " "
                << sampler;
          }
        }
      for (const uint32_t mode :
           {port::sampler_address_none, port::sampler_address_clamp_to_edge}) {
        const uint32_t sampler = mode | port::sampler_filter_nearest;
        const std::string read = std::string("read") + shape.name;
        ASSERT_EQ(readBy(one, read, image, sampler, places.whole),
                  readBy(many, read, image, sampler, places.whole))
            << read << " " << std::hex << format.order << " " << format.type << " " << sampler;
      }
    }
}

TEST_P(PixelForms, WriteTheSameBits) {
  const Program one = make("never"), many = make("always");
  const Coordinates places;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> near(-1.3f, 1.3f);
  alignas(16) float colours[lanes][4];
  for (auto& colour : colours)
    for (float& component : colour) component = near(random);
  const void *at = places.unlike.at, *values = colours;
  for (const Shape& shape : shapes)
    for (const Format& format : formats) {
      // Where a shape has fewer dimensions, places are written twice, but not by neighbours.
      if (shape.dimensions == 1 && !shape.layered) continue;
      std::vector<uint8_t> results[2];
      for (int i = 0; i < 2; ++i) {
        results[i] = pixels();
        const port::ImageDescriptor image = describe(shape, format, results[i].data());
        (i ? many : one)
            .run(std::string("write") + shape.name, {lanes, 1, 1}, {lanes, 1, 1},
                 {&image, &at, &values});
      }
      ASSERT_NE(results[0], pixels());
      ASSERT_EQ(results[0], results[1]) << shape.name << " " << std::hex << format.order;
    }
}

}  // namespace
}  // namespace weft
