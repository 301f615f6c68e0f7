// A lane's accesses to memory that it knows by several names stay in their order.
#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

// Words and halves of the same bytes; places are neighbours only where numbers of 32 bits do not
// wrap, which the loop vectoriser tests at run time.
TEST(LaneOrder, OfPlacesThatMightWrap) {
  const char* source = R"(
    typedef ushort __attribute__((may_alias)) Half;
    typedef uint __attribute__((may_alias)) Word;
    kernel void mix(global const uint* in, global uint* out, local Word* memory) {
      const uint i = get_local_id(1) * get_local_size(0) + get_local_id(0);
      const uint g = get_global_id(1) * get_global_size(0) + get_global_id(0);
      local Half* halves = (local Half*)memory;
      for (int t = 0; t < 8; ++t) memory[i * 8 + t] = in[g + t];
      uint x = in[g] * 3 + memory[i * 8 + 2];
      halves[i * 16 + 9] = x;
      memory[i * 8 + 3] = memory[i * 8 + 4] + 3;
      for (int t = 0; t < 8; ++t) x += memory[i * 8 + t] * (t + 1);
      out[g] = x;
    })";
  constexpr uint64_t width = 64, height = 4, group = 32;
  std::vector<uint32_t> in(width * height + 8);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint32_t>(i * 2654435761U);
  const auto results = [&](const Program& program) {
    std::vector<uint32_t> out(width * height);
    program.run(
        "mix", {2, {width, height, 1}, {group, 2, 1}, {0, 0, 0}},
        {Program::buffer(in.data()), Program::buffer(out.data()), Program::local(group * 2 * 32)});
    return out;
  };
  const auto expected = results(Program(source, false, compiler::Vectorising::never));
  for (const auto mode : {compiler::Vectorising::never, compiler::Vectorising::automatic,
                          compiler::Vectorising::always})
    EXPECT_EQ(results(Program(source, true, mode)), expected) << static_cast<int>(mode);
}

}  // namespace
}  // namespace weft::test
