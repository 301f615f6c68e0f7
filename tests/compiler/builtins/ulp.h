// Distance to an exact result in units of the last place.
#pragma once

#include <cmath>
#include <limits>

namespace weft::test {

// Infinite when one is NaN or infinite and the other is not. `exact` is rounded to T only to see
// whether it overflows.
template <class T>
long double ulpError(T result, long double exact) {
  using L = std::numeric_limits<T>;
  constexpr long double wrong = std::numeric_limits<long double>::infinity();
  if (std::isnan(exact)) return std::isnan(result) ? 0 : wrong;
  if (std::isnan(result)) return wrong;
  if (std::isinf(exact)) return result == static_cast<T>(exact) ? 0 : wrong;
  const int exponent =
      exact == 0 ? L::min_exponent : std::max(std::ilogb(exact) + 1, L::min_exponent);
  const long double ulp = std::ldexp(1.0L, exponent - L::digits);
  // A result that overflows where the exact one is just within range is as far as the next power.
  const long double value = std::isinf(result)
                                ? std::copysign(std::ldexp(1.0L, L::max_exponent), result)
                                : static_cast<long double>(result);
  if (std::isinf(exact) || static_cast<T>(exact) == static_cast<T>(INFINITY) ||
      static_cast<T>(exact) == -static_cast<T>(INFINITY))
    return static_cast<T>(exact) == result ? 0
           : std::isinf(result)            ? wrong
                                           : std::fabs(value - exact) / ulp;
  return std::fabs(value - exact) / ulp;
}

}  // namespace weft::test
