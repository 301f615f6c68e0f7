// Colours in the bits of an image format. Specification 8.3 (conversion rules).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/image_format.h"

namespace weft {
namespace {

// To the nearest, ties to even, as the conversions of images ask for.
uint32_t roundUnorm(float value, unsigned bits) {
  const auto top = static_cast<float>((1u << bits) - 1);
  if (!(value > 0.0f)) return 0;  // not a number, too
  return static_cast<uint32_t>(std::nearbyint(std::min(value, 1.0f) * top));
}

uint32_t roundSnorm(float value, unsigned bits) {
  const auto top = static_cast<float>((1u << (bits - 1)) - 1);
  if (std::isnan(value)) return 0;
  // Saturation knows the value below -1 that two's complement has.
  return static_cast<uint32_t>(
      static_cast<int32_t>(std::nearbyint(std::clamp(value * top, -top - 1.0f, top))));
}

// Round to nearest even, with subnormal numbers.
uint32_t toHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u | (magnitude >> 13 & 0x1ffu);
  constexpr uint32_t overflow = 0x477ff000u;  // 65520: rounds to infinity
  if (magnitude >= overflow) return sign | 0x7c00u;
  constexpr uint32_t least_normal = 0x38800000u;  // 2^-14
  if (magnitude < least_normal) {
    // Adding 0.5 leaves the number in units of 2^-24, rounded, at the bottom of the sum.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | (std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(0.5f));
  }
  const uint32_t odd = magnitude >> 13 & 1;
  return sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}

// Linear to sRGB (specification 8.3.1.4).
float toSrgb(float linear) {
  if (!(linear > 0.0f)) return 0.0f;
  if (linear >= 1.0f) return 1.0f;
  if (linear < 0.0031308f) return 12.92f * linear;
  return static_cast<float>(1.055 * std::pow(double{linear}, 1.0 / 2.4) - 0.055);
}

int32_t saturate(int32_t value, unsigned bytes) {
  if (bytes == 4) return value;
  const int32_t top = (1 << (bytes * 8 - 1)) - 1;
  return std::clamp(value, -top - 1, top);
}

uint32_t saturate(uint32_t value, unsigned bytes) {
  return bytes == 4 ? value : std::min(value, (1u << (bytes * 8)) - 1);
}

// The component, whose bits are `raw`, as a channel of the type.
uint32_t encodeChannel(const ChannelType& type, uint32_t raw, bool srgb) {
  const auto value = std::bit_cast<float>(raw);
  switch (type.kind) {
    case ChannelClass::unorm:
      return roundUnorm(srgb ? toSrgb(value) : value, type.bytes * 8);
    case ChannelClass::snorm:
      return roundSnorm(value, type.bytes * 8);
    case ChannelClass::signed_int:
      return static_cast<uint32_t>(saturate(static_cast<int32_t>(raw), type.bytes));
    case ChannelClass::unsigned_int:
      return saturate(raw, type.bytes);
    case ChannelClass::half:
      return toHalf(value);
    case ChannelClass::single:
      break;
  }
  return raw;
}

}  // namespace

PixelBytes encodePixel(const ImageFormat& format, const void* colour) {
  const ChannelType& type = *format.type;
  const ChannelOrder& order = *format.order;
  uint32_t raw[4] = {};
  std::memcpy(raw, colour, order.order == CL_DEPTH ? sizeof(float) : sizeof raw);
  PixelBytes pixel{};
  uint32_t word = 0;
  for (size_t channel = 0; channel < order.channels; ++channel) {
    const size_t component = order.components[channel];
    if (type.packed()) {
      const PackedField field = type.fields[channel];
      word |= roundUnorm(std::bit_cast<float>(raw[component]), field.bits) << field.shift;
    } else {
      const uint32_t bits = encodeChannel(type, raw[component], order.srgb && component != 3);
      std::memcpy(pixel.data() + channel * type.bytes, &bits, type.bytes);  // little-endian
    }
  }
  if (type.packed()) std::memcpy(pixel.data(), &word, type.bytes);
  return pixel;
}

}  // namespace weft
