// Runs the functions that cl/arrays.def makes: every width against the scalar, the scalar against a
// reference on the host.
#pragma once

#include <gtest/gtest.h>

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <limits>
#include <random>
#include <span>
#include <sstream>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/compiler/builtins/program.h"

namespace weft::test {

// Divisible by every vector width.
inline constexpr size_t array_elements = 48 * 640;

template <class T>
constexpr const char* typeName() {
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_same_v<T, int8_t>) return "char";
  if constexpr (std::is_same_v<T, uint8_t>) return "uchar";
  if constexpr (std::is_same_v<T, int16_t>) return "short";
  if constexpr (std::is_same_v<T, uint16_t>) return "ushort";
  if constexpr (std::is_same_v<T, int32_t>) return "int";
  if constexpr (std::is_same_v<T, uint32_t>) return "uint";
  if constexpr (std::is_same_v<T, int64_t>) return "long";
  return "ulong";
}

// Around the limits of rounding, of the integers' and half's ranges, and of what exp can take.
// clang-format off
inline constexpr double interesting[] = {
    0, 1, 2, 3, 0.5, 0.25, 1.5, 2.5, 3.5, 4.5, 0.75, 10, 33, 88.5, 89, 100, 127, 128, 255, 256, 1024,
    32767, 32768, 65504, 65520, 65536, 1e5, 1e7, 8388607.5, 8388608, 16777215, 16777216, 2147483520,
    2147483648.0, 4294967040.0, 4294967296.0, 9223372036854774784.0, 9223372036854775808.0,
    18446744073709549568.0, 18446744073709551616.0, 1e10, 1e20, 1e30, 709, 710, 1e-5, 1e-20, 6.1e-5,
    5.9e-8, 2.9e-8,
    88.7228, 127.99999, 38.53183, 35.0401, 709.7827, 709.7827111, 709.78271289, 1023.9999999,
    308.25471555, 171.624, 103.97, 149.4, 45.1, 708.4, 745.13, 1074.9, 323.6,
    170.3, 171.999999, 172.5, 175.00000001, 183.0000000000003};
// clang-format on

// The values at which implementations go wrong.
template <class T>
std::vector<T> specialValues() {
  using L = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    std::vector<T> values(std::begin(interesting), std::end(interesting));
    values.insert(values.end(), {L::infinity(), L::max(), L::min(), L::denorm_min()});
    values.insert(values.end(), {L::denorm_min() * 1234, 1 - L::epsilon(), 1 + L::epsilon()});
    const size_t positive = values.size();
    for (size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
    values.push_back(L::quiet_NaN());
    return values;
  } else {
    std::vector<T> values = {0, 1, 2, 3, 7, 8, 9, 100, T(-1), T(-2)};
    values.insert(values.end(), {L::max(), T(L::max() - 1), L::min(), T(L::min() + 1)});
    values.insert(values.end(), {T(L::max() / 2), T(L::max() / 2 + 1)});
    return values;
  }
}

// Arguments number `index` of a call: the first arguments meet as all pairs of special values, the
// rest are random, half of them small.
template <class T>
std::vector<T> argumentValues(unsigned index) {
  std::mt19937_64 random(index * 977 + sizeof(T));
  const std::vector<T> special = specialValues<T>();
  std::vector<T> values(array_elements);
  const size_t pairs = std::min(array_elements * 2 / 3, special.size() * special.size());
  for (size_t i = 0; i < array_elements; ++i) {
    const uint64_t bits = random();
    if (i < pairs)
      values[i] = special[index == 0   ? i % special.size()
                          : index == 1 ? i / special.size() % special.size()
                                       : bits % special.size()];
    else if (std::is_floating_point_v<T> && bits % 2)
      values[i] = static_cast<T>((static_cast<double>(bits >> 11) * 0x1p-53 - 0.5) * 200);
    else
      std::memcpy(&values[i], &bits, sizeof(T));
  }
  return values;
}

template <class T>
bool sameBits(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a && b != b) return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

inline constexpr const char* all_widths[] = {"2", "3", "4", "8", "16"};
inline constexpr const char* some_widths[] = {"4"};

// Returns what the scalar form gives, after checking that the vector forms give the same bits.
template <class R, class... T>
std::vector<R> runArrays(const Program& program, const std::string& function,
                         std::span<const char* const> widths, const std::vector<T>&... arguments) {
  using Function = void(R*, const T*..., uint64_t);
  const std::string name = "run_" + function + "_";
  std::vector<R> scalar(array_elements);
  program.get<Function>(name)(scalar.data(), arguments.data()..., array_elements);
  for (const char* width : widths) {
    std::vector<R> vector(array_elements);
    program.get<Function>(name + width)(vector.data(), arguments.data()..., array_elements);
    for (size_t i = 0; i < array_elements; ++i)
      if (!sameBits(scalar[i], vector[i])) {
        ADD_FAILURE() << name << width << ": element " << i << " is " << +vector[i]
                      << ", the scalar " << +scalar[i] << ", of "
                      << ((std::to_string(+arguments[i]) + " ") + ...);
        break;
      }
  }
  return scalar;
}

// A rounding mode of the host, for references.
class Rounding {
 public:
  explicit Rounding(int mode) { std::fesetround(mode); }
  ~Rounding() { std::fesetround(FE_TONEAREST); }
};

// `matches(result, arguments...)`, called in rounding mode `mode`, says whether a result is right.
template <class R, class... T, class Matches>
void checkArrays(const Program& program, const std::string& function,
                 std::span<const char* const> widths, Matches matches, int mode = FE_TONEAREST) {
  const auto arguments = []<unsigned... index>(std::integer_sequence<unsigned, index...>) {
    return std::tuple{argumentValues<T>(index)...};
  }(std::make_integer_sequence<unsigned, sizeof...(T)>());
  std::apply(
      [&](const auto&... values) {
        const std::vector<R> results = runArrays<R, T...>(program, function, widths, values...);
        const Rounding rounding(mode);
        unsigned failures = 0;
        for (size_t i = 0; i < array_elements && failures < 5; ++i) {
          if (matches(results[i], values[i]...)) continue;
          ++failures;
          std::ostringstream text;
          text.precision(18);
          ((text << +values[i] << " "), ...);
          ADD_FAILURE() << function << " gives " << std::setprecision(18) << +results[i] << " for "
                        << text.str();
        }
      },
      arguments);
}

}  // namespace weft::test
