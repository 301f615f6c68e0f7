// What vectors of lanes have in common, whatever their width.
#pragma once

#include <emmintrin.h>

#include <utility>

#include "backends/cpu/pixels/lanes_1.h"

namespace weft::cpu {
namespace {

template <class Types>
struct VectorLanes {
  using U = typename Types::U;
  using I = typename Types::I;
  using F = typename Types::F;
  using Halves = typename Types::Halves;
  using Bytes = typename Types::Bytes;
  static constexpr unsigned N = sizeof(Bytes), count = N;
  static constexpr bool stores_parts = false;  // of rows, by masks
  static constexpr uint32_t all = (1u << N) - 1;

  static I splat(int32_t x) { return I{} + x; }
  static I iota() { return iota(std::make_integer_sequence<int32_t, N>()); }
  static F toFloat(I x) { return __builtin_convertvector(x, F); }
  static I toInteger(F x) { return __builtin_convertvector(x, I); }

  static __m128i load16(const uint8_t* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  }
  template <class Vector>
  static Vector load(const void* from) {
    Vector result;
    __builtin_memcpy(&result, from, sizeof result);
    return result;
  }
  static U widen(Bytes x) { return __builtin_convertvector(x, U); }
  static U widen(Halves x) { return __builtin_convertvector(x, U); }

  // Every other element of two vectors, and back.
  static U even(U a, U b) { return every(a, b, 0, std::make_integer_sequence<int, N>()); }
  static U odd(U a, U b) { return everyOdd(a, b, std::make_integer_sequence<int, N>()); }
  static U mixLow(U a, U b) { return mixLow(a, b, std::make_integer_sequence<int, N>()); }
  static U mixHigh(U a, U b) { return mixHigh(a, b, std::make_integer_sequence<int, N>()); }

 private:
  template <int32_t... i>
  static I iota(std::integer_sequence<int32_t, i...>) {
    return I{i...};
  }
  template <int... i>
  static U every(U a, U b, int, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, (2 * i)...);
  }
  template <int... i>
  static U everyOdd(U a, U b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, (2 * i + 1)...);
  }
  template <int... i>
  static U mixLow(U a, U b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, (i / 2 + (i % 2 ? int{N} : 0))...);
  }
  template <int... i>
  static U mixHigh(U a, U b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, (int{N} / 2 + i / 2 + (i % 2 ? int{N} : 0))...);
  }
};

}  // namespace
}  // namespace weft::cpu
