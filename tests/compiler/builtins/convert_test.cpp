// OpenCL C 6.4.3, explicit conversions, against long double, which holds every value of every type.
#include "tests/compiler/builtins/arrays.h"

namespace weft::test {
namespace {

struct Mode {
  const char* suffix;
  int rounding;
};
// The default is to nearest for floating point and towards zero for integers.
const Mode modes[] = {
    {"_rte", FE_TONEAREST}, {"_rtz", FE_TOWARDZERO}, {"_rtp", FE_UPWARD}, {"_rtn", FE_DOWNWARD}};

// `value` in the current rounding mode.
template <class T>
long double rounded(long double value) {
  volatile long double input = value;
  if constexpr (std::is_floating_point_v<T>) {
    volatile T result = static_cast<T>(input);
    return result;
  } else {
    return std::nearbyint(input);
  }
}

template <class T, class S>
bool converts(T result, S value, bool saturate) {
  using L = std::numeric_limits<T>;
  const long double exact = rounded<T>(static_cast<long double>(value));
  if constexpr (std::is_floating_point_v<T>) {
    return result == exact || (result != result && exact != exact);
  } else {
    if (exact != exact) return !saturate || result == 0;
    if (exact < L::min()) return !saturate || result == L::min();
    if (exact > static_cast<long double>(L::max())) return !saturate || result == L::max();
    return static_cast<long double>(result) == exact;
  }
}

// Integers convert without saturation modulo two to their width.
template <class T, class S>
bool wraps(T result, S value) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<S>)
    return result == static_cast<T>(value);
  return true;
}

template <class T>
class Convert : public testing::Test {
 protected:
  template <class S>
  static void from() {
    const Program& program = programOfType();
    const std::string name = std::string("convert_") + typeName<S>();
    const int standard = std::is_floating_point_v<T> ? FE_TONEAREST : FE_TOWARDZERO;
    check<S>(program, name, standard, false);
    for (const Mode& mode : modes) check<S>(program, name + mode.suffix, mode.rounding, false);
    if (std::is_floating_point_v<T>) return;
    check<S>(program, name + "_sat", standard, true);
    for (const Mode& mode : modes)
      check<S>(program, name + "_sat" + mode.suffix, mode.rounding, true);
  }

 private:
  static const Program& programOfType() {
    static const Program instance(std::string("convert_") + typeName<T>());
    return instance;
  }

  template <class S>
  static void check(const Program& program, const std::string& name, int rounding, bool saturate) {
    // Out of range and without saturation the vector forms may differ from the scalar.
    const std::span<const char* const> widths(
        some_widths, std::is_floating_point_v<S> && !saturate && std::is_integral_v<T> ? 0 : 1);
    checkArrays<T, S>(
        program, name, widths,
        [&](T result, S value) {
          return converts(result, value, saturate) && (saturate || wraps(result, value));
        },
        rounding);
  }
};
using Types = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                             uint64_t, float, double>;
TYPED_TEST_SUITE(Convert, Types);

// x86's code generation takes vectors of the intrinsic apart.
TEST(SaturatedConversions, ArePlainArithmeticOnX86) {
#ifdef __x86_64__
  for (const char* name : {"convert_uchar", "convert_short", "convert_int", "convert_ulong"})
    EXPECT_EQ(Program(name).text().find("i.sat."), std::string::npos) << name;
#else
  GTEST_SKIP();
#endif
}

TYPED_TEST(Convert, FromEveryType) {
  this->template from<int8_t>();
  this->template from<uint8_t>();
  this->template from<int16_t>();
  this->template from<uint16_t>();
  this->template from<int32_t>();
  this->template from<uint32_t>();
  this->template from<int64_t>();
  this->template from<uint64_t>();
  this->template from<float>();
  this->template from<double>();
}

}  // namespace
}  // namespace weft::test
