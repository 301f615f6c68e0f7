// Half: storage with every rounding, and cl_khr_fp16's arithmetic, conversions and functions.
#include "tests/e2e/half.h"

#include <cstring>
#include <random>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

using Bits = std::vector<cl_ushort>;

constexpr std::pair<const char*, Mode> modes[] = {{"", Mode::nearest},
                                                  {"_rte", Mode::nearest},
                                                  {"_rtz", Mode::zero},
                                                  {"_rtp", Mode::up},
                                                  {"_rtn", Mode::down}};

class Half : public Programs {
 protected:
  // All halves meet all sorts of others.
  void SetUp() override {
    Programs::SetUp();
    std::mt19937 random(3);
    for (size_t i = 0; i < count; ++i) {
      a.push_back(static_cast<cl_ushort>(i));
      b.push_back(static_cast<cl_ushort>(i % 3 ? random() : (i * 0x55 + (i >> 8)) & 0xbfff));
    }
  }
  bool hasArithmetic() const {
    return deviceInfoText(CL_DEVICE_EXTENSIONS).find("cl_khr_fp16") != std::string::npos;
  }
  std::string deviceInfoText(cl_device_info name) const {
    size_t size = 0;
    EXPECT_EQ(cl.clGetDeviceInfo(testDevice(), name, 0, nullptr, &size), CL_SUCCESS);
    std::string text(size, '\0');
    EXPECT_EQ(cl.clGetDeviceInfo(testDevice(), name, size, text.data(), nullptr), CL_SUCCESS);
    return text;
  }
  // Runs `statement` for each vector of `width` elements: H of halves x, y and i; out is of R.
  template <class R>
  std::vector<R> evaluate(const std::string& type, int width, const std::string& statement) const {
    const std::string n = width == 1 ? "" : std::to_string(width);
    const OwnedKernel k =
        kernel(built("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                     "typedef half" +
                     n + " H; typedef " + type + n +
                     " R;\n"
                     "kernel void k(global const H* a, global const H* b, global R* out) {\n"
                     "  size_t i = get_global_id(0); H x = a[i], y = b[i];\n"
                     "  out[i] = " +
                     statement + ";\n}\n"),
               "k");
    const OwnedMem in_a = upload(a), in_b = upload(b), out = upload(std::vector<R>(count));
    set(k, in_a, in_b, out);
    run(k, {{count / static_cast<size_t>(width)}});
    return download<R>(out);
  }
  template <class F>
  void checkHalves(const std::string& statement, F reference, int width = 1) const {
    const Bits results = evaluate<cl_ushort>("half", width, statement);
    for (size_t i = 0; i < count; ++i) {
      const double x = halfValue(a[i]), y = halfValue(b[i]);
      ASSERT_TRUE(sameHalf(results[i], toHalf(reference(x, y))))
          << statement << " of " << x << " and " << y << " gives " << halfValue(results[i]);
    }
  }

  static constexpr size_t count = 65536;
  Bits a, b;
};

TEST_F(Half, LoadsAreExact) {
  const OwnedKernel k =
      kernel(built("kernel void k(global const half* in, global float* out) {\n"
                   "  size_t i = get_global_id(0);\n"
                   "  out[8 * i] = vload_half(8 * i, in);\n"
                   "  vstore3(vload_half3(0, in + 8 * i + 1), 0, out + 8 * i + 1);\n"
                   "  vstore4(vloada_half4(2 * i + 1, in), 2 * i + 1, out);\n"
                   "}\n"),
             "k");
  const OwnedMem in = upload(a), out = upload(std::vector<cl_float>(count));
  set(k, in, out);
  run(k, {{count / 8}});
  const auto results = download<cl_float>(out);
  for (size_t i = 0; i < count; ++i) {
    const double exact = halfValue(a[i]);
    // A NaN's sign means nothing, and a GPU's instruction drops it.
    if (std::isnan(exact)) {
      ASSERT_TRUE(std::isnan(results[i])) << i;
      continue;
    }
    ASSERT_EQ(results[i], exact) << i;
    ASSERT_EQ(std::signbit(results[i]), std::signbit(exact)) << i;
  }
}

// "For n = 1": in every version and address space, what vload_half and vstore_half do.
TEST_F(Half, AlignedFormsOfOne) {
  const std::string source =
      "kernel void k(global const half* in, global half* out, local half* mine,\n"
      "              constant half* same) {\n"
      "  const size_t i = get_global_id(0), l = get_local_id(0);\n"
      "  ushort bits;\n"
      "  private half* own = (private half*)&bits;\n"
      "  vstorea_half_rtz(vloada_half(i, in), 0, own);\n"
      "  vstorea_half_rtp(vloada_half(0, own), l, mine);\n"
      "  vstorea_half(vloada_half(l, mine) * 0.5f, 3 * i, out);\n"
      "  vstorea_half_rtn(vloada_half(i, same) * 0.5f, 3 * i + 1, out);\n"
      "  vstorea_half_rte(vloada_half(i, same) * 0.5f, 3 * i + 2, out);\n"
      "}\n";
  for (const char* options : {"", "-cl-std=CL1.1", "-cl-std=CL2.0", "-cl-std=CL3.0"}) {
    const OwnedKernel k = kernel(built(source, options), "k");
    const OwnedMem in = upload(a), out = upload(std::vector<cl_half>(3 * count));
    set(k, in, out, Local{64 * sizeof(cl_half)}, in);
    run(k, {{count}, {64}});
    const auto results = download<cl_half>(out);
    for (size_t i = 0; i < 3 * count; ++i) {
      const double x = halfValue(a[i / 3]) / 2;
      if (halfValue(toHalf(x)) != x) continue;
      ASSERT_TRUE(sameHalf(results[i], toHalf(x))) << i << ' ' << options;
    }
  }
}

// Between all neighbours: what lies on, just beside and halfway, beyond the greatest, and NaN.
template <class T>
std::vector<T> around() {
  std::vector<T> values{T(NAN), T(INFINITY), T(-INFINITY), T(1e6), T(-1e6), T(65519.99), T(1e-30)};
  for (unsigned bits = 0; bits < half_infinity; bits += 7) {
    const T low = static_cast<T>(halfValue(static_cast<uint16_t>(bits)));
    const T high = static_cast<T>(
        bits + 1 == half_infinity ? 65536 : halfValue(static_cast<uint16_t>(bits + 1)));
    const T middle = (low + high) / 2;
    for (const T x : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high),
                      std::nextafter(low, high)})
      values.insert(values.end(), {x, -x});
  }
  values.resize(values.size() / 16 * 16);
  return values;
}

class HalfStores : public Half {
 protected:
  template <class T>
  void check(const std::string& type) const {
    const std::vector<T> values = around<T>();
    const OwnedMem in = upload(values);
    for (const auto& [suffix, mode] : modes)
      for (const std::string width : {"", "4", "16"}) {
        const std::string name = "vstore_half" + width + suffix;
        const OwnedKernel k = kernel(built("kernel void k(global const " + type + width +
                                           "* in, global half* out) {\n  size_t i = "
                                           "get_global_id(0);\n  " +
                                           name + "(in[i], i, out);\n}\n"),
                                     "k");
        const OwnedMem out = upload(Bits(values.size()));
        set(k, in, out);
        run(k, {{values.size() / (width.empty() ? 1 : std::stoul(width))}});
        const Bits results = download<cl_ushort>(out);
        for (size_t i = 0; i < values.size(); ++i)
          ASSERT_TRUE(sameHalf(results[i], toHalf(values[i], mode)))
              << name << " of " << values[i] << " gives " << halfValue(results[i]);
      }
  }
};

TEST_F(HalfStores, RoundFloats) { check<cl_float>("float"); }
TEST_F(HalfStores, RoundDoublesOnce) { check<cl_double>("double"); }

TEST_F(Half, ArithmeticRoundsOnce) {
  if (!hasArithmetic()) GTEST_SKIP() << "no cl_khr_fp16";
  for (const int width : {1, 4, 16}) {
    checkHalves("x + y", [](double x, double y) { return x + y; }, width);
    checkHalves("x - y", [](double x, double y) { return x - y; }, width);
    checkHalves("x * y", [](double x, double y) { return x * y; }, width);
    checkHalves("x / y", [](double x, double y) { return x / y; }, width);
    checkHalves("sqrt(x)", [](double x, double) { return std::sqrt(x); }, width);
    checkHalves("-x", [](double x, double) { return -x; }, width);
  }
}

TEST_F(Half, FusedMultiplyAddRoundsOnce) {
  if (!hasArithmetic()) GTEST_SKIP() << "no cl_khr_fp16";
  const Bits results = evaluate<cl_ushort>("half", 2, "fma(x, y, (H)0.3333h)");
  const double third = halfValue(toHalf(0.3333));
  for (size_t i = 0; i < count; ++i) {
    const double x = halfValue(a[i]), y = halfValue(b[i]), sum = x * y + third;
    // Where double is exact, too.
    if (std::isfinite(sum) && (sum - third != x * y || sum - x * y != third)) continue;
    ASSERT_TRUE(sameHalf(results[i], toHalf(sum))) << x << " * " << y;
  }
}

TEST_F(Half, Comparisons) {
  if (!hasArithmetic()) GTEST_SKIP() << "no cl_khr_fp16";
  const auto results = evaluate<cl_short>(
      "short", 1, "(x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | isnan(x) << 4");
  const auto vectors = evaluate<cl_short>("short", 8, "isless(x, y) | (x >= y) & (short8)2");
  for (size_t i = 0; i < count; ++i) {
    const double x = halfValue(a[i]), y = halfValue(b[i]);
    ASSERT_EQ(results[i],
              (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | int{std::isnan(x)} << 4)
        << x << " and " << y;
    ASSERT_EQ(vectors[i], x < y ? -1 : x >= y ? 2 : 0) << x << " and " << y;
  }
}

TEST_F(Half, ConversionsFromHalf) {
  if (!hasArithmetic()) GTEST_SKIP() << "no cl_khr_fp16";
  const auto floats = evaluate<cl_float>("float", 4, "convert_float4(x)");
  const auto shorts = evaluate<cl_short>("short", 1, "convert_short_sat_rte(x)");
  const auto bytes = evaluate<cl_uchar>("uchar", 16, "convert_uchar16_sat_rtp(x)");
  const auto longs = evaluate<cl_long>("long", 2, "convert_long2_sat_rtn(x)");
  for (size_t i = 0; i < count; ++i) {
    const double x = halfValue(a[i]);
    ASSERT_TRUE(floats[i] == x || (std::isnan(x) && std::isnan(floats[i]))) << x;
    const double number = std::isnan(x) ? 0 : x;
    ASSERT_EQ(shorts[i], std::clamp(std::nearbyint(number), -32768.0, 32767.0)) << x;
    ASSERT_EQ(bytes[i], std::clamp(std::ceil(number), 0.0, 255.0)) << x;
    if (std::isfinite(number)) {
      ASSERT_EQ(longs[i], std::floor(number)) << x;
    }
  }
}

TEST_F(Half, ConversionsToHalf) {
  if (!hasArithmetic()) GTEST_SKIP() << "no cl_khr_fp16";
  for (const auto& [suffix, mode] : modes) {
    const auto integers = evaluate<cl_ushort>(
        "half", 1, "convert_half" + std::string(suffix) + "((int)(i * 7919u) >> (i & 15))");
    const auto doubles = evaluate<cl_ushort>(
        "half", 4,
        "convert_half4" + std::string(suffix) + "(convert_double4(x) * 1.0001 + (double4)1e-9)");
    for (size_t i = 0; i < count; ++i) {
      const cl_int integer = static_cast<cl_int>(static_cast<cl_uint>(i) * 7919u) >> (i & 15);
      ASSERT_TRUE(sameHalf(integers[i], toHalf(integer, mode))) << suffix << " of " << integer;
      const double scaled = halfValue(a[i]) * 1.0001;
      ASSERT_TRUE(sameHalf(doubles[i], toHalf(scaled + 1e-9, mode))) << suffix << " of " << scaled;
    }
  }
}

struct Function {
  const char* call;
  double (*reference)(double, double);
  double ulp;
};
// The bounds of the full profile for half; 0 is correctly rounded.
const Function functions[] = {
    {"sin(x)", [](double x, double) { return std::sin(x); }, 2},
    {"cos(x)", [](double x, double) { return std::cos(x); }, 2},
    {"exp(x)", [](double x, double) { return std::exp(x); }, 2},
    {"exp2(x)", [](double x, double) { return std::exp2(x); }, 2},
    {"log(x)", [](double x, double) { return std::log(x); }, 2},
    {"tanh(x)", [](double x, double) { return std::tanh(x); }, 2},
    {"cbrt(x)", [](double x, double) { return std::cbrt(x); }, 2},
    {"rsqrt(x)", [](double x, double) { return 1 / std::sqrt(x); }, 1},
    {"atan2(x, y)", [](double x, double y) { return std::atan2(x, y); }, 2},
    {"hypot(x, y)", [](double x, double y) { return std::hypot(x, y); }, 2},
    {"pow(x, y)", [](double x, double y) { return std::pow(x, y); }, 4},
    {"floor(x)", [](double x, double) { return std::floor(x); }, 0},
    {"rint(x)", [](double x, double) { return std::nearbyint(x); }, 0},
    {"fmod(x, y)", [](double x, double y) { return std::fmod(x, y); }, 0},
    {"remainder(x, y)", [](double x, double y) { return std::remainder(x, y); }, 0},
    {"fmin(x, y)", [](double x, double y) { return std::fmin(x, y); }, 0},
    {"fabs(x)", [](double x, double) { return std::fabs(x); }, 0},
    {"copysign(x, y)", [](double x, double y) { return std::copysign(x, y); }, 0},
};

double halfUlps(uint16_t result, double exact) {
  if (sameHalf(result, toHalf(exact))) return 0;
  const int exponent = std::clamp(exact == 0 ? -14 : std::ilogb(exact), -14, 15);
  const double got =
      std::isinf(halfValue(result)) ? std::copysign(65536.0, halfValue(result)) : halfValue(result);
  return std::isnan(got) || std::isnan(exact)
             ? INFINITY
             : std::fabs(got - exact) / std::ldexp(1, exponent - 10);
}

// What is compared under a mask, with an operand from memory: LLVM 19 takes less for greater there.
TEST_F(Half, PowersOfZeroBesideOthers) {
  if (!hasArithmetic()) GTEST_SKIP() << "no cl_khr_fp16";
  const Bits given = a;
  for (const size_t place : {0, 1, 2, 3}) {
    a = given;
    for (size_t i = place; i < count; i += 4) a[i] = 0;
    const Bits results = evaluate<cl_ushort>("half", 4, "pow(x, y)");
    for (size_t i = place; i < count; i += 4)
      ASSERT_TRUE(sameHalf(results[i], toHalf(std::pow(0.0, halfValue(b[i])))))
          << "0 to " << halfValue(b[i]) << " gives " << halfValue(results[i]);
  }
}

TEST_F(Half, FunctionsKeepTheirBounds) {
  if (!hasArithmetic()) GTEST_SKIP() << "no cl_khr_fp16";
  for (const Function& f : functions)
    for (const int width : {1, 4}) {
      const Bits results = evaluate<cl_ushort>("half", width, f.call);
      for (size_t i = 0; i < count; ++i) {
        const double x = halfValue(a[i]), y = halfValue(b[i]);
        const double exact = f.reference(x, y);
        // Either zero is a minimum of both.
        if (exact == 0 && halfValue(results[i]) == 0) continue;
        ASSERT_LE(halfUlps(results[i], exact), f.ulp)
            << f.call << " of " << x << " and " << y << " gives " << halfValue(results[i])
            << " for " << exact;
      }
    }
}

}  // namespace
}  // namespace weft::e2e
