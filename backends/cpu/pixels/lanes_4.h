// Four lanes, with SSE4.1.
#pragma once

#include <smmintrin.h>

#include "backends/cpu/pixels/vector_lanes.h"

namespace weft::cpu {
namespace {

struct Types4 {
  typedef uint32_t U __attribute__((vector_size(16)));
  typedef int32_t I __attribute__((vector_size(16)));
  typedef float F __attribute__((vector_size(16)));
  typedef uint16_t Halves __attribute__((vector_size(8)));
  typedef uint8_t Bytes __attribute__((vector_size(4)));
};

struct Lanes4 : VectorLanes<Types4> {
  static constexpr unsigned form = 2;

  static uint32_t bits(I mask) {
    return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(__m128i(mask))));
  }
  static uint32_t less(U a, U b) { return bits(a < b); }
  static uint32_t equal(I a, I b) { return bits(a == b); }
  static U choose(uint32_t lanes, U a, U b) {
    const I bit = {1, 2, 4, 8};
    return ((splat(static_cast<int32_t>(lanes)) & bit) != 0) ? a : b;
  }
  static F greater(F a, F b) { return F(_mm_max_ps(__m128(a), __m128(b))); }
  static F lesser(F a, F b) { return F(_mm_min_ps(__m128(a), __m128(b))); }
  static F floor(F x) { return F(_mm_floor_ps(__m128(x))); }
  static F nearest(F x) {
    return F(_mm_round_ps(__m128(x), _MM_FROUND_CUR_DIRECTION | _MM_FROUND_NO_EXC));
  }
  static F fromHalf(U x) {
    F result;
    for (unsigned i = 0; i < count; ++i) result[i] = Lanes1::fromHalf(x[i]);
    return result;
  }
  static U toHalf(F x) {
    U result;
    for (unsigned i = 0; i < count; ++i) result[i] = Lanes1::toHalf(x[i]);
    return result;
  }
  static U lookUp(const float* table, U index) {
    U result;
    for (unsigned i = 0; i < count; ++i) result[i] = Lanes1::lookUp(table, index[i]);
    return result;
  }
  static U gather4(const uint8_t* base, I offsets) {
    uint32_t result[count];
    for (unsigned i = 0; i < count; ++i) __builtin_memcpy(result + i, base + offsets[i], 4);
    return load<U>(result);
  }
  static U unpackLow(U a, U b) { return U(_mm_unpacklo_epi32(__m128i(a), __m128i(b))); }
  static U unpackHigh(U a, U b) { return U(_mm_unpackhi_epi32(__m128i(a), __m128i(b))); }
  static U unpackLowPairs(U a, U b) { return U(_mm_unpacklo_epi64(__m128i(a), __m128i(b))); }
  static U unpackHighPairs(U a, U b) { return U(_mm_unpackhi_epi64(__m128i(a), __m128i(b))); }
  template <class At>
  static U join(At&& at) {
    return U(load16(at(0)));
  }
  static __m128i piece(U all, unsigned) { return __m128i(all); }
};

}  // namespace
}  // namespace weft::cpu
