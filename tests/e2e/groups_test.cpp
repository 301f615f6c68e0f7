// Work-groups: local memory, barriers, atomics.
#include <numeric>
#include <random>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class Groups : public Programs {};

constexpr char reduce_source[] =
    "kernel void reduce(global const int* in, global int* out, local int* scratch) {\n"
    "  uint l = get_local_id(0), n = get_local_size(0);\n"
    "  scratch[l] = in[get_global_id(0)];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  while (n > 1) {\n"
    "    uint half_up = (n + 1) / 2;\n"
    "    if (l < n / 2) scratch[l] += scratch[l + half_up];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    n = half_up;\n"
    "  }\n"
    "  if (l == 0) out[get_group_id(0)] = scratch[0];\n"
    "}\n";

TEST_F(Groups, LocalArgumentsAtEverySize) {
  const OwnedKernel reduce = kernel(built(reduce_source), "reduce");
  for (const size_t local : {1, 2, 3, 7, 8, 31, 64, 100, 127, 256}) {
    constexpr size_t groups = 9;
    std::vector<cl_int> values(local * groups);
    std::iota(values.begin(), values.end(), -50);
    const OwnedMem in = upload(values), out = upload(std::vector<cl_int>(groups));
    set(reduce, in, out, Local{local * sizeof(cl_int)});
    run(reduce, {{local * groups}, {local}});
    const auto sums = download<cl_int>(out);
    for (size_t g = 0; g < groups; ++g) {
      const auto* begin = values.data() + g * local;
      EXPECT_EQ(sums[g], std::accumulate(begin, begin + local, 0)) << local << " " << g;
    }
  }
}

TEST_F(Groups, NonUniformGroupsReduceToo) {
  const OwnedKernel reduce = kernel(built(reduce_source, "-cl-std=CL3.0"), "reduce");
  std::vector<cl_int> values(1000);
  std::iota(values.begin(), values.end(), 1);
  const OwnedMem in = upload(values), out = upload(std::vector<cl_int>(16));
  set(reduce, in, out, Local{64 * sizeof(cl_int)});
  run(reduce, {{1000}, {64}});
  const auto sums = download<cl_int>(out);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0), 500500);
  EXPECT_EQ(sums[15], std::accumulate(values.begin() + 960, values.end(), 0));
}

TEST_F(Groups, LocalArgumentsMayBeEmpty) {
  const OwnedProgram program = built(
      "kernel void k(local int* a, global int* out, local int* b) {\n"
      "  if (out[0] < 0) a[0] = 1;\n"
      "  b[get_local_id(0)] = get_local_id(0) * 3; barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  out[get_global_id(0)] = b[get_local_size(0) - 1 - get_local_id(0)]; }");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(4));
  set(k, Local{0}, out, Local{4 * sizeof(cl_int)});
  run(k, {{4}, {4}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{9, 6, 3, 0}));
}

TEST_F(Groups, SeveralLocalArgumentsAndVariablesDoNotOverlap) {
  const OwnedProgram program = built(
      "kernel void k(local char* a, global int* out, local double2* b, local short* c) {\n"
      "  local int d[33]; local long e;\n"
      "  uint l = get_local_id(0);\n"
      "  a[l] = l; b[l] = (double2)(l, -(double)l); c[l] = l * 3; d[l] = l * 5;\n"
      "  if (l == 0) e = 1000;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  uint o = get_local_size(0) - 1 - l;\n"
      "  out[get_global_id(0)] = a[o] + (int)b[o].x - (int)b[o].y + c[o] + d[o] + (int)e;\n"
      "}");
  const OwnedKernel k = kernel(program, "k");
  constexpr size_t local = 33, groups = 20;
  const OwnedMem out = upload(std::vector<cl_int>(local * groups));
  set(k, Local{local}, out, Local{local * 16}, Local{local * 2});
  run(k, {{local * groups}, {local}});
  const auto values = download<cl_int>(out);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto o = static_cast<cl_int>(local - 1 - i % local);
    ASSERT_EQ(values[i], o + 2 * o + 3 * o + 5 * o + 1000) << i;
  }
}

TEST_F(Groups, BarriersInLoopsWithBreakAndContinue) {
  const OwnedProgram program = built(
      "kernel void k(global int* out, int limit) {\n"
      "  local int shared_sum; uint l = get_local_id(0); int mine = 0;\n"
      "  if (l == 0) shared_sum = 0;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  for (int i = 0; ; ++i) {\n"
      "    if (i % 3 == 1) continue;\n"
      "    atomic_add(&shared_sum, i);\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    mine += shared_sum;\n"
      "    int stop = shared_sum > limit;\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    if (stop) break;\n"
      "    if (i > 1000) return;\n"
      "  }\n"
      "  out[get_global_id(0)] = mine;\n"
      "}");
  const OwnedKernel k = kernel(program, "k");
  for (const size_t local : {1, 3, 8, 65}) {
    const OwnedMem out = upload(std::vector<cl_int>(local * 4));
    const cl_int limit = 500;
    set(k, out, limit);
    run(k, {{local * 4}, {local}});
    cl_int sum = 0, mine = 0;
    for (int i = 0;; ++i) {
      if (i % 3 == 1) continue;
      sum += i * static_cast<cl_int>(local);
      mine += sum;
      if (sum > limit) break;
    }
    EXPECT_EQ(download<cl_int>(out), std::vector<cl_int>(local * 4, mine)) << local;
  }
}

TEST_F(Groups, BarriersInFunctionsAndConditions) {
  const OwnedProgram program = built(
      "int rotate_by_one(local int* s, int v) {\n"
      "  uint l = get_local_id(0); s[l] = v; barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  int r = s[(l + 1) % get_local_size(0)]; barrier(CLK_LOCAL_MEM_FENCE); return r; }\n"
      "kernel void k(global int* data, local int* s, int times) {\n"
      "  int v = data[get_global_id(0)];\n"
      "  if (times > 2) { for (int i = 0; i < times; ++i) v = rotate_by_one(s, v); }\n"
      "  else if (get_group_id(0) % 2) v = rotate_by_one(s, v);\n"
      "  data[get_global_id(0)] = v; }");
  const OwnedKernel k = kernel(program, "k");
  constexpr size_t local = 12, groups = 4;
  for (const cl_int times : {1, 5}) {
    std::vector<cl_int> values(local * groups);
    std::iota(values.begin(), values.end(), 0);
    const OwnedMem data = upload(values);
    set(k, data, Local{local * sizeof(cl_int)}, times);
    run(k, {{local * groups}, {local}});
    const auto result = download<cl_int>(data);
    for (size_t i = 0; i < result.size(); ++i) {
      const size_t group = i / local;
      const size_t shift = times > 2 ? static_cast<size_t>(times) : group % 2;
      ASSERT_EQ(result[i], static_cast<cl_int>(group * local + (i + shift) % local)) << i;
    }
  }
}

TEST_F(Groups, GlobalAtomicsFromEveryGroup) {
  const OwnedProgram program = built(
      "kernel void k(global const uint* in, global int* bins, global int* extremes) {\n"
      "  uint v = in[get_global_id(0)];\n"
      "  atomic_inc(&bins[v % 16]); atomic_min(&extremes[0], (int)v);\n"
      "  atomic_max(&extremes[1], (int)v); }");
  const OwnedKernel k = kernel(program, "k");
  std::mt19937 random(7);
  std::vector<cl_uint> values(100000);
  for (cl_uint& v : values) v = random() % 1000000;
  const OwnedMem in = upload(values), bins = upload(std::vector<cl_int>(16)),
                 extremes = upload(std::vector<cl_int>{1 << 30, 0});
  set(k, in, bins, extremes);
  run(k, {{values.size()}, {100}});
  std::vector<cl_int> expected(16);
  for (const cl_uint v : values) ++expected[v % 16];
  EXPECT_EQ(download<cl_int>(bins), expected);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_EQ(download<cl_int>(extremes),
            (std::vector<cl_int>{static_cast<cl_int>(*least), static_cast<cl_int>(*most)}));
}

TEST_F(Groups, TooMuchLocalMemory) {
  const OwnedKernel reduce = kernel(built(reduce_source), "reduce");
  const OwnedMem in = upload(std::vector<cl_int>(4)), out = upload(std::vector<cl_int>(4));
  set(reduce, in, out, Local{deviceInfo<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE) + 1});
  EXPECT_EQ(enqueue(reduce, {{4}, {4}}), CL_OUT_OF_RESOURCES);
}

TEST_F(Groups, LargePrivateArrays) {
  const OwnedProgram program = built(
      "kernel void k(global int* out, int n) {\n"
      "  int big[2000]; uint g = get_global_id(0);\n"
      "  for (int i = 0; i < 2000; ++i) big[i] = i * (int)g;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  int sum = 0; for (int i = 0; i < n; ++i) sum += big[(i * 7) % 2000];\n"
      "  out[g] = sum; }");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(256));
  set(k, out, cl_int{2000});
  run(k, {{256}, {128}});
  const auto values = download<cl_int>(out);
  for (cl_int g = 0; g < 256; ++g) ASSERT_EQ(values[static_cast<size_t>(g)], g * 1999000) << g;
}

}  // namespace
}  // namespace weft::e2e
