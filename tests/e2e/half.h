// Half on the host: values from bits, and the rounding of a number in every mode, by search among
// all the halves there are.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::e2e {

enum class Mode : uint8_t { nearest, zero, up, down };

inline constexpr uint16_t half_infinity = 0x7c00;

inline double computeHalf(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) value = fraction ? std::numeric_limits<double>::quiet_NaN() : INFINITY;
  return bits & 0x8000 ? -value : value;
}

inline double halfValue(uint16_t bits) {
  static const std::vector<double> values = [] {
    std::vector<double> all(65536);
    for (size_t i = 0; i < all.size(); ++i) all[i] = computeHalf(static_cast<uint16_t>(i));
    return all;
  }();
  return values[bits];
}

inline uint16_t toHalf(double x, Mode mode = Mode::nearest) {
  if (std::isnan(x)) return 0x7e00;
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double size = std::fabs(x);
  // The greatest half that is not above: halves without a sign are in the order of their bits.
  uint16_t below = 0;
  for (uint16_t step = 0x4000; step; step >>= 1)
    if (below + step <= half_infinity && halfValue(static_cast<uint16_t>(below + step)) <= size)
      below = static_cast<uint16_t>(below + step);
  if (below == half_infinity || halfValue(below) == size) return sign | below;
  const bool outwards = (mode == Mode::up && !sign) || (mode == Mode::down && sign);
  bool away = outwards;
  if (mode == Mode::nearest) {
    // What would follow the greatest half counts as its neighbour.
    const double next = below + 1 == half_infinity ? 65536 : halfValue(uint16_t(below + 1));
    const double low = size - halfValue(below), high = next - size;
    away = high < low || (high == low && below % 2);
  }
  return static_cast<uint16_t>(sign | (below + away));
}

inline bool sameHalf(uint16_t a, uint16_t b) {
  return a == b || (std::isnan(halfValue(a)) && std::isnan(halfValue(b)));
}

}  // namespace weft::e2e
