// Pointers that loops with barriers move on by as much for all lanes.
#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

// Pointers that a loop with barriers advances, and a number; by steps that are the same for all
// work-items, but for the last one.
const char* const advancing = R"(
  kernel void advanced(global const int* a, global int* out, local int* tile, int pitch, int n) {
    const int lane = get_local_id(0);
    a += get_group_id(0) * 100 + lane;
    global int* to = out + get_global_id(0);
    int sum = 0, place = 3 * lane;
    for (int i = 0; i < n; ++i) {
      tile[lane] = a[0] - a[2 * pitch] + place;
      a += pitch;
      barrier(CLK_LOCAL_MEM_FENCE);
      sum = 3 * sum + tile[lane ^ 1] + a[0] + tile[place % 16];
      a += 2 * pitch;
      place += pitch + 1;
      barrier(CLK_LOCAL_MEM_FENCE);
      *to = sum;
      to += get_global_size(0);
    }
  }
  kernel void nested(global const int* a, global int* out, local int* tile, int pitch, int n) {
    const int lane = get_local_id(0);
    a += get_global_id(0);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      global const int* inner = a;
      for (int j = 0; j < n; ++j) {
        tile[lane] = *inner;
        inner += pitch;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum = 3 * sum + tile[lane ^ 1] + *inner;
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      a += 2 * pitch;
    }
    out[get_global_id(0)] = sum;
  }
  kernel void parted(global const int* a, global int* out, local int* tile, int pitch, int n) {
    const int lane = get_local_id(0);
    a += get_global_id(0);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      tile[lane] = *a;
      barrier(CLK_LOCAL_MEM_FENCE);
      sum += tile[lane ^ 1];
      a += lane % 3;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
  }
  kernel void within(global const int* a, global int* out, local int* tile, int pitch, int n) {
    const int lane = get_local_id(0);
    a += get_global_id(0);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      tile[lane] = *a;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int j = 1; j < n; ++j, a += j) {
        sum = 3 * sum + *a * tile[lane ^ 1];
        for (int k = 0; k < i; a += pitch + k, ++k) sum += *a;
      }
      a += pitch;
      for (int j = 0; j < i; ++j, --a) sum -= *a;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
  }
  kernel void parted_within(global const int* a, global int* out, local int* tile, int pitch,
                            int n) {
    const int lane = get_local_id(0);
    a += get_global_id(0);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      tile[lane] = *a;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int j = 0; j <= lane % 5; ++j) sum = 3 * sum + *(a += j) * tile[lane ^ 1];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
  })";

TEST(AdvancingPointers, AreWhereTheyWere) {
  constexpr int groups = 3, size = 48, pitch = 7, turns = 9;
  std::vector<int> in(4000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 1013);
  for (const char* const name : {"advanced", "nested", "parted", "within", "parted_within"}) {
    const auto run = [&](bool optimize, Vectorising vectorise) {
      std::vector<int> out(groups * size * turns);
      Program(advancing, optimize, vectorise)
          .run(name, {1, {groups * size, 1, 1}, {size, 1, 1}, {0, 0, 0}},
               {Program::buffer(in.data()), Program::buffer(out.data()), Program::local(4 * size),
                Program::value(pitch), Program::value(turns)});
      return out;
    };
    const std::vector<int> want = run(false, Vectorising::never);
    EXPECT_EQ(run(true, Vectorising::never), want) << name;
    EXPECT_EQ(run(true, Vectorising::automatic), want) << name;
    EXPECT_EQ(run(true, Vectorising::always), want) << name;
  }
}

TEST(AdvancingPointers, LoadWholeVectors) {
  const char* const products = R"(
    kernel void product(global const float* a, global const float* b, global float* c, int pitch,
                        int n) {
      local float shared[16];
      const int lane = get_local_id(0);
      a += get_group_id(0) * 16 + lane;
      b += lane;
      float sum = 0;
      for (int i = 0; i < n; ++i) {
        shared[lane] = *b;
        b += pitch;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += a[0] * shared[0] + a[pitch] * shared[1];
        a += 2 * pitch;
        sum += *a * shared[2];
        a += pitch;
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      c[get_global_id(0)] = sum;
    }
    kernel void within(global const float* a, global const float* b, global float* c, int pitch,
                       int n) {
      local float shared[16];
      const int lane = get_local_id(0);
      a += get_group_id(0) * 16 + lane;
      b += lane;
      float sum = 0;
      for (int i = 0; i < n; ++i, b += pitch) {
        shared[lane] = *b;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < pitch; ++j, a += pitch) sum += *a * shared[j];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      c[get_global_id(0)] = sum;
    })";
  for (const char* const name : {"product", "within"})
    EXPECT_EQ(optimisedText(products, name).find("masked.gather"), std::string::npos) << name;
}

}  // namespace
}  // namespace weft::test
