// How the channels of a pixel lie in its bytes, apart from the order of colours. Like all headers
// of this folder it is compiled for several kinds of processors: nothing in it is seen outside of
// the file that includes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/ports/pixels.h"

namespace weft::cpu {
namespace {

using port::CpuImage;

// Calls f with the numbers below `count`, known where it is compiled.
template <unsigned count, class F>
[[gnu::always_inline]] inline void forEach(F&& f) {
  [&]<unsigned... i>(std::integer_sequence<unsigned, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<unsigned, i>()), ...);
  }(std::make_integer_sequence<unsigned, count>());
}

enum class Channel : uint8_t {
  unorm8,
  snorm8,
  uint8,
  sint8,
  unorm16,
  snorm16,
  uint16,
  sint16,
  half,
  single,
  integer,  // of 32 bits
  rgb_565,
  rgb_555,
  rgb_101010,
  rgba_1010102,
  srgb8,
};

struct Layout {
  Channel channel;
  uint8_t count;  // of channels

  constexpr bool packed() const {
    return channel >= Channel::rgb_565 && channel <= Channel::rgba_1010102;
  }
  constexpr unsigned channelBytes() const {
    if (channel == Channel::srgb8 || channel <= Channel::sint8) return 1;
    if (channel <= Channel::half || channel == Channel::rgb_565 || channel == Channel::rgb_555)
      return 2;
    return 4;
  }
  constexpr unsigned bytes() const { return packed() ? channelBytes() : channelBytes() * count; }
  constexpr unsigned words() const { return bytes() < 4 ? 1 : bytes() / 4; }
  constexpr bool isInteger() const {
    return channel == Channel::integer || channel == Channel::uint8 || channel == Channel::sint8 ||
           channel == Channel::uint16 || channel == Channel::sint16;
  }
  // What stands for a whole colour.
  constexpr uint32_t one() const { return isInteger() ? 1 : 0x3f800000; }
};

constexpr Layout layouts[] = {
    {Channel::unorm8, 1},  {Channel::unorm8, 2},       {Channel::unorm8, 4},
    {Channel::snorm8, 1},  {Channel::snorm8, 2},       {Channel::snorm8, 4},
    {Channel::uint8, 1},   {Channel::uint8, 2},        {Channel::uint8, 4},
    {Channel::sint8, 1},   {Channel::sint8, 2},        {Channel::sint8, 4},
    {Channel::unorm16, 1}, {Channel::unorm16, 2},      {Channel::unorm16, 4},
    {Channel::snorm16, 1}, {Channel::snorm16, 2},      {Channel::snorm16, 4},
    {Channel::uint16, 1},  {Channel::uint16, 2},       {Channel::uint16, 4},
    {Channel::sint16, 1},  {Channel::sint16, 2},       {Channel::sint16, 4},
    {Channel::half, 1},    {Channel::half, 2},         {Channel::half, 4},
    {Channel::single, 1},  {Channel::single, 2},       {Channel::single, 4},
    {Channel::integer, 1}, {Channel::integer, 2},      {Channel::integer, 4},
    {Channel::rgb_565, 3}, {Channel::rgb_555, 3},      {Channel::rgb_101010, 3},
    {Channel::srgb8, 4},   {Channel::rgba_1010102, 4},
};
constexpr size_t layout_count = sizeof layouts / sizeof layouts[0];

}  // namespace
}  // namespace weft::cpu
