// Sixteen lanes, with AVX-512 (F, BW, DQ, VL).
#pragma once

#include <immintrin.h>

#include "backends/cpu/pixels/vector_lanes.h"

namespace weft::cpu {
namespace {

struct Types16 {
  typedef uint32_t U __attribute__((vector_size(64)));
  typedef int32_t I __attribute__((vector_size(64)));
  typedef float F __attribute__((vector_size(64)));
  typedef uint16_t Halves __attribute__((vector_size(32)));
  typedef uint8_t Bytes __attribute__((vector_size(16)));
};

struct Lanes16 : VectorLanes<Types16> {
  static constexpr unsigned form = 4;
  static constexpr bool stores_parts = true;

  static uint32_t less(U a, U b) { return _mm512_cmplt_epu32_mask(__m512i(a), __m512i(b)); }
  static uint32_t equal(I a, I b) { return _mm512_cmpeq_epi32_mask(__m512i(a), __m512i(b)); }
  static U choose(uint32_t lanes, U a, U b) {
    return U(_mm512_mask_blend_epi32(static_cast<__mmask16>(lanes), __m512i(b), __m512i(a)));
  }
  static F greater(F a, F b) { return F(_mm512_max_ps(__m512(a), __m512(b))); }
  static F lesser(F a, F b) { return F(_mm512_min_ps(__m512(a), __m512(b))); }
  static F floor(F x) {
    return F(_mm512_roundscale_ps(__m512(x), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
  }
  static F nearest(F x) {
    return F(_mm512_roundscale_ps(__m512(x), _MM_FROUND_CUR_DIRECTION | _MM_FROUND_NO_EXC));
  }
  static F fromHalf(U x) { return F(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(__m512i(x)))); }
  static U toHalf(F x) {
    return U(_mm512_cvtepu16_epi32(_mm512_cvtps_ph(__m512(x), _MM_FROUND_CUR_DIRECTION)));
  }
  static U lookUp(const float* table, U index) {
    return U(_mm512_i32gather_epi32(__m512i(index), table, 4));
  }
  static U gather4(const uint8_t* base, I offsets) {
    return U(_mm512_i32gather_epi32(__m512i(offsets), base, 1));
  }
  template <unsigned bytes>
  static void storePart(uint8_t* to, uint32_t lanes, U words) {
    const auto all = __m512i(words);
    const auto mask = static_cast<__mmask16>(lanes);
    if constexpr (bytes == 1) _mm_mask_storeu_epi8(to, mask, _mm512_cvtepi32_epi8(all));
    if constexpr (bytes == 2) _mm256_mask_storeu_epi16(to, mask, _mm512_cvtepi32_epi16(all));
    if constexpr (bytes == 4) _mm512_mask_storeu_epi32(to, mask, all);
    if constexpr (bytes == 8) _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(lanes), all);
  }
  static U unpackLow(U a, U b) { return U(_mm512_unpacklo_epi32(__m512i(a), __m512i(b))); }
  static U unpackHigh(U a, U b) { return U(_mm512_unpackhi_epi32(__m512i(a), __m512i(b))); }
  static U unpackLowPairs(U a, U b) { return U(_mm512_unpacklo_epi64(__m512i(a), __m512i(b))); }
  static U unpackHighPairs(U a, U b) { return U(_mm512_unpackhi_epi64(__m512i(a), __m512i(b))); }
  // Four pieces of 16 bytes, and back.
  template <class At>
  static U join(At&& at) {
    __m512i all = _mm512_castsi128_si512(load16(at(0)));
    all = _mm512_inserti32x4(all, load16(at(1)), 1);
    all = _mm512_inserti32x4(all, load16(at(2)), 2);
    return U(_mm512_inserti32x4(all, load16(at(3)), 3));
  }
  static __m128i piece(U all, unsigned index) {
    switch (index) {
      case 0:
        return _mm512_castsi512_si128(__m512i(all));
      case 1:
        return _mm512_extracti32x4_epi32(__m512i(all), 1);
      case 2:
        return _mm512_extracti32x4_epi32(__m512i(all), 2);
      default:
        return _mm512_extracti32x4_epi32(__m512i(all), 3);
    }
  }
};

}  // namespace
}  // namespace weft::cpu
