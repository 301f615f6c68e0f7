// How kernels read textures (compiler/gpu/textures.h), as NVIDIA's GPUs were seen to: channels that
// a pixel does not have are zeros, whatever the border, and integer coordinates outside give zeros,
// whatever the addressing.
#include "tests/software_gpu/texture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace weft::software {
namespace {

using hip::AddressMode;
using hip::ArrayFormat;
using hip::TextureSampling;

template <class T>
T read(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

int32_t integerOf(const std::byte* bytes, ArrayFormat format) {
  switch (format) {
    case ArrayFormat::unsigned_int8:
      return read<uint8_t>(bytes);
    case ArrayFormat::unsigned_int16:
      return read<uint16_t>(bytes);
    case ArrayFormat::signed_int8:
      return read<int8_t>(bytes);
    case ArrayFormat::signed_int16:
      return read<int16_t>(bytes);
    default:
      return read<int32_t>(bytes);
  }
}

float numberOf(const std::byte* bytes, ArrayFormat format) {
  const auto parts = [&](float most) {
    return std::max(-1.0f, static_cast<float>(integerOf(bytes, format)) / most);
  };
  switch (format) {
    case ArrayFormat::unsigned_int8:
      return parts(255);
    case ArrayFormat::unsigned_int16:
      return parts(65535);
    case ArrayFormat::signed_int8:
      return parts(127);
    case ArrayFormat::signed_int16:
      return parts(32767);
    case ArrayFormat::half:
      return static_cast<float>(read<_Float16>(bytes));
    default:
      return read<float>(bytes);
  }
}

const Texture& of(uint64_t handle) { return *reinterpret_cast<const Texture*>(handle); }

// Where a texel lies; nullptr outside.
const std::byte* texelAt(const Texture& texture, int64_t x, int64_t y) {
  const auto& is = texture.resource;
  if (x < 0 || y < 0 || x >= static_cast<int64_t>(is.width) || y >= static_cast<int64_t>(is.height))
    return nullptr;
  const size_t pixel = is.channels * channelBytes(is.format);
  return static_cast<const std::byte*>(is.address) + static_cast<size_t>(y) * is.pitch +
         static_cast<size_t>(x) * pixel;
}

template <class T, class Convert>
void decode(const Texture& texture, const std::byte* texel, T* colour, const Convert& convert) {
  const auto& is = texture.resource;
  for (unsigned i = 0; i < is.channels; ++i)
    colour[i] = convert(texel + i * channelBytes(is.format), is.format);
}

// The two texels around a coordinate, and how much of the second.
struct Axis {
  std::array<int64_t, 2> texels;
  float part;
};
Axis around(float s, size_t size, AddressMode mode, bool normalized) {
  const auto width = static_cast<float>(size);
  const auto last = static_cast<int64_t>(size) - 1;
  if (mode == AddressMode::wrap) s -= std::floor(s);
  if (mode == AddressMode::mirror) s = std::abs(s - 2 * std::rint(0.5f * s));
  const float u = std::clamp((normalized ? s * width : s) - 0.5f, -2.0f, width + 1);
  const float below = std::floor(u);
  Axis axis{{static_cast<int64_t>(below), static_cast<int64_t>(below) + 1}, u - below};
  for (int64_t& texel : axis.texels) {
    if (mode == AddressMode::wrap) texel = texel < 0 ? last : texel > last ? 0 : texel;
    if (mode != AddressMode::border) texel = std::clamp<int64_t>(texel, 0, last);
  }
  return axis;
}

void filter(const Texture& texture, float x, float y, float* colour) {
  const auto& [is, by] = texture;
  const bool normalized = (by.flags & TextureSampling::normalized) != 0;
  const Axis across = around(x, is.width, by.modes[0], normalized),
             down = around(y, is.height, by.modes[1], normalized);
  for (size_t corner = 0; corner < 4; ++corner) {
    const size_t i = corner & 1, j = corner >> 1;
    std::array<float, 4> one{};
    if (const std::byte* texel = texelAt(texture, across.texels[i], down.texels[j]))
      decode(texture, texel, one.data(), numberOf);
    else
      std::copy_n(by.border, is.channels, one.begin());
    const float weight = (i ? across.part : 1 - across.part) * (j ? down.part : 1 - down.part);
    for (size_t c = 0; c < one.size(); ++c) colour[c] += weight * one[c];
  }
}

template <class T, class Convert>
void fetch(T* colour, uint64_t handle, int32_t x, int32_t y, const Convert& convert) {
  std::fill_n(colour, 4, T{});
  const std::byte* const texel = texelAt(of(handle), x, y);
  if (texel) decode(of(handle), texel, colour, convert);
}

}  // namespace
}  // namespace weft::software

#define WEFT_SIMT extern "C" [[gnu::visibility("default")]]

WEFT_SIMT void weft_simt_texture_filtered(float* colour, uint64_t texture, float x, float y) {
  std::fill_n(colour, 4, 0.0f);
  weft::software::filter(weft::software::of(texture), x, y, colour);
}
WEFT_SIMT void weft_simt_texture_texel(float* colour, uint64_t texture, int32_t x, int32_t y) {
  weft::software::fetch(colour, texture, x, y, weft::software::numberOf);
}
WEFT_SIMT void weft_simt_texture_signed_texel(int32_t* colour, uint64_t texture, int32_t x,
                                              int32_t y) {
  weft::software::fetch(colour, texture, x, y, weft::software::integerOf);
}
WEFT_SIMT void weft_simt_texture_unsigned_texel(int32_t* colour, uint64_t texture, int32_t x,
                                                int32_t y) {
  weft::software::fetch(colour, texture, x, y, weft::software::integerOf);
}
