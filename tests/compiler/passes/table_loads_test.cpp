// Loads from small tables of constants.
#include <random>

#include <gtest/gtest.h>
#include <llvm/Target/TargetMachine.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

constexpr unsigned items = 150;
constexpr unsigned lengths[] = {3, 8, 16, 17, 32, 33, 64, 65, 120, 128, 200, 256, 300};

// An index within `length`.
struct Index {
  std::string code;  // of the item's number x, its id g and a number n
  uint32_t (*of)(uint32_t x, uint32_t g, uint32_t n, uint32_t length);
};
Index indexOf(unsigned kind, unsigned length) {
  const std::string text = std::to_string(length);
  switch (kind) {
    case 0:
      return {"x % " + text, [](uint32_t x, uint32_t, uint32_t, uint32_t l) { return x % l; }};
    case 1:
      return {"(int)(x % " + text + "u / 2) * 2 % " + text,
              [](uint32_t x, uint32_t, uint32_t, uint32_t l) { return x % l / 2 * 2; }};
    case 2:
      return {"(x & 31) % " + text + "u",
              [](uint32_t x, uint32_t, uint32_t, uint32_t l) { return (x & 31) % l; }};
    case 3:  // of one part of a long table
      return {
          text + " / 2 + (x & (" + text + " > 8 ? 3 : 0))",
          [](uint32_t x, uint32_t, uint32_t, uint32_t l) { return l / 2 + (l > 8 ? x & 3 : 0); }};
    default:
      return {"(g + n * x) % " + text,
              [](uint32_t x, uint32_t g, uint32_t n, uint32_t l) { return (g + n * x) % l; }};
  }
}
constexpr unsigned kinds = 5;

template <class T>
std::vector<T> randomTable(unsigned length, bool small, std::mt19937_64& random) {
  std::vector<T> table(length);
  for (T& value : table) {
    const uint64_t bits = small ? random() % 200 : random();
    value = std::is_floating_point_v<T> ? static_cast<T>(static_cast<int32_t>(bits) * .25)
                                        : static_cast<T>(bits);
  }
  return table;
}

template <class T>
std::string definition(const char* type, const std::string& name, const std::vector<T>& table) {
  std::string text = std::string("constant ") + type + " " + name + "[] = {";
  for (const T value : table)
    text += (std::is_unsigned_v<T> && sizeof(T) == 8 ? std::to_string(value) + "ul"
                                                     : std::to_string(value)) +
            ", ";
  return text + "};\n";
}

template <class T>
void check(const char* type, bool small = false) {
  std::mt19937_64 random(sizeof(T));
  std::vector<uint32_t> in(items);
  for (uint32_t& x : in) x = static_cast<uint32_t>(random() >> 33);
  std::string source;
  std::vector<std::vector<T>> tables;
  for (const unsigned length : lengths) {
    tables.push_back(randomTable<T>(length, small, random));
    const std::string table = "t" + std::to_string(length);
    source += definition(type, table, tables.back());
    for (unsigned kind = 0; kind < kinds; ++kind)
      source += "kernel void k" + std::to_string(length) + "_" + std::to_string(kind) +
                "(global const uint* in, global " + type + "* out, uint n) { " +
                "uint g = get_global_id(0), x = in[g]; if (x % 7 != 3) out[g] = " + table + "[" +
                indexOf(kind, length).code + "]; }\n";
  }
  constexpr uint32_t n = 5;
  for (const auto form : {Vectorising::automatic, Vectorising::always}) {
    const Program program(source, true, form);
    for (size_t t = 0; t < tables.size(); ++t)
      for (unsigned kind = 0; kind < kinds; ++kind) {
        const Index index = indexOf(kind, lengths[t]);
        std::vector<T> out(items, T{77});
        program.run("k" + std::to_string(lengths[t]) + "_" + std::to_string(kind),
                    {1, {items, 1, 1}, {items, 1, 1}},
                    {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(n)});
        for (uint32_t g = 0; g < items; ++g) {
          const T expected = in[g] % 7 == 3 ? T{77} : tables[t][index.of(in[g], g, n, lengths[t])];
          ASSERT_EQ(out[g], expected)
              << type << " " << lengths[t] << " " << index.code << ", " << g;
        }
      }
  }
}

TEST(TableLoads, OfBytes) { check<uint8_t>("uchar"); }
TEST(TableLoads, OfSignedBytes) { check<int8_t>("char"); }
TEST(TableLoads, OfHalfWords) { check<int16_t>("short"); }
TEST(TableLoads, OfWords) { check<uint32_t>("uint"); }
TEST(TableLoads, OfSmallWords) { check<int32_t>("int", /*small=*/true); }
TEST(TableLoads, OfLongs) { check<uint64_t>("ulong"); }
TEST(TableLoads, OfFloats) { check<float>("float"); }
TEST(TableLoads, OfDoubles) { check<double>("double"); }

TEST(TableLoads, GatherNothing) {
  const std::string text = optimisedText(
      "constant float w[8] = {1, 2, 4, 8, .5f, .25f, 3, 5}; constant uchar b[2][8] = {{1, 2}, {3}};"
      "kernel void k(global const uint* in, global float* out) {"
      "  uint g = get_global_id(0), x = in[g]; out[g] = w[x & 7] * b[x >> 3 & 1][x >> 4 & 7]; }",
      "k", Vectorising::always);
  if (!hostMachine().getTargetTriple().isX86() || text.find("avx") == text.npos)
    GTEST_SKIP() << "nothing permutes here";
  EXPECT_EQ(text.find("gather"), text.npos) << text;
}

// Turn by turn a row that is known, and a literal.
TEST(TableLoads, OfLoopsThroughTables) {
  std::string rows, values;
  for (int i = 0; i < 16 * 64; ++i) rows += std::to_string((i * 37 + i / 64) % 251) + ",";
  for (int i = 0; i < 32; ++i) values += std::to_string((i * 11 + 3) % 32) + ",";
  const std::string text = optimisedText(
      "constant uchar rows[16][64] = {" + rows + "}; constant uchar places[32] = {" + values +
          "};"
          "kernel void k(global const uint* in, global uint* out) {"
          "  uint g = get_global_id(0), x = in[g], y = 0, z = 0;"
          "  for (int r = 0; r < 16; ++r) y = (y << 4) ^ rows[r][(x >> r) & 63];"
          "  for (int b = 0; b < 32; ++b) z |= ((y >> places[b]) & 1) << b;"
          "  out[g] = z; }",
      "k", Vectorising::always);
  if (!hostMachine().getTargetTriple().isX86() || text.find("avx512") == text.npos)
    GTEST_SKIP() << "nothing permutes here";
  EXPECT_EQ(text.find("gather"), text.npos) << text;
  EXPECT_EQ(text.find("@places"), text.npos) << text;
}

}  // namespace
}  // namespace weft::test
