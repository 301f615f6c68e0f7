// The pipeline as data: the planes it works on and the stages that turn one into the next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::tools::demo {

inline constexpr int blur_radius = 6;
inline constexpr int blur_tile = 16;
inline constexpr int bin_count = 256;

// A Gaussian with a sigma of 2.2 pixels, normalised.
inline constexpr std::array<float, 2 * blur_radius + 1> blur_weights = {
    0.004412f, 0.013744f, 0.034826f, 0.071772f, 0.120304f, 0.164012f, 0.181860f,
    0.164012f, 0.120304f, 0.071772f, 0.034826f, 0.013744f, 0.004412f};

enum class Plane : uint8_t {
  rgba,
  luma,
  blue,
  red,
  weights,
  smooth,
  bins,
  levels,
  sharp,
  level,
  edge,
  result,
};
inline constexpr size_t plane_count = 12;

// Bytes of a plane for a picture of that many pixels.
size_t planeBytes(Plane plane, size_t pixels);

enum class Range : uint8_t { pixels, tiles, strided, one_group };

struct Stage {
  const char* name;  // also the kernel's
  Range range;
  std::span<const Plane> reads;   // the kernel's first arguments
  std::span<const Plane> writes;  // then these; width and height follow
  int tolerance;                  // largest difference from the reference, 0 for integer stages
};

std::span<const Stage> stages();

}  // namespace weft::tools::demo
