// "A divide by zero with integer types does not cause an exception", nor does the least value
// divided by -1: what comes out is unspecified, what is around it is not.
#include <limits>
#include <type_traits>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr char source[] =
    "kernel void k(global const V* a, global const V* b, global V* out, global uchar* is_zero) {\n"
    "  size_t i = get_global_id(0);\n"
    "  V divisor = b[i], divided = a[i], rest = a[i], by_constant = a[i], negated = a[i];\n"
    "  out[6 * i] = a[i] / b[i];\n"
    "  out[6 * i + 1] = a[i] % b[i];\n"
    "  out[6 * i + 2] = divided /= b[i];\n"
    "  out[6 * i + 3] = rest %= b[i];\n"
    "  out[6 * i + 4] = by_constant / (V)7;\n"
    "  out[6 * i + 5] = negated / (V)((T)-1);\n"
    "  for (int j = 0; j < N; ++j) is_zero[i * N + j] = ((private T*)&divisor)[j] == 0;\n"
    "}\n";

template <class T>
struct Operands {
  std::vector<T> a, b;
};

// All pairs of what matters, each several times so that vectors meet different neighbours.
template <class T>
Operands<T> operands() {
  using L = std::numeric_limits<T>;
  const T values[] = {0, 1, T(-1), 2, 7, 100, L::min(), L::max(), T(L::min() + 1), T(L::max() / 3)};
  Operands<T> result;
  for (size_t i = 0; i < 1600; ++i) {
    result.a.push_back(values[i % 10]);
    result.b.push_back(values[i / 10 % 10]);
  }
  return result;
}

template <class T>
bool isDefined(T a, T b) {
  return b != 0 && !(std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == T(-1));
}

class Divisions : public Programs {
 protected:
  template <class T>
  void check(const std::string& type, size_t width, const std::string& options) const {
    SCOPED_TRACE(type + std::to_string(width) + options);
    const std::string vector = width == 1 ? type : type + std::to_string(width);
    const OwnedKernel k = kernel(built(source, ("-D T=" + type + " -D V=" + vector +
                                                " -D N=" + std::to_string(width) + options)
                                                   .c_str()),
                                 "k");
    const auto [a, b] = operands<T>();
    const OwnedMem given_a = upload(a), given_b = upload(b), out = upload(std::vector<T>(6 * 1600)),
                   is_zero = upload(std::vector<cl_uchar>(1600));
    set(k, given_a, given_b, out, is_zero);
    run(k, {{a.size() / width}});
    const auto results = download<T>(out);
    const auto zeros = download<cl_uchar>(is_zero);
    for (size_t i = 0; i < a.size(); ++i) {
      const T* got = &results[6 * (i - i % width) + i % width];
      ASSERT_EQ(zeros[i], b[i] == 0) << +a[i] << " by " << +b[i];
      ASSERT_EQ(got[4 * width], T(a[i] / 7)) << +a[i];
      if (isDefined(a[i], T(-1))) {
        ASSERT_EQ(got[5 * width], T(a[i] / T(-1))) << +a[i];
      }
      if (!isDefined(a[i], b[i])) continue;
      for (const size_t form : {0, 2}) {
        ASSERT_EQ(got[form * width], T(a[i] / b[i])) << +a[i] << " by " << +b[i];
        ASSERT_EQ(got[(form + 1) * width], T(a[i] % b[i])) << +a[i] << " by " << +b[i];
      }
    }
  }
  template <class T>
  void checkWidths(const std::string& type) const {
    for (const size_t width : {1, 4}) check<T>(type, width, "");
  }
};

TEST_F(Divisions, OfEveryTypeDoNotTrap) {
  checkWidths<cl_char>("char");
  checkWidths<cl_uchar>("uchar");
  checkWidths<cl_short>("short");
  checkWidths<cl_ushort>("ushort");
  checkWidths<cl_int>("int");
  checkWidths<cl_uint>("uint");
  checkWidths<cl_long>("long");
  checkWidths<cl_ulong>("ulong");
  for (const size_t width : {2, 8, 16}) check<cl_int>("int", width, "");
  check<cl_long>("long", 4, " -cl-opt-disable");
}

// What the front end folds has no divisor any more.
TEST_F(Divisions, OfConstantsLeaveTheRestAlone) {
  constexpr char constants[] =
      "kernel void k(global int* out, int one) {\n"
      "  int4 v = (int4)(7, 8, INT_MIN, -9) / (int4)(0, 2, -1, 3);\n"
      "  uint2 u = (uint2)(9, 9) % (uint2)(4, 0);\n"
      "  int unspecified = 1 / 0 + INT_MIN / -1 + 7 % (one - one);\n"
      "  if (1 / 0 > 3) out[0] = 1; else out[0] = 1;\n"
      "  switch (unspecified) { case 0: out[1] = 2; break; default: out[1] = 2; }\n"
      "  out[2] = v.y; out[3] = v.w; out[4] = u.x;\n"
      "  for (int i = 5; i < 8; ++i) { out[i] = i; out[8] = i / (one - 1); }\n"
      "  out[9] = (v.x == v.x) + (v.z == v.z) + (u.y == u.y) + (out[8] == out[8]);\n"
      "}\n";
  for (const char* options : {"-w", "-w -cl-opt-disable", "-w -cl-std=CL3.0"}) {
    const OwnedKernel k = kernel(built(constants, options), "k");
    const OwnedMem out = upload(std::vector<cl_int>(10));
    set(k, out, cl_int{1});
    run(k, {{1}});
    auto results = download<cl_int>(out);
    results[8] = 0;
    EXPECT_EQ(results, (std::vector<cl_int>{1, 2, 4, -3, 1, 5, 6, 7, 0, 4})) << options;
  }
}

// Whose elements divide the lanes' elements, each its own.
TEST_F(Divisions, ByAVectorThatAllWorkItemsHave) {
  constexpr char divide[] =
      "kernel void k(global const V* a, global V* q, global V* r,\n"
      "              T x, T y, T z, T w) {\n"
      "  size_t i = get_global_id(0);\n"
      "  V b = (V)(x, y, z, w);\n"
      "  q[i] = a[i] / b;\n"
      "  r[i] = a[i] % b;\n"
      "}\n";
  const auto check = [&]<class T>(const std::string& type, T) {
    const OwnedKernel k =
        kernel(built(divide, ("-D T=" + type + " -D V=" + type + "4").c_str()), "k");
    std::vector<T> a = operands<T>().a;
    const T b[] = {3, T(100), T(std::numeric_limits<T>::max() / 2), 0};
    const OwnedMem given = upload(a), q = upload(std::vector<T>(a.size())),
                   r = upload(std::vector<T>(a.size()));
    set(k, given, q, r, b[0], b[1], b[2], b[3]);
    run(k, {{a.size() / 4}});
    const auto quotients = download<T>(q), rests = download<T>(r);
    for (size_t i = 0; i < a.size(); ++i) {
      if (b[i % 4] == 0) continue;
      ASSERT_EQ(quotients[i], T(a[i] / b[i % 4])) << type << ": " << +a[i] << " by " << +b[i % 4];
      ASSERT_EQ(rests[i], T(a[i] % b[i % 4])) << type << ": " << +a[i] << " by " << +b[i % 4];
    }
  };
  check("char", cl_char{});
  check("ushort", cl_ushort{});
  check("int", cl_int{});
  check("uint", cl_uint{});
  check("long", cl_long{});
}

}  // namespace
}  // namespace weft::e2e
