// Pairs of work-groups that run together: what they share is done once, and each gets what it would
// have got by itself.
#include <gtest/gtest.h>
#include <llvm/IR/Instructions.h>

#include "tests/compiler/passes/kernel_jit.h"
#include "tests/compiler/passes/random_runs.h"
#include "tests/compiler/passes/random_tiles.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

const char* const products = R"(
  #define TILE 16
  kernel void tiled(global const int* a, global const int* b, global int* c, int n) {
    local int left[TILE][TILE], right[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_global_id(0) - get_global_offset(0);
    const int row = get_global_id(1) - get_global_offset(1);
    int sum = 0;
    for (int first = 0; first < n; first += TILE) {
      for (int i = x; i < TILE; i += get_local_size(0))
        left[y][i] = a[row * n + first + i];
      for (int i = y; i < TILE; i += get_local_size(1))
        right[i][x] = b[(first + i) * n + column];
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < TILE; ++k) sum = 3 * sum + left[y][k] * right[k][x];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
  }
  kernel void textbook(global const int* a, global const int* b, global int* c, int n) {
    local int left[TILE][TILE], right[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_global_id(0), row = get_global_id(1);
    int sum = 0;
    for (int first = 0; first < n; first += TILE) {
      left[y][x] = a[row * n + first + x];
      right[y][x] = b[(first + y) * n + column];
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < TILE; ++k) sum = 3 * sum + left[y][k] * right[k][x];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
  }
)";

// Each puts into `out` what tells its groups apart; `n` is 3.
const char* const others = R"(
  // What is in `mine` and what is read of `both` depends on the group.
  kernel void everything(global ulong* out, global const uint* in, local uint* both, int n) {
    local ulong mine[256];
    local uint spare[256];
    const uint lane = get_local_linear_id(), size = get_local_size(0) * get_local_size(1);
    ulong sum = 0;
    for (uint d = 0; d < 3; ++d)
      sum = sum * 31 + get_global_id(d) + 2 * get_local_id(d) + 3 * get_group_id(d) +
            5 * get_num_groups(d) + 7 * get_global_size(d) + 11 * get_local_size(d) +
            13 * get_enqueued_local_size(d) + 17 * get_global_offset(d);
    mine[lane] = sum;
    both[lane] = in[lane];
    spare[lane] = in[lane + 1];
    for (int turn = 0; turn < n; ++turn) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint at = (lane + turn + get_group_id(0)) % size;
      sum = sum * 31 + mine[(lane + turn) % size] + both[at] * spare[(at + 1) % size];
      barrier(CLK_LOCAL_MEM_FENCE);
      mine[lane] = sum;
    }
    const size_t row = get_global_id(1) - get_global_offset(1);
    out[row * get_global_size(0) + get_global_id(0) - get_global_offset(0)] =
        sum + get_global_linear_id();
  }
  // Rows of work-items part, each to a barrier of its own.
  kernel void parted(global ulong* out, global const uint* in, local uint* both, int n) {
    local uint mine[256];
    const uint lane = get_local_linear_id();
    mine[lane] = get_group_id(0) + lane;
    ulong sum = in[lane];
    if (get_local_id(1) < n - 1) {
      barrier(CLK_LOCAL_MEM_FENCE);
      sum = 5 * sum + mine[lane];
    } else {
      barrier(CLK_LOCAL_MEM_FENCE);
      sum = 7 * sum + 2 * mine[lane];
    }
    const size_t row = get_global_id(1) - get_global_offset(1);
    out[row * get_global_size(0) + get_global_id(0) - get_global_offset(0)] = sum;
  }
)";

const char* const refused = R"(
  #define START                                                          \
    local int tile[256];                                                 \
    const int lane = get_local_linear_id(), id = get_global_id(0);       \
    tile[lane] = in[lane];                                               \
    barrier(CLK_LOCAL_MEM_FENCE);                                        \
    int sum = 0;                                                         \
    for (int k = 0; k < 16; ++k) sum += tile[k] * in[id + k];
  #define PARAMETERS global int* out, global const int* in, volatile global int* seen
  kernel void allowed(PARAMETERS) { START out[id] = sum; }
  kernel void early(PARAMETERS) { START if (id < 1000) out[id] = sum; }
  kernel void loops(PARAMETERS) { START for (int i = 0; i < id; ++i) sum = sum * 3 + 1; out[id] = sum; }
  kernel void watched(PARAMETERS) { START out[id] = sum + seen[id]; }
  kernel void counted(PARAMETERS) { START atomic_add(seen, sum); }
  kernel void counted_here(PARAMETERS) { START atomic_add(&tile[0], sum); out[id] = tile[lane]; }
  kernel void printed(PARAMETERS) { START printf("%d\n", sum); }
  kernel void ordered(PARAMETERS) { START out[id] = sum; atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); }
  kernel void argument(PARAMETERS, local int* own) {
    START own[lane] = id; barrier(CLK_LOCAL_MEM_FENCE); out[id] = sum + own[lane ^ 1];
  }
  kernel void shared_argument(PARAMETERS, local int* own) {
    START own[lane] = sum = in[lane]; barrier(CLK_LOCAL_MEM_FENCE); out[id] = sum + own[lane ^ 1];
  }
  kernel void kept(PARAMETERS) { START local int* volatile place = tile + sum; out[id] = *place; }
  kernel void anywhere(PARAMETERS) { START int* place = lane > 3 ? (int*)tile : (int*)out; out[id] = place[sum]; }
  kernel void folded(PARAMETERS) { START out[id] = work_group_reduce_add(sum); }
  kernel void in_sub_groups(PARAMETERS) { START out[id] = sub_group_reduce_add(sum); }
)";

bool isJoint(const std::string& source, const std::string& kernel, Vectorising vectorise) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = compileOpenCl(context, source);
  std::vector<KernelInfo> infos = describeKernels(*module);
  if (llvm::Error error =
          compiler::lowerKernels(*module, hostMachine(), infos, {true, vectorise})) {
    ADD_FAILURE() << llvm::toString(std::move(error));
    return false;
  }
  return module->getFunction("weft_joint." + kernel) != nullptr;
}

TEST(JointGroups, AreThoseOfKernelsThatGain) {
  EXPECT_TRUE(isJoint(products, "textbook", Vectorising::automatic));
  EXPECT_FALSE(isJoint(products, "textbook", Vectorising::never));
  EXPECT_FALSE(isJoint(others, "parted", Vectorising::automatic)) << "nothing shared in a loop";
  EXPECT_FALSE(isJoint(refused, "allowed", Vectorising::automatic)) << "groups of one row";
}

TEST(JointGroups, AreRefusedWhereTheyMightTell) {
  for (const char* kernel : {"allowed", "shared_argument"})
    EXPECT_TRUE(isJoint(refused, kernel, Vectorising::always)) << kernel;
  for (const char* kernel : {"early", "loops", "watched", "counted", "counted_here", "printed",
                             "ordered", "argument", "kept", "anywhere", "folded", "in_sub_groups"})
    EXPECT_FALSE(isJoint(refused, kernel, Vectorising::always)) << kernel;
}

std::vector<int> numbers(size_t count, unsigned factor) {
  std::vector<int> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = static_cast<int>((i * factor >> 4) % 1000);
  return result;
}

std::vector<int> product(const std::vector<int>& a, const std::vector<int>& b, size_t n) {
  std::vector<int> c(n * n);
  for (size_t row = 0; row < n; ++row)
    for (size_t column = 0; column < n; ++column) {
      unsigned sum = 0;
      for (size_t k = 0; k < n; ++k)
        sum = 3 * sum + static_cast<unsigned>(a[row * n + k] * b[k * n + column]);
      c[row * n + column] = static_cast<int>(sum);
    }
  return c;
}

// One group, whole pairs, one more than these; shorter and longer rows than a vector.
TEST(JointGroups, Product) {
  const Program automatic(products), forced(products, true, Vectorising::always);
  for (const size_t n : {16u, 32u, 48u, 80u}) {
    const std::vector<int> a = numbers(n * n, 2654435761u), b = numbers(n * n, 40503);
    const std::vector<int> want = product(a, b, n);
    for (const std::array<uint64_t, 3>& local : std::vector<std::array<uint64_t, 3>>{
             {16, 16, 1}, {8, 16, 1}, {16, 8, 1}, {4, 4, 1}, {1, 16, 1}, {16, 1, 1}})
      for (const Program* program : {&automatic, &forced}) {
        std::vector<int> c(n * n, -1);
        program->run("tiled", {2, {n, n, 1}, local, {40, 1000, 0}},
                     {Program::buffer(a.data()), Program::buffer(b.data()),
                      Program::buffer(c.data()), Program::value(static_cast<int>(n))});
        ASSERT_EQ(c, want) << n << " in groups of " << local[0] << "x" << local[1];
      }
  }
}

// A kernel of a required size may have its rows in the other dimension, where no pairs lie.
TEST(JointGroups, RequiredSizes) {
  for (const std::array<uint64_t, 3>& local :
       std::vector<std::array<uint64_t, 3>>{{17, 4, 1}, {4, 17, 1}, {16, 4, 1}, {16, 16, 1}}) {
    const std::string size = std::to_string(local[0]) + ", " + std::to_string(local[1]) + ", 1";
    const Program forced("kernel __attribute__((reqd_work_group_size(" + size +
                             "))) void f(global ulong* out) {\n  barrier(CLK_LOCAL_MEM_FENCE);\n  "
                             "out[get_global_id(1) * "
                             "get_global_size(0) + get_global_id(0)] = get_group_id(1) * 1000 + "
                             "get_group_id(0) * 100 + get_local_id(0); }",
                         true, Vectorising::always);
    const std::array<uint64_t, 3> global{4 * local[0], 2 * local[1], 1};
    std::vector<uint64_t> out(global[0] * global[1], 1);
    forced.run("f", {2, global, local, {0, 0, 0}}, {Program::buffer(out.data())});
    for (uint64_t i = 0; i < out.size(); ++i) {
      const uint64_t x = i % global[0], y = i / global[0];
      ASSERT_EQ(out[i], y / local[1] * 1000 + x / local[0] * 100 + x % local[0]) << size;
    }
  }
}

// A launch may be cut anywhere: every box of groups writes its part of the result and no other.
TEST(JointGroups, Slices) {
  constexpr size_t n = 80, groups = n / 16;
  const Program automatic(products), forced(products, true, Vectorising::always);
  const std::vector<int> a = numbers(n * n, 2654435761u), b = numbers(n * n, 40503);
  const std::vector<int> want = product(a, b, n);
  for (uint64_t begin = 0; begin < groups; ++begin)
    for (uint64_t end = begin; end <= groups; ++end) {
      std::vector<int> c(n * n, -1);
      const port::GroupBox box{{begin, 1, 0}, {end, 4, 1}};
      const Program& program = (begin + end) % 2 ? automatic : forced;
      program.run("textbook", {2, {n, n, 1}, {16, 16, 1}, {0, 0, 0}},
                  {Program::buffer(a.data()), Program::buffer(b.data()), Program::buffer(c.data()),
                   Program::value(static_cast<int>(n))},
                  &box);
      for (size_t i = 0; i < c.size(); ++i) {
        const size_t x = i % n / 16, y = i / n / 16;
        const bool inside = x >= begin && x < end && y >= 1 && y < 4;
        ASSERT_EQ(c[i], inside ? want[i] : -1) << begin << " to " << end << " at " << i;
      }
    }
}

// What the group is asked for, local memory of its own and in common, ragged edges.
TEST(JointGroups, TellTheirGroups) {
  const std::vector<int> in = numbers(300, 40503);
  const Program scalar(others, true, Vectorising::never);
  const Program forced(others, true, Vectorising::always),
      plain(others, false, Vectorising::always);
  for (const char* kernel : {"everything", "parted"}) {
    EXPECT_TRUE(isJoint(others, kernel, Vectorising::always)) << kernel;
    for (const std::array<uint64_t, 3>& global : std::vector<std::array<uint64_t, 3>>{
             {64, 8, 1}, {48, 8, 1}, {65, 9, 1}, {79, 3, 1}, {16, 16, 1}, {7, 3, 1}})
      for (const std::array<uint64_t, 3>& local :
           std::vector<std::array<uint64_t, 3>>{{16, 4, 1}, {20, 3, 1}, {5, 4, 1}, {1, 1, 1}}) {
        const auto run = [&](const Program& program) {
          std::vector<uint64_t> out(global[0] * global[1], 1);
          program.run(kernel, {2, global, local, {3, 1000, 0}},
                      {Program::buffer(out.data()), Program::buffer(in.data()),
                       Program::local(1024), Program::value(3)});
          return out;
        };
        const std::vector<uint64_t> want = run(scalar);
        for (const Program* program : {&forced, &plain})
          ASSERT_EQ(run(*program), want) << kernel << " of " << global[0] << "x" << global[1]
                                         << " in groups of " << local[0] << "x" << local[1];
      }
  }
}

TEST(JointGroups, RandomKernelsForced) {
  compareRandomKernels(randomTiles, false, Vectorising::always);
}
TEST(JointGroups, RandomKernelsOptimised) {
  compareRandomKernels(randomTiles, true, Vectorising::always);
}

// Many of these kernels must be able to run that way, or the tests above say nothing.
TEST(JointGroups, RandomKernelsHaveThem) {
  unsigned joint = 0;
  for (uint64_t seed = 1; seed <= 16; ++seed)
    joint += isJoint(randomTiles("k", seed), "k", Vectorising::always);
  std::printf("%u of 16 kernels have joint groups\n", joint);
  EXPECT_GE(joint, 8u);
}

}  // namespace
}  // namespace weft::test
