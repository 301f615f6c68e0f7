// Functions that ask for ids and stay functions.
#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

// One function that asks is called by another one that asks, that one in many places; one more has
// a barrier, and one asks in a dimension that only the caller knows.
std::string source(const char* attribute, int calls, bool meeting) {
  std::string text = std::string("#define STAYS ") + attribute + R"(
  STAYS int inner(global int* p, int x) {
    const int id = get_global_id(0);
    for (int i = 0; i < (x & 3); ++i) {
      x = x * 5 + p[(id + i) % get_global_size(0)];
      x ^= (int)get_local_size(0) << (i & 7);
      x += id % 3 ? x >> 3 : (int)get_group_id(0);
      x -= p[x & 15] + (int)get_work_dim();
    }
    return x;
  }
  STAYS int outer(global int* p, int x) {
    if (get_local_id(0) % 3 == 1) return inner(p, x + 1);
    return inner(p, x) ^ (int)get_local_linear_id();
  }
  STAYS int meet(local int* shared, int x) {
    const int lane = get_local_id(0);
    shared[lane] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    x += shared[(lane + 1) % get_local_size(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    return x;
  }
  STAYS int somewhere(int x, int d) { return x + (int)get_global_id(d) + (int)get_local_size(d); }
  kernel void many(global int* p, global int* out, local int* shared) {
    int x = out[get_global_id(0)];
)";
  for (int i = 0; i < calls; ++i) {
    text += "    x = outer(p, x + " + std::to_string(i) + ");\n";
    text +=
        meeting && i % 40 == 0 ? "    x = meet(shared, x);\n" : "    x = somewhere(x, x & 3);\n";
  }
  return text + "    out[get_global_id(0)] = x;\n  }\n";
}

std::vector<int> run(const std::string& text, bool optimise, Vectorising vectorise) {
  constexpr uint64_t size = 96, local = 32;
  std::vector<int> in(size), out(size);
  for (uint64_t i = 0; i < size; ++i) {
    in[i] = static_cast<int>(i * 37 % 101);
    out[i] = static_cast<int>(i * i);
  }
  Program(text, optimise, vectorise)
      .run("many", {1, {size, 1, 1}, {local, 1, 1}, {0, 0, 0}},
           {Program::buffer(in.data()), Program::buffer(out.data()), Program::local(4 * local)});
  return out;
}

constexpr char stays[] = "__attribute__((noinline))";

TEST(HoistedQueries, GiveWhatTheFunctionWouldHaveAsked) {
  const std::vector<int> want = run(source("", 160, true), false, Vectorising::never);
  const std::string text = source(stays, 160, true);
  EXPECT_EQ(run(text, false, Vectorising::never), want);
  EXPECT_EQ(run(text, true, Vectorising::never), want);
  EXPECT_EQ(run(text, true, Vectorising::automatic), want);
  EXPECT_EQ(run(text, true, Vectorising::always), want);
}

TEST(HoistedQueries, FunctionsStayWhereTheyWouldBecomeMuchCode) {
  const auto calls = [](int count) {
    const std::string text = optimisedText(source(stays, count, false), "many");
    return text.find("@inner(") != std::string::npos;
  };
  EXPECT_TRUE(calls(160));
  EXPECT_FALSE(calls(2));
}

}  // namespace
}  // namespace weft::test
