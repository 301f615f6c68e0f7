// Products and quotients of 64-bit numbers, lane by lane and in vectors.
#include <random>

#include "tests/compiler/fixture.h"
#include "tests/compiler/program.h"

namespace weft::test {
namespace {

using Signed = __int128;
using Unsigned = unsigned __int128;

class UpperHalvesTest : public CompilerTest {
 protected:
  static constexpr size_t items = 320;

  UpperHalvesTest() {
    constexpr uint64_t edges[] = {
        0,          1,          2,          UINT64_MAX, INT64_MAX,     1ull << 63,
        1ull << 32, 0xffffffff, 0x80000000, 7,          UINT64_MAX - 1};
    std::mt19937_64 random(11);
    for (size_t i = 0; i < items; ++i) {
      const auto any = [&] { return random() >> random() % 64; };
      const size_t n = std::size(edges);
      a_[i] = i < n * n ? edges[i / n] : any();
      b_[i] = i < n * n ? edges[i % n] : any();
    }
  }

  // What `expression` of the ulongs a and b gives; n is a uniform number.
  std::vector<uint64_t> run(const std::string& expression, uint64_t n = 0) {
    const auto result = build(
        "kernel void k(global const ulong* p, global const ulong* q, global ulong* out, ulong n) {"
        "int i = get_global_id(0); ulong a = p[i], b = q[i]; out[i] = " +
        expression + "; }");
    EXPECT_TRUE(result.ok) << result.log;
    std::vector<uint64_t> out(items);
    const void *p = a_.data(), *q = b_.data(), *to = out.data();
    test::Program(result.image).run("k", {items, 1, 1}, {items, 1, 1}, {&p, &q, &to, &n});
    return out;
  }

  template <class Expected>
  void check(const std::string& expression, const Expected& expected, uint64_t n = 0) {
    for (const char* form : {"never", "always"}) {
      set("WEFT_VECTORIZE", form);
      const std::vector<uint64_t> results = run(expression, n);
      for (size_t i = 0; i < items; ++i)
        ASSERT_EQ(results[i], static_cast<uint64_t>(expected(a_[i], b_[i])))
            << expression << " of " << a_[i] << " and " << b_[i] << ", " << form;
    }
  }

  std::array<uint64_t, items> a_, b_;
};

uint64_t upper(Unsigned product) { return static_cast<uint64_t>(product >> 64); }
Signed asSigned(uint64_t number) { return static_cast<int64_t>(number); }
Unsigned product(Signed a, Signed b) { return static_cast<Unsigned>(a * b); }

TEST_F(UpperHalvesTest, OfProducts) {
  check("mul_hi(a, b)", [](uint64_t a, uint64_t b) { return upper(Unsigned{a} * b); });
  check("mul_hi((long)a, (long)b)",
        [](uint64_t a, uint64_t b) { return upper(product(asSigned(a), asSigned(b))); });
  check("mad_hi(a, b, a) ^ a * b",
        [](uint64_t a, uint64_t b) { return (upper(Unsigned{a} * b) + a) ^ (a * b); });
  check("mul_hi((ulong)(uint)a, b)",
        [](uint64_t a, uint64_t b) { return upper(Unsigned{static_cast<uint32_t>(a)} * b); });
  check("mul_hi((long)(int)a, (long)b)", [](uint64_t a, uint64_t b) {
    return upper(product(static_cast<int32_t>(a), asSigned(b)));
  });
  check("mul_hi((long)(a >> 1), (long)b)",
        [](uint64_t a, uint64_t b) { return upper(product(asSigned(a >> 1), asSigned(b))); });
  check("b & 1 ? mul_hi(a, b) : a",
        [](uint64_t a, uint64_t b) { return b & 1 ? upper(Unsigned{a} * b) : a; });
}

TEST_F(UpperHalvesTest, OfProductsWithWhatAllHave) {
  for (const uint64_t n :
       {uint64_t{0}, uint64_t{12345678901234567}, UINT64_MAX, uint64_t{3} << 62}) {
    check("mul_hi(a, n)", [&](uint64_t a, uint64_t) { return upper(Unsigned{a} * n); }, n);
    check(
        "mul_hi((long)a, (long)n) + mul_hi(n, n)",
        [&](uint64_t a, uint64_t) {
          return upper(product(asSigned(a), asSigned(n))) + upper(Unsigned{n} * n);
        },
        n);
    const std::string number = std::to_string(n) + "UL";
    check("mul_hi(a, " + number + ")",
          [&](uint64_t a, uint64_t) { return upper(Unsigned{a} * n); });
    check("mul_hi((long)a, (long)" + number + ")",
          [&](uint64_t a, uint64_t) { return upper(product(asSigned(a), asSigned(n))); });
  }
}

TEST_F(UpperHalvesTest, OfDivisionsByConstants) {
  std::vector<uint64_t> divisors = {3,
                                    7,
                                    10,
                                    641,
                                    1000000007,
                                    0x7fffffff,
                                    0xffffffff,
                                    1ull << 32,
                                    6700417,
                                    UINT64_MAX - 1,
                                    1ull << 63,
                                    (1ull << 63) + 1,
                                    (1ull << 61) - 1,
                                    0xffffffff00000001};
  std::mt19937_64 random(5);
  for (int i = 0; i < 12; ++i) divisors.push_back((random() >> random() % 62) | 2);
  for (const uint64_t d : divisors) {
    const std::string number = std::to_string(d) + "UL";
    check("a / " + number + " + 3 * (b % " + number + ")",
          [&](uint64_t a, uint64_t b) { return a / d + 3 * (b % d); });
    const auto s = static_cast<int64_t>(d);
    if (s == 0 || s == -1) continue;
    check("(long)a / (long)" + number + " + 3 * ((long)b % (long)" + number + ")",
          [&](uint64_t a, uint64_t b) {
            const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
            return static_cast<uint64_t>(x / s) + 3 * static_cast<uint64_t>(y % s);
          });
  }
}

}  // namespace
}  // namespace weft::test
