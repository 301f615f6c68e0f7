#include "bench/kernels/handwritten.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace weft::bench {

#ifdef __AVX512F__

namespace {

constexpr size_t lanes = 16;

template <class T>
T* pointer(void* const* arguments, size_t index) {
  return static_cast<T*>(arguments[index]);
}
template <class T>
T number(void* const* arguments, size_t index) {
  return *pointer<T>(arguments, index);
}

// Eight rows by two vectors of the product in registers.
void matmul(void* const* arguments, size_t) {
  constexpr size_t rows = 8, columns = 2 * lanes;
  const auto *a = pointer<float>(arguments, 0), *b = pointer<float>(arguments, 1);
  auto* c = pointer<float>(arguments, 2);
  const auto n = static_cast<size_t>(number<int>(arguments, 3));
  for (size_t column = 0; column < n; column += columns)
    for (size_t row = 0; row < n; row += rows) {
      __m512 sum[rows][2];
      for (auto& pair : sum) pair[0] = pair[1] = _mm512_setzero_ps();
      for (size_t k = 0; k < n; ++k) {
        const float* const place = b + k * n + column;
        const __m512 left = _mm512_load_ps(place), right = _mm512_load_ps(place + lanes);
        for (size_t r = 0; r < rows; ++r) {
          const __m512 factor = _mm512_set1_ps(a[(row + r) * n + k]);
          sum[r][0] = _mm512_fmadd_ps(factor, left, sum[r][0]);
          sum[r][1] = _mm512_fmadd_ps(factor, right, sum[r][1]);
        }
      }
      for (size_t r = 0; r < rows; ++r)
        for (size_t v = 0; v < 2; ++v)
          _mm512_store_ps(c + (row + r) * n + column + v * lanes, sum[r][v]);
    }
}

// Two vectors at once: a turn waits for the one before.
void mandelbrot(void* const* arguments, size_t) {
  const auto width = static_cast<size_t>(number<int>(arguments, 1));
  const auto left = number<float>(arguments, 2), top = number<float>(arguments, 3),
             step = number<float>(arguments, 4);
  const auto limit = number<int>(arguments, 5);
  const __m512 ids = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512 four = _mm512_set1_ps(4);
  for (size_t row = 0; row < width; ++row)
    for (size_t column = 0; column < width; column += 2 * lanes) {
      __m512 cx[2], x[2], y[2];
      const __m512 cy = _mm512_set1_ps(top + step * static_cast<float>(row));
      __m512i turns[2];
      for (size_t v = 0; v < 2; ++v) {
        const __m512 first = _mm512_set1_ps(static_cast<float>(column + v * lanes));
        cx[v] =
            _mm512_fmadd_ps(_mm512_set1_ps(step), _mm512_add_ps(first, ids), _mm512_set1_ps(left));
        x[v] = y[v] = _mm512_setzero_ps();
        turns[v] = _mm512_setzero_si512();
      }
      for (int turn = 0; turn < limit; ++turn) {
        __mmask16 live[2];
        for (size_t v = 0; v < 2; ++v) {
          const __m512 yy = _mm512_mul_ps(y[v], y[v]);
          live[v] = _mm512_cmp_ps_mask(_mm512_fmadd_ps(x[v], x[v], yy), four, _CMP_LT_OQ);
          const __m512 t = _mm512_add_ps(_mm512_fmsub_ps(x[v], x[v], yy), cx[v]);
          y[v] = _mm512_fmadd_ps(_mm512_add_ps(x[v], x[v]), y[v], cy);
          x[v] = t;
          turns[v] = _mm512_mask_add_epi32(turns[v], live[v], turns[v], _mm512_set1_epi32(1));
        }
        if (!(live[0] | live[1])) break;
      }
      for (size_t v = 0; v < 2; ++v)
        _mm512_store_si512(pointer<int>(arguments, 0) + row * width + column + v * lanes, turns[v]);
    }
}

template <size_t count>
__m512 polynomial(__m512 x, const float (&factors)[count]) {
  __m512 sum = _mm512_setzero_ps();
  for (const float factor : factors) sum = _mm512_fmadd_ps(sum, x, _mm512_set1_ps(factor));
  return sum;
}

__m512 exponential(__m512 x) {
  const __m512 turns = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)),
                                            _MM_FROUND_TO_NEAREST_INT);
  __m512 rest = _mm512_fnmadd_ps(turns, _mm512_set1_ps(0x1.63p-1f), x);
  rest = _mm512_fnmadd_ps(turns, _mm512_set1_ps(-2.12194440e-4f), rest);
  const __m512 more = polynomial(rest, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                        4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
  const __m512 one = _mm512_add_ps(rest, _mm512_set1_ps(1));
  return _mm512_scalef_ps(_mm512_fmadd_ps(_mm512_mul_ps(rest, rest), more, one), turns);
}

__m512 logarithm(__m512 x) {
  const __m512 mantissa = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
  const __mmask16 large = _mm512_cmp_ps_mask(mantissa, _mm512_set1_ps(1.41421356f), _CMP_GT_OQ);
  const __m512 exponent =
      _mm512_mask_add_ps(_mm512_getexp_ps(x), large, _mm512_getexp_ps(x), _mm512_set1_ps(1));
  const __m512 half = _mm512_mask_mul_ps(mantissa, large, mantissa, _mm512_set1_ps(0.5f));
  const __m512 r = _mm512_sub_ps(half, _mm512_set1_ps(1)), square = _mm512_mul_ps(r, r);
  __m512 sum = polynomial(r, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                              -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                              2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  sum = _mm512_mul_ps(_mm512_mul_ps(sum, r), square);
  sum = _mm512_fmadd_ps(exponent, _mm512_set1_ps(-2.12194440e-4f), sum);
  sum = _mm512_fnmadd_ps(square, _mm512_set1_ps(0.5f), sum);
  return _mm512_fmadd_ps(exponent, _mm512_set1_ps(0x1.63p-1f), _mm512_add_ps(sum, r));
}

__m512 normalDistribution(__m512 x) {
  const __m512 one = _mm512_set1_ps(1);
  const __m512 k =
      _mm512_div_ps(one, _mm512_fmadd_ps(_mm512_set1_ps(0.2316419f), _mm512_abs_ps(x), one));
  const __m512 density =
      _mm512_mul_ps(exponential(_mm512_mul_ps(_mm512_mul_ps(_mm512_set1_ps(-0.5f), x), x)),
                    _mm512_set1_ps(0.39894228f));
  const __m512 sum =
      polynomial(k, {1.330274429f, -1.821255978f, 1.781477937f, -0.356563782f, 0.31938153f});
  const __m512 tail = _mm512_mul_ps(_mm512_mul_ps(density, k), sum);
  const __mmask16 above = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ);
  return _mm512_mask_sub_ps(tail, above, one, tail);
}

void blackScholes(void* const* arguments, size_t count) {
  const float rate = number<float>(arguments, 5), volatility = number<float>(arguments, 6);
  const __m512 drift = _mm512_set1_ps(rate + 0.5f * volatility * volatility);
  const __m512 one = _mm512_set1_ps(1);
  for (size_t i = 0; i < count; i += lanes) {
    const __m512 s = _mm512_load_ps(pointer<float>(arguments, 0) + i);
    const __m512 k = _mm512_load_ps(pointer<float>(arguments, 1) + i);
    const __m512 t = _mm512_load_ps(pointer<float>(arguments, 2) + i);
    const __m512 width = _mm512_mul_ps(_mm512_set1_ps(volatility), _mm512_sqrt_ps(t));
    const __m512 moved = _mm512_fmadd_ps(drift, t, logarithm(_mm512_div_ps(s, k)));
    const __m512 d1 = _mm512_div_ps(moved, width), d2 = _mm512_sub_ps(d1, width);
    const __m512 discounted =
        _mm512_mul_ps(k, exponential(_mm512_mul_ps(_mm512_set1_ps(-rate), t)));
    const __m512 n1 = normalDistribution(d1), n2 = normalDistribution(d2);
    _mm512_store_ps(pointer<float>(arguments, 3) + i,
                    _mm512_fmsub_ps(s, n1, _mm512_mul_ps(discounted, n2)));
    _mm512_store_ps(pointer<float>(arguments, 4) + i,
                    _mm512_fmsub_ps(discounted, _mm512_sub_ps(one, n2),
                                    _mm512_mul_ps(s, _mm512_sub_ps(one, n1))));
  }
}

__m512 exactInverse(__m512 square) {
  return _mm512_div_ps(_mm512_set1_ps(1), _mm512_sqrt_ps(square));
}
// An estimate and a step of Newton's.
__m512 estimatedInverse(__m512 square) {
  const __m512 guess = _mm512_rsqrt14_ps(square);
  const __m512 half = _mm512_mul_ps(_mm512_mul_ps(square, guess), _mm512_set1_ps(0.5f));
  return _mm512_mul_ps(guess, _mm512_fnmadd_ps(half, guess, _mm512_set1_ps(1.5f)));
}

// Two vectors of bodies at once.
template <__m512 (*inverse)(__m512)>
void nbody(void* const* arguments, size_t count) {
  const auto* position = pointer<float>(arguments, 0);
  auto* acceleration = pointer<float>(arguments, 1);
  const __m512i fourth =
      _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
  for (size_t first = 0; first < count; first += 2 * lanes) {
    __m512 mine[2][3], sum[2][3];
    for (size_t v = 0; v < 2; ++v)
      for (size_t d = 0; d < 3; ++d) {
        mine[v][d] = _mm512_i32gather_ps(fourth, position + 4 * (first + v * lanes) + d, 4);
        sum[v][d] = _mm512_setzero_ps();
      }
    for (size_t k = 0; k < count; ++k)
      for (size_t v = 0; v < 2; ++v) {
        __m512 distance[3], square = _mm512_set1_ps(0.01f);
        for (size_t d = 0; d < 3; ++d) {
          distance[d] = _mm512_sub_ps(_mm512_set1_ps(position[4 * k + d]), mine[v][d]);
          square = _mm512_fmadd_ps(distance[d], distance[d], square);
        }
        const __m512 r = inverse(square);
        const __m512 f = _mm512_mul_ps(_mm512_mul_ps(_mm512_set1_ps(position[4 * k + 3]), r),
                                       _mm512_mul_ps(r, r));
        for (size_t d = 0; d < 3; ++d) sum[v][d] = _mm512_fmadd_ps(distance[d], f, sum[v][d]);
      }
    for (size_t v = 0; v < 2; ++v)
      for (size_t d = 0; d < 4; ++d)
        _mm512_i32scatter_ps(acceleration + 4 * (first + v * lanes) + d, fourth,
                             d < 3 ? sum[v][d] : _mm512_setzero_ps(), 4);
  }
}

}  // namespace

const Handwritten handwritten[] = {
    {"matmul_naive", "8 rows by 32 columns in registers", matmul},
    {"matmul_tiled", "8 rows by 32 columns in registers", matmul},
    {"mandelbrot", "two vectors at once", mandelbrot},
    {"black_scholes", "getexp, getmant, scalef", blackScholes},
    {"nbody_global", "exact roots and divisions", nbody<exactInverse>},
    {"nbody_global", "estimates and a step of Newton's", nbody<estimatedInverse>},
};
const size_t handwritten_count = sizeof handwritten / sizeof *handwritten;

#else

const Handwritten handwritten[] = {{}};
const size_t handwritten_count = 0;

#endif

}  // namespace weft::bench
