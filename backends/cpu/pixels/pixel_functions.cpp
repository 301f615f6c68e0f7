#include "backends/cpu/pixels/pixel_functions.h"

#include <cstring>

#include <CL/cl.h>

#include "backends/cpu/pixels/forms.h"
#include "backends/cpu/pixels/layout.h"

namespace weft::cpu {
namespace {

struct Tables {
  Tables() {
    enterPlainForms(of);
    if (__builtin_cpu_supports("sse4.1")) enterSse41Forms(of);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) enterAvx2Forms(of);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      enterAvx512Forms(of);
  }
  port::PixelFunctions of[layout_count];
};

struct Row {
  cl_channel_type type;
  Channel channel;
};
constexpr Row rows[] = {
    {CL_UNORM_INT8, Channel::unorm8},
    {CL_UNORM_INT16, Channel::unorm16},
    {CL_SNORM_INT8, Channel::snorm8},
    {CL_SNORM_INT16, Channel::snorm16},
    {CL_UNSIGNED_INT8, Channel::uint8},
    {CL_UNSIGNED_INT16, Channel::uint16},
    {CL_UNSIGNED_INT32, Channel::integer},
    {CL_SIGNED_INT8, Channel::sint8},
    {CL_SIGNED_INT16, Channel::sint16},
    {CL_SIGNED_INT32, Channel::integer},
    {CL_HALF_FLOAT, Channel::half},
    {CL_FLOAT, Channel::single},
    {CL_UNORM_SHORT_565, Channel::rgb_565},
    {CL_UNORM_SHORT_555, Channel::rgb_555},
    {CL_UNORM_INT_101010, Channel::rgb_101010},
    {CL_UNORM_INT_101010_2, Channel::rgba_1010102},
};

Channel channelOf(const port::ImageDescriptor& image) {
  if (image.channel_order == CL_sRGBA || image.channel_order == CL_sBGRA) return Channel::srgb8;
  for (const Row& row : rows)
    if (row.type == image.channel_type) return row.channel;
  return Channel::unorm8;
}

}  // namespace

const port::PixelFunctions* pixelFunctions(const port::ImageDescriptor& image) {
  static const Tables tables;
  const Channel channel = channelOf(image);
  for (size_t i = 0; i < layout_count; ++i)
    if (layouts[i].channel == channel && layouts[i].bytes() == image.pixel_bytes)
      return &tables.of[i];
  return nullptr;
}

port::CpuImage imageAt(const void* descriptor, uint64_t address) {
  port::CpuImage image;
  std::memcpy(static_cast<port::ImageDescriptor*>(&image), descriptor,
              sizeof(port::ImageDescriptor));
  image.address = address;
  image.functions = pixelFunctions(image);
  return image;
}

}  // namespace weft::cpu
