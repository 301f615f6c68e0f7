#include "core/image_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace weft {
namespace {

const ImageFormat& format(cl_channel_order order, cl_channel_type type) {
  const ImageFormat* found = findImageFormat({order, type});
  if (!found) throw std::runtime_error("no such format");
  return *found;
}

template <class T>
std::vector<unsigned> encode(cl_channel_order order, cl_channel_type type,
                             std::array<T, 4> colour) {
  const ImageFormat& f = format(order, type);
  const PixelBytes pixel = encodePixel(f, colour.data());
  std::vector<unsigned> bytes;
  for (size_t i = 0; i < f.pixel_bytes; ++i) bytes.push_back(std::to_integer<unsigned>(pixel[i]));
  return bytes;
}

unsigned encodeHalf(float value) {
  const auto bytes = encode<float>(CL_R, CL_HALF_FLOAT, {value});
  return bytes[0] | bytes[1] << 8;
}

using Bytes = std::vector<unsigned>;

TEST(ImageFormats, EachOnceAndOfASizeThatFillsCanRepeat) {
  std::set<std::pair<cl_channel_order, cl_channel_type>> seen;
  for (const ImageFormat& f : imageFormats()) {
    EXPECT_TRUE(seen.insert({f.order->order, f.type->type}).second);
    EXPECT_GT(f.pixel_bytes, 0);
    if (f.uses != image_use_none) {
      EXPECT_EQ(f.pixel_bytes & (f.pixel_bytes - 1), 0) << f.order->order;
    }
  }
}

TEST(ImageFormats, OnlyTheSpecificationsCombinations) {
  EXPECT_NE(findImageFormat({CL_RGB, CL_UNORM_SHORT_565}), nullptr);
  EXPECT_EQ(findImageFormat({CL_RGB, CL_UNORM_INT8}), nullptr);
  EXPECT_EQ(findImageFormat({CL_RGBA, CL_UNORM_SHORT_565}), nullptr);
  EXPECT_EQ(findImageFormat({CL_BGRA, CL_FLOAT}), nullptr);
  EXPECT_EQ(findImageFormat({CL_LUMINANCE, CL_SIGNED_INT8}), nullptr);
  EXPECT_EQ(findImageFormat({CL_DEPTH, CL_UNORM_INT8}), nullptr);
  EXPECT_EQ(findImageFormat({0, 0}), nullptr);
  EXPECT_EQ(format(CL_RGBA, CL_FLOAT).pixel_bytes, 16);
  EXPECT_EQ(format(CL_RG, CL_UNSIGNED_INT16).pixel_bytes, 4);
  EXPECT_EQ(format(CL_RGB, CL_UNORM_INT_101010).pixel_bytes, 4);
}

TEST(ImageFormats, UsesDependOnTheImage) {
  const ImageFormat& depth = format(CL_DEPTH, CL_FLOAT);
  EXPECT_TRUE(depth.supports(CL_MEM_OBJECT_IMAGE2D, image_use_read));
  EXPECT_TRUE(depth.supports(CL_MEM_OBJECT_IMAGE2D_ARRAY, image_use_write));
  EXPECT_FALSE(depth.supports(CL_MEM_OBJECT_IMAGE3D, image_use_read));
  const ImageFormat& srgb = format(CL_sRGBA, CL_UNORM_INT8);
  EXPECT_TRUE(srgb.supports(CL_MEM_OBJECT_IMAGE1D, imageUses(CL_MEM_READ_ONLY)));
  EXPECT_TRUE(srgb.supports(CL_MEM_OBJECT_IMAGE1D, imageUses(CL_MEM_READ_WRITE)));
  EXPECT_FALSE(srgb.supports(CL_MEM_OBJECT_IMAGE1D, imageUses(CL_MEM_KERNEL_READ_AND_WRITE)));
  EXPECT_TRUE(format(CL_R, CL_FLOAT)
                  .supports(CL_MEM_OBJECT_IMAGE1D, imageUses(CL_MEM_KERNEL_READ_AND_WRITE)));
  EXPECT_FALSE(format(CL_DEPTH_STENCIL, CL_FLOAT)
                   .supports(CL_MEM_OBJECT_IMAGE2D, imageUses(CL_MEM_READ_ONLY)));
}

TEST(EncodePixel, NormalisedRoundsToEvenAndSaturates) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(encode<float>(CL_RGBA, CL_UNORM_INT8, {0.5f, 2.0f, -1.0f, nan}),
            (Bytes{128, 255, 0, 0}));
  EXPECT_EQ(encode<float>(CL_RGBA, CL_UNORM_INT8, {2.5f / 255, 3.5f / 255, 0.0f, 1.0f}),
            (Bytes{2, 4, 0, 255}));
  EXPECT_EQ(encode<float>(CL_RG, CL_UNORM_INT16, {1.0f, 0.25f}), (Bytes{255, 255, 0, 64}));
  EXPECT_EQ(encode<float>(CL_RGBA, CL_SNORM_INT8, {-1.0f, 1.0f, nan, -7.0f}),
            (Bytes{0x81, 0x7f, 0, 0x80}));
  EXPECT_EQ(encode<float>(CL_R, CL_SNORM_INT16, {-1.0f}), (Bytes{0x01, 0x80}));
}

TEST(EncodePixel, IntegersSaturate) {
  EXPECT_EQ(encode<cl_int>(CL_RGBA, CL_SIGNED_INT8, {-129, 128, -1, 5}),
            (Bytes{0x80, 0x7f, 0xff, 5}));
  EXPECT_EQ(encode<cl_int>(CL_RG, CL_SIGNED_INT16, {-40000, 40000}), (Bytes{0, 0x80, 0xff, 0x7f}));
  EXPECT_EQ(encode<cl_uint>(CL_RG, CL_UNSIGNED_INT8, {256, 7}), (Bytes{255, 7}));
  EXPECT_EQ(encode<cl_uint>(CL_R, CL_UNSIGNED_INT16, {1u << 20}), (Bytes{255, 255}));
  EXPECT_EQ(encode<cl_uint>(CL_R, CL_UNSIGNED_INT32, {0xdeadbeef}),
            (Bytes{0xef, 0xbe, 0xad, 0xde}));
}

TEST(EncodePixel, OrdersPlaceComponents) {
  const std::array<cl_uint, 4> colour{1, 2, 3, 4};
  EXPECT_EQ(encode(CL_BGRA, CL_UNSIGNED_INT8, colour), (Bytes{3, 2, 1, 4}));
  EXPECT_EQ(encode(CL_ARGB, CL_UNSIGNED_INT8, colour), (Bytes{4, 1, 2, 3}));
  EXPECT_EQ(encode(CL_ABGR, CL_UNSIGNED_INT8, colour), (Bytes{4, 3, 2, 1}));
  EXPECT_EQ(encode(CL_A, CL_UNSIGNED_INT8, colour), (Bytes{4}));
  EXPECT_EQ(encode(CL_RA, CL_UNSIGNED_INT8, colour), (Bytes{1, 4}));
  EXPECT_EQ(encode(CL_RGx, CL_UNSIGNED_INT8, colour), (Bytes{1, 2}));
}

TEST(EncodePixel, PackedFields) {
  const std::array<float, 4> colour{1.0f, 0.0f, 1.0f, 1.0f};
  EXPECT_EQ(encode(CL_RGB, CL_UNORM_SHORT_565, colour), (Bytes{0x1f, 0xf8}));
  EXPECT_EQ(encode(CL_RGBx, CL_UNORM_SHORT_555, colour), (Bytes{0x1f, 0x7c}));
  EXPECT_EQ(encode(CL_RGB, CL_UNORM_INT_101010, colour), (Bytes{0xff, 0x03, 0xf0, 0x3f}));
  EXPECT_EQ(encode(CL_RGBA, CL_UNORM_INT_101010_2, colour), (Bytes{0xff, 0x0f, 0xc0, 0xff}));
}

TEST(EncodePixel, SrgbLeavesAlphaLinear) {
  EXPECT_EQ(encode<float>(CL_sRGBA, CL_UNORM_INT8, {0.5f, 0.001f, 1.0f, 0.5f}),
            (Bytes{188, 3, 255, 128}));
  EXPECT_EQ(encode<float>(CL_sBGRA, CL_UNORM_INT8, {0.5f, 0.0f, 1.0f, 1.0f}),
            (Bytes{255, 0, 188, 255}));
}

TEST(EncodePixel, Halves) {
  EXPECT_EQ(encodeHalf(1.0f), 0x3c00u);
  EXPECT_EQ(encodeHalf(-2.0f), 0xc000u);
  EXPECT_EQ(encodeHalf(65504.0f), 0x7bffu);
  EXPECT_EQ(encodeHalf(65519.0f), 0x7bffu);
  EXPECT_EQ(encodeHalf(65520.0f), 0x7c00u);
  EXPECT_EQ(encodeHalf(std::numeric_limits<float>::infinity()), 0x7c00u);
  EXPECT_GT(encodeHalf(std::numeric_limits<float>::quiet_NaN()) & 0x7fffu, 0x7c00u);
  EXPECT_EQ(encodeHalf(std::ldexp(1.0f, -24)), 1u);
  EXPECT_EQ(encodeHalf(std::ldexp(1.0f, -25)), 0u);  // a tie, to even
  EXPECT_EQ(encodeHalf(std::ldexp(3.0f, -25)), 2u);
  EXPECT_EQ(encodeHalf(1.0f + std::ldexp(1.0f, -11)), 0x3c00u);
  EXPECT_EQ(encodeHalf(1.0f + std::ldexp(3.0f, -11)), 0x3c02u);
}

TEST(EncodePixel, DepthIsOneNumber) {
  const float colour = 0.25f;  // no array: nothing beyond it may be read
  const PixelBytes pixel = encodePixel(format(CL_DEPTH, CL_FLOAT), &colour);
  float stored = 0;
  std::memcpy(&stored, pixel.data(), sizeof stored);
  EXPECT_EQ(stored, colour);
}

}  // namespace
}  // namespace weft
