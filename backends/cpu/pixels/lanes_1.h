// One lane: what lanes_4.h, lanes_8.h and lanes_16.h have as vectors, as numbers.
#pragma once

#include <cstring>

#include "backends/cpu/pixels/layout.h"

namespace weft::cpu {
namespace {

struct Lanes1 {
  using U = uint32_t;
  using I = int32_t;
  using F = float;
  static constexpr unsigned count = 1, form = 0;
  static constexpr uint32_t all = 1;

  static uint32_t less(U a, U b) { return a < b; }
  static U choose(uint32_t lanes, U a, U b) { return lanes & 1 ? a : b; }
  static F greater(F a, F b) { return a > b ? a : b; }
  static F lesser(F a, F b) { return a < b ? a : b; }
  static F floor(F x) { return __builtin_floorf(x); }
  static F nearest(F x) { return __builtin_rintf(x); }
  static F toFloat(I x) { return static_cast<float>(x); }
  static I toInteger(F x) { return static_cast<int32_t>(x); }
  static F fromHalf(U x) {
    const auto bits = static_cast<uint16_t>(x);
    return static_cast<float>(__builtin_bit_cast(_Float16, bits));
  }
  static U toHalf(F x) { return __builtin_bit_cast(uint16_t, static_cast<_Float16>(x)); }
  static U lookUp(const float* table, U index) {
    return __builtin_bit_cast(uint32_t, table[index]);
  }
};

}  // namespace
}  // namespace weft::cpu
