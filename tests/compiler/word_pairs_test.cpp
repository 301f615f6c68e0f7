// Numbers of 64 bits that a kernel handles as pairs of 32-bit words.
#include <bit>
#include <random>

#include <gtest/gtest.h>

#include "tests/compiler/fixture.h"
#include "tests/compiler/program.h"

namespace weft::test {
namespace {

// The spellings of rotations that hashes have.
constexpr const char* spellings = R"(
  uint2 left(uint2 x, uint n) {
    return (uint2)(x.x << n | x.y >> (32 - n), x.y << n | x.x >> (32 - n));
  }
  uint2 leftFar(uint2 x, uint n) {
    return (uint2)(x.y << (n - 32) ^ x.x >> (64 - n), x.x << (n - 32) ^ x.y >> (64 - n));
  }
  uint2 right(uint2 x, uint n) { return (x >> n) | (x.yx << (32 - n)); }
  ulong words(ulong x, uint n) {
    uint low = (uint)x, high = (uint)(x >> 32);
    return upsample(high << n | low >> (32 - n), low << n | high >> (32 - n));
  }
)";

struct Step {
  std::string code;  // of ulongs a and b
  uint64_t (*apply)(uint64_t a, uint64_t b, int n);
  int n = 0;
};

uint64_t leftOf(uint64_t a, uint64_t, int n) { return std::rotl(a, n); }
uint64_t rightOf(uint64_t a, uint64_t, int n) { return std::rotr(a, n); }

Step anyStep(std::mt19937& random) {
  const auto amount = static_cast<int>(1 + random() % 31);
  const std::string near = std::to_string(amount), far = std::to_string(amount + 32);
  const Step steps[] = {
      {"a += b;", [](uint64_t a, uint64_t b, int) { return a + b; }},
      {"a = as_ulong(as_uint2(a) ^ as_uint2(b));",
       [](uint64_t a, uint64_t b, int) { return a ^ b; }},
      {"a = as_ulong(as_uint2(a) & (uint2)(as_uint2(b).x, 0xffff00ff));",
       [](uint64_t a, uint64_t b, int) { return a & ((b & 0xffffffff) | 0xffff00ff00000000); }},
      {"a = as_ulong(as_uint2(a) | as_uint2(b).yx);",
       [](uint64_t a, uint64_t b, int) { return a | std::rotl(b, 32); }},
      {"a = as_ulong((as_uint2(a) ^ (uint2)(17, 5)).yx);",
       [](uint64_t a, uint64_t, int) { return std::rotl(a ^ 0x500000011, 32); }},
      {"a = as_ulong(left(as_uint2(a), " + near + "));", leftOf, amount},
      {"a = as_ulong(leftFar(as_uint2(a), " + far + "));", leftOf, amount + 32},
      {"a = as_ulong(right(as_uint2(a), " + near + "));", rightOf, amount},
      {"a = words(a, " + near + ");", leftOf, amount},
      // Not of whole numbers.
      {"a = as_ulong(rotate(as_uint2(a), (uint2)" + near + "));",
       [](uint64_t a, uint64_t, int n) {
         const auto low = static_cast<uint32_t>(a), high = static_cast<uint32_t>(a >> 32);
         return uint64_t{std::rotl(high, n)} << 32 | std::rotl(low, n);
       },
       amount},
      {"a = as_ulong(as_uint2(a) + as_uint2(b).xx);",
       [](uint64_t a, uint64_t b, int) {
         const auto low = static_cast<uint32_t>(b);
         return uint64_t{static_cast<uint32_t>(a >> 32) + low} << 32 |
                (static_cast<uint32_t>(a) + low);
       }},
  };
  return steps[random() % std::size(steps)];
}

class WordPairsTest : public CompilerTest {};

TEST_F(WordPairsTest, RandomRounds) {
  std::mt19937 random(4);
  for (int program = 0; program < 40; ++program) {
    std::string source = std::string(spellings) +
                         "kernel void k(global ulong* p) { ulong s[4];"
                         "for (int i = 0; i < 4; ++i) s[i] = p[4 * get_global_id(0) + i];";
    constexpr uint64_t items = 32;
    std::vector<uint64_t> numbers(4 * items), expected;
    std::mt19937_64 values(static_cast<uint64_t>(program));
    for (uint64_t& number : numbers) number = values();
    expected = numbers;
    for (int i = 0; i < 30; ++i) {
      const Step step = anyStep(random);
      const size_t to = random() % 4, from = random() % 4;
      source += "{ ulong a = s[" + std::to_string(to) + "], b = s[" + std::to_string(from) + "]; " +
                step.code + " s[" + std::to_string(to) + "] = a; }\n";
      for (uint64_t item = 0; item < items; ++item) {
        uint64_t* const s = &expected[4 * item];
        s[to] = step.apply(s[to], s[from], step.n);
      }
    }
    source += "for (int i = 0; i < 4; ++i) p[4 * get_global_id(0) + i] = s[i]; }";
    for (const char* form : {"never", "always"}) {
      set("WEFT_VECTORIZE", form);
      const auto result = build(source);
      ASSERT_TRUE(result.ok) << result.log;
      std::vector<uint64_t> results = numbers;
      const void* const to = results.data();
      test::Program(result.image).run("k", {items, 1, 1}, {items, 1, 1}, {&to});
      ASSERT_EQ(results, expected) << "program " << program << "\n" << source;
    }
  }
}

}  // namespace
}  // namespace weft::test
