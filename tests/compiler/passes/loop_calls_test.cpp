// Functions without loops that loops call with constants among what they read.
#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

constexpr int rounds = 60;  // more than LLVM puts in place

// `block` is what the loop writes before it calls twice.
std::string source(const std::string& block) {
  std::string text = R"(
  void mix(const uint* words, uint* state) {
    uint a = state[0], b = state[1], t;
)";
  for (int i = 0; i < rounds; ++i)
    text += "    t = (a << 5 | a >> 27) + (b ^ words[" + std::to_string(i % 8) + "]) + " +
            std::to_string(i * 7919) + "u; b = a << 30 | a >> 2; a = t;\n";
  text += R"(
    state[0] += a;
    state[1] += b;
  }
  kernel void hash(global uint* p, uint turns) {
    const size_t i = get_global_id(0);
    uint state[2] = {p[i], i};
    for (uint turn = 0; turn < turns; ++turn) {
      uint words[8];
)" + block +
          R"(
      mix(words, state);
      mix(words, state);
    }
    p[i] = state[0] ^ state[1];
  })";
  return text;
}

constexpr char constants[] =
    "words[0] = state[0]; words[1] = turn; words[2] = 0x80000000u;"
    "words[3] = 0; words[4] = 0; words[5] = 0; words[6] = 0; words[7] = 64;";
constexpr char loads[] = "for (int k = 0; k < 8; ++k) words[k] = p[(k + turn) & 7];";

std::vector<uint32_t> run(const std::string& text, bool optimise, Vectorising vectorise) {
  constexpr uint64_t size = 96, local = 32;
  std::vector<uint32_t> words(size);
  for (uint64_t i = 0; i < size; ++i) words[i] = static_cast<uint32_t>(i * 2654435761u);
  Program(text, optimise, vectorise)
      .run("hash", {1, {size, 1, 1}, {local, 1, 1}, {0, 0, 0}},
           {Program::buffer(words.data()), Program::value(uint32_t{5})});
  return words;
}

TEST(LoopCalls, ArePutInPlaceWhereTheyReadConstants) {
  const auto calls = [](const std::string& block) {
    return optimisedText(source(block), "hash", Vectorising::never).find("@mix(") !=
           std::string::npos;
  };
  EXPECT_FALSE(calls(constants));
  EXPECT_TRUE(calls(loads));
}

TEST(LoopCalls, GiveWhatTheyWouldHaveAsFunctions) {
  const std::string text = source(constants);
  const std::vector<uint32_t> want = run(text, false, Vectorising::never);
  EXPECT_EQ(run(text, true, Vectorising::never), want);
  EXPECT_EQ(run(text, true, Vectorising::automatic), want);
  EXPECT_EQ(run(text, true, Vectorising::always), want);
}

}  // namespace
}  // namespace weft::test
