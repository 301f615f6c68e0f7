// The four channels of one pixel as a vector, with what colours.h needs of lanes.
#pragma once

#include <CL/cl.h>

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

#include "backends/cpu/pixels/lanes_1.h"

namespace weft::cpu {
namespace {

struct Quad {
  typedef uint32_t U __attribute__((vector_size(16)));
  typedef int32_t I __attribute__((vector_size(16)));
  typedef float F __attribute__((vector_size(16)));
  typedef uint16_t Halves __attribute__((vector_size(8)));

  static F greater(F a, F b) { return a > b ? a : b; }
  static F lesser(F a, F b) { return a < b ? a : b; }
  static F toFloat(I x) { return __builtin_convertvector(x, F); }
#if defined(__F16C__)
  static F fromHalf(U x) {
    const __m128i halves = _mm_packus_epi32(__m128i(x), __m128i(x));
    return F(_mm_cvtph_ps(halves));
  }
  static U toHalf(F x) {
    return U(_mm_cvtepu16_epi32(_mm_cvtps_ph(__m128(x), _MM_FROUND_CUR_DIRECTION)));
  }
#else
  static F fromHalf(U x) {
    return F{Lanes1::fromHalf(x[0]), Lanes1::fromHalf(x[1]), Lanes1::fromHalf(x[2]),
             Lanes1::fromHalf(x[3])};
  }
  static U toHalf(F x) {
    return U{Lanes1::toHalf(x[0]), Lanes1::toHalf(x[1]), Lanes1::toHalf(x[2]),
             Lanes1::toHalf(x[3])};
  }
#endif

  // Channels of so many bytes.
  template <unsigned bytes>
  static U load(const uint8_t* from) {
    if constexpr (bytes == 4) {
      return loadAs<U>(from);
    } else if constexpr (bytes == 2) {
#if defined(__SSE4_1__)
      return U(_mm_cvtepu16_epi32(_mm_cvtsi64_si128(loadAs<int64_t>(from))));
#else
      return __builtin_convertvector(loadAs<Halves>(from), U);
#endif
    } else {
#if defined(__SSE4_1__)
      return U(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(loadAs<int32_t>(from))));
#else
      const auto word = loadAs<uint32_t>(from);
      return U{word & 255, word >> 8 & 255, word >> 16 & 255, word >> 24};
#endif
    }
  }
  // In the lowest bits of each; above them there may be others.
  template <unsigned bytes>
  static void store(uint8_t* to, U channels) {
    const auto put = [&](const auto& value) { __builtin_memcpy(to, &value, sizeof value); };
    if constexpr (bytes == 4) put(channels);
#if defined(__SSE4_1__)
    const auto all = __m128i(channels);
    if constexpr (bytes == 2)
      put(_mm_cvtsi128_si64(_mm_shuffle_epi8(all, _mm_setr_epi32(0x05040100, 0x0d0c0908, 0, 0))));
    if constexpr (bytes == 1)
      put(_mm_cvtsi128_si32(_mm_shuffle_epi8(all, _mm_setr_epi32(0x0c080400, 0, 0, 0))));
#else
    if constexpr (bytes == 2) put(__builtin_convertvector(channels, Halves));
    if constexpr (bytes == 1)
      put((channels[0] & 255) | (channels[1] & 255) << 8 | (channels[2] & 255) << 16 |
          channels[3] << 24);
#endif
  }

  static U ordered(U c, uint32_t order) {
    if (order == CL_RGBA) return c;
    if (order == CL_BGRA) return __builtin_shufflevector(c, c, 2, 1, 0, 3);
    if (order == CL_ARGB) return __builtin_shufflevector(c, c, 1, 2, 3, 0);
    return __builtin_shufflevector(c, c, 3, 2, 1, 0);
  }
  static U disordered(U c, uint32_t order) {
    if (order == CL_RGBA) return c;
    if (order == CL_BGRA) return __builtin_shufflevector(c, c, 2, 1, 0, 3);
    if (order == CL_ARGB) return __builtin_shufflevector(c, c, 3, 0, 1, 2);
    return __builtin_shufflevector(c, c, 3, 2, 1, 0);
  }

 private:
  template <class Vector>
  static Vector loadAs(const uint8_t* from) {
    Vector result;
    __builtin_memcpy(&result, from, sizeof result);
    return result;
  }
};

}  // namespace
}  // namespace weft::cpu
