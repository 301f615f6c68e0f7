// OpenCL C 6.15.3, against references in 128 bits.
#include <bit>

#include "tests/compiler/builtins/arrays.h"

namespace weft::test {
namespace {

using Wide = __int128;

template <class T>
T saturate(Wide value) {
  using L = std::numeric_limits<T>;
  return value < Wide{L::min()} ? L::min() : value > Wide{L::max()} ? L::max() : T(value);
}

template <class T>
class Integer : public testing::Test {
 protected:
  static const Program& program() {
    static const Program instance(std::string("integer_") + typeName<T>());
    return instance;
  }
  template <class R, class... A, class Reference>
  static void check(const std::string& function, Reference reference) {
    checkArrays<R, A...>(program(), function, all_widths, [&](R result, A... arguments) {
      return result == reference(arguments...);
    });
  }
};

using Types =
    testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Integer, Types);

TYPED_TEST(Integer, Bits) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  this->template check<T, T>("clz", [](T x) { return T(std::countl_zero(U(x))); });
  this->template check<T, T>("ctz", [](T x) { return T(std::countr_zero(U(x))); });
  this->template check<T, T>("popcount", [](T x) { return T(std::popcount(U(x))); });
  this->template check<T, T, T>(
      "rotate", [](T x, T y) { return T(std::rotl(U(x), int(U(y) % (8 * sizeof(T))))); });
}

TYPED_TEST(Integer, SumsAndBounds) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  this->template check<U, T>("abs", [](T x) { return U(x < 0 ? -Wide{x} : Wide{x}); });
  this->template check<U, T, T>("abs_diff",
                                [](T x, T y) { return U(x > y ? Wide{x} - y : Wide{y} - x); });
  this->template check<T, T, T>("add_sat", [](T x, T y) { return saturate<T>(Wide{x} + y); });
  this->template check<T, T, T>("sub_sat", [](T x, T y) { return saturate<T>(Wide{x} - y); });
  this->template check<T, T, T>("hadd", [](T x, T y) { return T((Wide{x} + y) >> 1); });
  this->template check<T, T, T>("rhadd", [](T x, T y) { return T((Wide{x} + y + 1) >> 1); });
  this->template check<T, T, T>("max", [](T x, T y) { return std::max(x, y); });
  this->template check<T, T, T>("min", [](T x, T y) { return std::min(x, y); });
  this->template check<T, T, T, T>(
      "clamp", [](T x, T low, T high) { return std::min(std::max(x, low), high); });
}

// Products of 64-bit operands fill 128 bits; the unsigned ones with a sum overflow a signed Wide.
template <class T>
Wide highProduct(T x, T y) {
  if constexpr (std::is_signed_v<T>) return (Wide{x} * y) >> (8 * sizeof(T));
  return Wide((static_cast<unsigned __int128>(x) * y) >> (8 * sizeof(T)));
}

TYPED_TEST(Integer, Products) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  this->template check<T, T, T>("mul_hi", [](T x, T y) { return T(highProduct(x, y)); });
  this->template check<T, T, T, T>("mad_hi",
                                   [](T x, T y, T z) { return T(U(highProduct(x, y)) + U(z)); });
  this->template check<T, T, T, T>("mad_sat", [](T x, T y, T z) {
    if constexpr (std::is_signed_v<T>) return saturate<T>(Wide{x} * y + z);
    const auto exact = static_cast<unsigned __int128>(x) * y + z;
    return exact > std::numeric_limits<T>::max() ? std::numeric_limits<T>::max() : T(exact);
  });
}

const Program& pairs() {
  static const Program instance("integer_pairs");
  return instance;
}

template <class T, class R>
void checkUpsample() {
  using U = std::make_unsigned_t<T>;
  checkArrays<R, T, U>(pairs(), std::string("upsample_") + typeName<T>(), all_widths,
                       [](R result, T high, U low) {
                         return result == R(std::make_unsigned_t<R>(high) << 8 * sizeof(T) | low);
                       });
}

TEST(IntegerPairs, Upsample) {
  checkUpsample<int8_t, int16_t>();
  checkUpsample<uint8_t, uint16_t>();
  checkUpsample<int16_t, int32_t>();
  checkUpsample<uint16_t, uint32_t>();
  checkUpsample<int32_t, int64_t>();
  checkUpsample<uint32_t, uint64_t>();
}

// Defined for operands of 24 bits only.
template <class T>
bool fits24(T x) {
  return std::is_signed_v<T> ? Wide{x} >= -(1 << 23) && Wide{x} < 1 << 23 : Wide{x} < 1 << 24;
}
template <class T>
void check24() {
  checkArrays<T, T, T>(
      pairs(), std::string("mul24_") + typeName<T>(), all_widths,
      [](T result, T x, T y) { return !fits24(x) || !fits24(y) || result == T(Wide{x} * y); });
  checkArrays<T, T, T, T>(pairs(), std::string("mad24_") + typeName<T>(), all_widths,
                          [](T result, T x, T y, T z) {
                            return !fits24(x) || !fits24(y) || result == T(Wide{x} * y + z);
                          });
}

TEST(IntegerPairs, TwentyFourBits) {
  check24<int32_t>();
  check24<uint32_t>();
}

}  // namespace
}  // namespace weft::test
