// OpenCL C 6.15.15: image builtins on descriptors made by hand, against a plain reference.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include <CL/cl.h>

#include "tests/compiler/images.h"

namespace weft {
namespace {

using test::ImagesTest;
using test::Program;
using Sampler = uint32_t;

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

struct Order {
  cl_channel_order order;
  const char* letters;  // of the channels in memory: r, g, b, a, or l and i
  bool srgb = false;
};
constexpr Order orders[] = {{CL_R, "r"},
                            {CL_A, "a"},
                            {CL_RG, "rg"},
                            {CL_RA, "ra"},
                            {CL_RGB, "rgb"},
                            {CL_RGBA, "rgba"},
                            {CL_BGRA, "bgra"},
                            {CL_ARGB, "argb"},
                            {CL_ABGR, "abgr"},
                            {CL_INTENSITY, "i"},
                            {CL_LUMINANCE, "l"},
                            {CL_sRGB, "rgb", true},
                            {CL_DEPTH, "r"},
                            {CL_sRGBA, "rgba", true},
                            {CL_sBGRA, "bgra", true}};

enum class Kind { unorm, snorm, half, single, integer, natural };
struct Type {
  cl_channel_type type;
  Kind kind;
  int bits;
};
constexpr Type types[] = {
    {CL_UNORM_INT8, Kind::unorm, 8},        {CL_UNORM_INT16, Kind::unorm, 16},
    {CL_SNORM_INT8, Kind::snorm, 8},        {CL_SNORM_INT16, Kind::snorm, 16},
    {CL_HALF_FLOAT, Kind::half, 16},        {CL_FLOAT, Kind::single, 32},
    {CL_SIGNED_INT8, Kind::integer, 8},     {CL_SIGNED_INT16, Kind::integer, 16},
    {CL_SIGNED_INT32, Kind::integer, 32},   {CL_UNSIGNED_INT8, Kind::natural, 8},
    {CL_UNSIGNED_INT16, Kind::natural, 16}, {CL_UNSIGNED_INT32, Kind::natural, 32}};

float fromHalf(uint32_t h) {
  const int exponent = h >> 10 & 31;
  const auto fraction = static_cast<float>(h & 1023);
  const float magnitude =
      exponent ? std::ldexp(1024.0f + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return h & 0x8000 ? -magnitude : magnitude;
}

// Rounds to nearest even.
uint32_t toHalf(float x) {
  uint32_t low = 0, high = 0x7bff;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (fromHalf(middle) <= std::abs(x) ? low : high) = middle;
  }
  const float down = std::abs(x) - fromHalf(low), up = fromHalf(high) - std::abs(x);
  const uint32_t magnitude = down < up || (down == up && low % 2 == 0) ? low : high;
  return magnitude | (std::signbit(x) ? 0x8000u : 0u);
}

float largest(const Type& type) {
  return std::ldexp(1.0f, type.kind == Kind::snorm ? type.bits - 1 : type.bits) - 1.0f;
}
int64_t extend(uint32_t raw, int bits) {
  return raw >> (bits - 1) & 1 ? static_cast<int64_t>(raw) - (int64_t{1} << bits) : raw;
}

float decode(const Type& type, uint32_t raw) {
  switch (type.kind) {
    case Kind::unorm:
      return static_cast<float>(raw) / largest(type);
    case Kind::snorm:
      return std::max(static_cast<float>(extend(raw, type.bits)) / largest(type), -1.0f);
    case Kind::half:
      return fromHalf(raw);
    default:
      return std::bit_cast<float>(raw);
  }
}

uint32_t encode(const Type& type, float x) {
  if (type.kind == Kind::half) return toHalf(x);
  if (type.kind == Kind::single) return std::bit_cast<uint32_t>(x);
  if (std::isnan(x)) return 0;
  const float low = type.kind == Kind::snorm ? -1.0f - largest(type) : 0.0f;
  const auto value =
      static_cast<int64_t>(std::nearbyint(std::clamp(x * largest(type), low, largest(type))));
  return static_cast<uint32_t>(value) & static_cast<uint32_t>((int64_t{1} << type.bits) - 1);
}

double fromSrgb(double x) { return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4); }

// Which of a colour's components a channel holds.
int componentOf(char letter) {
  return static_cast<int>(std::string("rgba").find(letter == 'i' || letter == 'l' ? 'r' : letter));
}

struct Pixels {
  static constexpr int count = 64;
  Pixels(const Order& order, const Type& type)
      : channels(static_cast<int>(std::strlen(order.letters))),
        channel_bytes(type.bits / 8),
        bytes(static_cast<size_t>(count * channels * channel_bytes) + 16, 0xa5),
        image{reinterpret_cast<uint64_t>(bytes.data()),
              pixelBytes() * count,
              pixelBytes() * count,
              count,
              1,
              1,
              1,
              CL_MEM_OBJECT_IMAGE2D,
              order.order,
              type.type,
              static_cast<uint16_t>(pixelBytes())} {}

  uint64_t pixelBytes() const { return static_cast<uint64_t>(channels) * channel_bytes; }
  uint32_t raw(int pixel, int channel) const {
    uint32_t value = 0;
    std::memcpy(&value, &bytes[static_cast<size_t>((pixel * channels + channel) * channel_bytes)],
                static_cast<size_t>(channel_bytes));
    return value;
  }
  // Nothing behind the last pixel was written.
  bool fenced() const {
    return std::all_of(bytes.end() - 16, bytes.end(), [](uint8_t byte) { return byte == 0xa5; });
  }

  int channels, channel_bytes;
  std::vector<uint8_t> bytes;
  port::ImageDescriptor image;
};

constexpr const char* access_source =
    "#define ACCESS(s, T) \\\n"
    "  kernel void read##s(read_only image2d_t image, global T* out) { \\\n"
    "    int x = get_global_id(0); out[x] = read_image##s(image, (int2)(x, 0)); } \\\n"
    "  kernel void write##s(write_only image2d_t image, global T* in) { \\\n"
    "    int x = get_global_id(0); write_image##s(image, (int2)(x, 0), in[x]); }\n"
    "ACCESS(f, float4) ACCESS(i, int4) ACCESS(ui, uint4)\n";

const char* suffixOf(const Type& type) {
  return type.kind == Kind::integer ? "i" : type.kind == Kind::natural ? "ui" : "f";
}

void checkRead(const Program& program, const Order& order, const Type& type, uint64_t local,
               std::mt19937& random) {
  Pixels pixels(order, type);
  for (int i = 0; i < Pixels::count * pixels.channels; ++i) {
    // Infinities and NaN have their own ways; 5 bits of a half's exponent are enough.
    auto raw = static_cast<uint32_t>(random());
    if (type.kind == Kind::half) raw &= 0xbbff;
    if (type.kind == Kind::single) raw &= 0xbf7fffff;
    std::memcpy(&pixels.bytes[static_cast<size_t>(i * pixels.channel_bytes)], &raw,
                static_cast<size_t>(pixels.channel_bytes));
  }
  alignas(16) uint32_t out[Pixels::count][4];
  const void* pointer = out;
  program.run(std::string("read") + suffixOf(type), {Pixels::count, 1, 1}, {local, 1, 1},
              {&pixels.image, &pointer});
  const bool real = *suffixOf(type) == 'f';
  for (int p = 0; p < Pixels::count; ++p) {
    uint32_t expected[4] = {0, 0, 0, real ? std::bit_cast<uint32_t>(1.0f) : 1};
    for (int c = 0; c < pixels.channels; ++c) {
      const char letter = order.letters[c];
      const uint32_t raw = pixels.raw(p, c);
      float value = real ? decode(type, raw) : 0.0f;
      if (order.srgb && letter != 'a') value = static_cast<float>(fromSrgb(value));
      const uint32_t result =
          real ? std::bit_cast<uint32_t>(value)
               : static_cast<uint32_t>(type.kind == Kind::integer ? extend(raw, type.bits) : raw);
      expected[componentOf(letter)] = result;
      if (letter == 'i' || letter == 'l') expected[1] = expected[2] = result;
      if (letter == 'i') expected[3] = result;
    }
    for (int c = 0; c < 4; ++c) {
      if (order.srgb)
        ASSERT_NEAR(std::bit_cast<float>(out[p][c]), std::bit_cast<float>(expected[c]), 1e-6f);
      else
        ASSERT_EQ(out[p][c], expected[c])
            << std::hex << order.order << " " << type.type << " " << c;
    }
  }
}

void checkWrite(const Program& program, const Order& order, const Type& type, uint64_t local,
                std::mt19937& random) {
  Pixels pixels(order, type);
  constexpr float some[] = {-3e9f, -2.0f, -1.0f, -0.5f, -0.1f, 0.0f, 0.5f, 1.0f, 1.5f, 3e9f, NAN};
  alignas(16) uint32_t in[Pixels::count][4];
  const bool real = *suffixOf(type) == 'f';
  std::uniform_real_distribution<float> near(-1.2f, 1.2f);
  for (auto& colour : in)
    for (uint32_t& component : colour) {
      const auto choice = random() % 30;
      component = real ? std::bit_cast<uint32_t>(type.kind != Kind::half && choice < std::size(some)
                                                     ? some[choice]
                                                     : near(random))
                       : static_cast<uint32_t>(random()) >> random() % 32;
    }
  const void* pointer = in;
  program.run(std::string("write") + suffixOf(type), {Pixels::count, 1, 1}, {local, 1, 1},
              {&pixels.image, &pointer});
  ASSERT_TRUE(pixels.fenced());
  const int64_t top = (int64_t{1} << (type.kind == Kind::integer ? type.bits - 1 : type.bits)) - 1;
  for (int p = 0; p < Pixels::count; ++p)
    for (int c = 0; c < pixels.channels; ++c) {
      const uint32_t given = in[p][componentOf(order.letters[c])];
      const int64_t value = type.kind == Kind::integer
                                ? std::clamp<int64_t>(static_cast<int32_t>(given), -top - 1, top)
                                : std::min<int64_t>(given, top);
      const uint32_t raw = pixels.raw(p, c);
      if (order.srgb && order.letters[c] != 'a') {
        const double x = std::bit_cast<float>(given);
        const double linear = x > 0.0 ? std::min(x, 1.0) : 0.0;
        ASSERT_GE(linear, raw == 0 ? 0.0 : fromSrgb((raw - 0.6) / 255.0)) << x;
        ASSERT_LE(linear, raw == 255 ? 1.0 : fromSrgb((raw + 0.6) / 255.0)) << x;
      } else {
        ASSERT_EQ(raw, real ? encode(type, std::bit_cast<float>(given))
                            : static_cast<uint32_t>(value) &
                                  static_cast<uint32_t>((uint64_t{1} << type.bits) - 1))
            << std::hex << order.order << " " << type.type << " " << given;
      }
    }
}

class Formats : public ImagesTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Processors, Formats, testing::ValuesIn(test::processors()),
                         [](const auto& info) { return std::to_string(info.index); });

TEST_P(Formats, AreReadAndWritten) {
  const Program program = load(access_source, "-cl-std=CL3.0", GetParam());
  std::mt19937 random(1);
  for (const Order& order : orders)
    for (const Type& type : types) {
      if (order.srgb && type.type != CL_UNORM_INT8) continue;
      if (!cpu::pixelFunctions(Pixels(order, type).image)) continue;  // no device offers it
      for (const uint64_t local : {8, 64}) {
        checkRead(program, order, type, local, random);
        checkWrite(program, order, type, local, random);
      }
      if (HasFatalFailure()) return;
    }
}

struct Packed {
  cl_channel_order order;
  cl_channel_type type;
  int shifts[4], bits[4];  // of r, g, b, a; no bits: not there
  uint32_t bytes;
};
constexpr Packed packed_formats[] = {
    {CL_RGB, CL_UNORM_SHORT_565, {11, 5, 0, 0}, {5, 6, 5, 0}, 2},
    {CL_RGBx, CL_UNORM_SHORT_555, {10, 5, 0, 0}, {5, 5, 5, 0}, 2},
    {CL_RGB, CL_UNORM_INT_101010, {20, 10, 0, 0}, {10, 10, 10, 0}, 4},
    {CL_RGBA, CL_UNORM_INT_101010_2, {22, 12, 2, 0}, {10, 10, 10, 2}, 4}};

TEST_F(ImagesTest, PackedFormats) {
  const Program program = load(access_source);
  for (const Packed& format : packed_formats) {
    alignas(16) float colours[2][4] = {{0.2f, 0.5f, 1.0f, 0.4f}, {-1.0f, 2.0f, 0.33f, 1.0f}};
    uint32_t pixels[2] = {0, 0};
    const port::ImageDescriptor image{reinterpret_cast<uint64_t>(pixels),
                                      2 * format.bytes,
                                      8,
                                      2,
                                      1,
                                      1,
                                      1,
                                      CL_MEM_OBJECT_IMAGE2D,
                                      format.order,
                                      format.type,
                                      static_cast<uint16_t>(format.bytes)};
    const void* pointer = colours;
    program.run("writef", {2, 1, 1}, {1, 1, 1}, {&image, &pointer});
    float expected[2][4];
    for (int p = 0; p < 2; ++p) {
      uint32_t word = 0, actual = 0;
      for (int c = 0; c < 4; ++c) {
        const auto most = static_cast<float>((1 << format.bits[c]) - 1);
        const float steps = std::nearbyint(std::clamp(colours[p][c] * most, 0.0f, most));
        word |= static_cast<uint32_t>(steps) << format.shifts[c];
        expected[p][c] = format.bits[c] ? steps / most : 1.0f;
      }
      std::memcpy(&actual, reinterpret_cast<char*>(pixels) + static_cast<size_t>(p) * format.bytes,
                  format.bytes);
      EXPECT_EQ(actual, word) << std::hex << format.type;
    }
    program.run("readf", {2, 1, 1}, {1, 1, 1}, {&image, &pointer});
    for (int p = 0; p < 2; ++p)
      for (int c = 0; c < 4; ++c)
        EXPECT_EQ(colours[p][c], expected[p][c]) << std::hex << format.type;
  }
}

}  // namespace
}  // namespace weft
