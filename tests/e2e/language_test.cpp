// The optional parts of OpenCL C 3.0: one case for each.
#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class Language : public Programs {
 protected:
  OwnedKernel make(const std::string& source, const char* name) const {
    return kernel(built(source, "-cl-std=CL3.0"), name);
  }
};

// Every kind of work-group function, in a loop and out of a function that is not a kernel.
constexpr char collective_source[] =
    "int total(int x) { return work_group_reduce_add(x); }\n"
    "kernel void k(global const int* in, global int* out) {\n"
    "  size_t w = get_global_size(0), h = get_global_size(1);\n"
    "  size_t i = (get_global_id(2) * h + get_global_id(1)) * w + get_global_id(0);\n"
    "  int x = in[i];\n"
    "  global int* o = out + 10 * i;\n"
    "  for (int turn = 0; turn < 3; ++turn) o[turn] = total(x + turn);\n"
    "  o[3] = work_group_scan_inclusive_max(x);\n"
    "  o[4] = work_group_scan_exclusive_add(x);\n"
    "  o[5] = work_group_scan_exclusive_min((uint)x);\n"
    "  o[6] = work_group_broadcast(x, get_local_size(0) - 1, get_local_size(1) - 1, 0);\n"
    "  o[7] = work_group_all(x) * 2 + work_group_any(x == 7);\n"
    "  o[8] = (int)work_group_reduce_min((float)x);\n"
    "  o[9] = (int)work_group_scan_inclusive_add((double)x);\n"
    "}\n";

// The work-items of each group, in the order of their local linear ids.
std::vector<std::vector<size_t>> groupsOf(const std::array<size_t, 3>& global,
                                          const std::array<size_t, 3>& local) {
  std::vector<std::vector<size_t>> groups;
  for (size_t gz = 0; gz < global[2]; gz += local[2])
    for (size_t gy = 0; gy < global[1]; gy += local[1])
      for (size_t gx = 0; gx < global[0]; gx += local[0]) {
        auto& group = groups.emplace_back();
        for (size_t z = gz; z < std::min(gz + local[2], global[2]); ++z)
          for (size_t y = gy; y < std::min(gy + local[1], global[1]); ++y)
            for (size_t x = gx; x < std::min(gx + local[0], global[0]); ++x)
              group.push_back((z * global[1] + y) * global[0] + x);
      }
  return groups;
}

TEST_F(Language, WorkGroupFunctions) {
  const OwnedKernel k = make(collective_source, "k");
  const std::array<size_t, 3> global{21, 6, 5}, local{8, 4, 2};  // groups at the edges are smaller
  const size_t items = global[0] * global[1] * global[2];
  std::vector<cl_int> values(items);
  for (size_t i = 0; i < items; ++i) values[i] = static_cast<cl_int>(i * 7919 % 101);
  const OwnedMem in = upload(values), out = upload(std::vector<cl_int>(items * 10));
  set(k, in, out);
  run(k, {{global.begin(), global.end()}, {local.begin(), local.end()}});
  const auto results = download<cl_int>(out);
  for (const auto& group : groupsOf(global, local)) {
    std::vector<cl_int> mine;
    for (const size_t item : group) mine.push_back(values[item]);
    const cl_int sum = std::accumulate(mine.begin(), mine.end(), 0);
    const auto count = static_cast<cl_int>(mine.size());
    const cl_int all = std::count(mine.begin(), mine.end(), 0) == 0;
    const cl_int any = std::count(mine.begin(), mine.end(), 7) != 0;
    // The source of the broadcast: the last of the first plane.
    const size_t last_x = std::min(local[0], global[0] - group[0] % global[0]);
    const size_t last_y = std::min(local[1], global[1] - group[0] / global[0] % global[1]);
    cl_int before = 0, greatest = mine[0];
    cl_uint least = std::numeric_limits<cl_uint>::max();
    for (size_t lane = 0; lane < group.size(); ++lane) {
      const cl_int x = mine[lane];
      greatest = std::max(greatest, x);
      const cl_int* o = &results[10 * group[lane]];
      const std::vector<cl_int> got(o, o + 10);
      const std::vector<cl_int> expected{sum,
                                         sum + count,
                                         sum + 2 * count,
                                         greatest,
                                         before,
                                         static_cast<cl_int>(least),
                                         mine[last_x * last_y - 1],
                                         all * 2 + any,
                                         *std::min_element(mine.begin(), mine.end()),
                                         before + x};
      ASSERT_EQ(got, expected) << group[lane];
      before += x;
      least = std::min(least, static_cast<cl_uint>(x));
    }
  }
}

TEST_F(Language, GenericPointersTellWhereTheyPoint) {
  const OwnedKernel k = make(
      "constant int table[2] = {1, 2};\n"
      "global int program_scope;\n"
      "int where(int* p) {\n"
      "  int fence = get_fence(p);\n"
      "  return (to_global(p) == p) + 2 * (to_local(p) == p) + 4 * (to_private(p) == p) +\n"
      "         8 * (fence == CLK_GLOBAL_MEM_FENCE) + 16 * (fence == CLK_LOCAL_MEM_FENCE);\n"
      "}\n"
      "kernel void k(global int* out, local int* argument, int n) {\n"
      "  local int variable[4];\n"
      "  int big[512], small[4], kept[4];\n"
      "  for (int i = 0; i < 4; ++i) big[i] = small[i] = kept[i] = n + i;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  int* p[8] = {out, argument, &variable[3], &big[n], &small[n], &kept[n], &program_scope,\n"
      "               argument + 63};\n"
      "  global int* o = out + 8 * get_global_id(0);\n"
      "  for (int i = 0; i < 8; ++i) o[i] = where(p[(i + n) & 7]);\n"
      "}\n",
      "k");
  constexpr size_t items = 64;
  const OwnedMem out = upload(std::vector<cl_int>(items * 8));
  set(k, out, Local{64 * sizeof(cl_int)}, cl_int{0});
  run(k, {{items}, {16}});
  const auto results = download<cl_int>(out);
  constexpr cl_int global = 1 + 8, local = 2 + 16, own = 4;
  const std::vector<cl_int> expected{global, local, local, own, own, own, global, local};
  for (size_t i = 0; i < results.size(); ++i) ASSERT_EQ(results[i], expected[i % 8]) << i;
}

TEST_F(Language, ProgramScopeVariables) {
  const OwnedProgram program = built(
      "global int counter = 40;\n"
      "global int zeros[3];\n"
      "global int* global to_counter = &counter;\n"
      "constant int two = 2;\n"
      "kernel void add() { *to_counter += two; zeros[1] = counter; }\n"
      "kernel void read(global int* out) { out[0] = counter; out[1] = zeros[0]; out[2] = zeros[1]; "
      "}",
      "-cl-std=CL3.0");
  const OwnedMem out = upload(std::vector<cl_int>(3));
  const OwnedKernel add = kernel(program, "add"), read = kernel(program, "read");
  set(read, out);
  run(add, {{1}});
  run(add, {{1}});
  run(read, {{1}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{44, 0, 44}));
  EXPECT_GE(info<size_t>(cl.clGetProgramBuildInfo, cl_program(program), testDevice(),
                         CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE),
            4 * sizeof(cl_int) + sizeof(void*));
}

}  // namespace
}  // namespace weft::e2e
