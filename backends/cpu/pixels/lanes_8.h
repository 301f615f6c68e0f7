// Eight lanes, with AVX2 and F16C.
#pragma once

#include <immintrin.h>

#include "backends/cpu/pixels/vector_lanes.h"

namespace weft::cpu {
namespace {

struct Types8 {
  typedef uint32_t U __attribute__((vector_size(32)));
  typedef int32_t I __attribute__((vector_size(32)));
  typedef float F __attribute__((vector_size(32)));
  typedef uint16_t Halves __attribute__((vector_size(16)));
  typedef uint8_t Bytes __attribute__((vector_size(8)));
};

struct Lanes8 : VectorLanes<Types8> {
  static constexpr unsigned form = 3;

  static uint32_t bits(__m256i mask) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask)));
  }
  static uint32_t less(U a, U b) { return bits(__m256i(a < b)); }
  static uint32_t equal(I a, I b) { return bits(_mm256_cmpeq_epi32(__m256i(a), __m256i(b))); }
  static U choose(uint32_t lanes, U a, U b) {
    const I bit = {1, 2, 4, 8, 16, 32, 64, 128};
    return ((splat(static_cast<int32_t>(lanes)) & bit) != 0) ? a : b;
  }
  static F greater(F a, F b) { return F(_mm256_max_ps(__m256(a), __m256(b))); }
  static F lesser(F a, F b) { return F(_mm256_min_ps(__m256(a), __m256(b))); }
  static F floor(F x) { return F(_mm256_floor_ps(__m256(x))); }
  static F nearest(F x) {
    return F(_mm256_round_ps(__m256(x), _MM_FROUND_CUR_DIRECTION | _MM_FROUND_NO_EXC));
  }
  static F fromHalf(U x) { return F(_mm256_cvtph_ps(__m128i(__builtin_convertvector(x, Halves)))); }
  static U toHalf(F x) {
    return U(_mm256_cvtepu16_epi32(_mm256_cvtps_ph(__m256(x), _MM_FROUND_CUR_DIRECTION)));
  }
  static U lookUp(const float* table, U index) {
    return U(_mm256_i32gather_epi32(reinterpret_cast<const int*>(table), __m256i(index), 4));
  }
  static U gather4(const uint8_t* base, I offsets) {
    return U(_mm256_i32gather_epi32(reinterpret_cast<const int*>(base), __m256i(offsets), 1));
  }
  static U unpackLow(U a, U b) { return U(_mm256_unpacklo_epi32(__m256i(a), __m256i(b))); }
  static U unpackHigh(U a, U b) { return U(_mm256_unpackhi_epi32(__m256i(a), __m256i(b))); }
  static U unpackLowPairs(U a, U b) { return U(_mm256_unpacklo_epi64(__m256i(a), __m256i(b))); }
  static U unpackHighPairs(U a, U b) { return U(_mm256_unpackhi_epi64(__m256i(a), __m256i(b))); }
  template <class At>
  static U join(At&& at) {
    return U(_mm256_inserti128_si256(_mm256_castsi128_si256(load16(at(0))), load16(at(1)), 1));
  }
  static __m128i piece(U all, unsigned index) {
    return index ? _mm256_extracti128_si256(__m256i(all), 1) : _mm256_castsi256_si128(__m256i(all));
  }
};

}  // namespace
}  // namespace weft::cpu
