#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include "compiler/passes/analyses.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using llvm::Function;

NdRange line(uint64_t global, uint64_t local, uint64_t offset = 0) {
  return {1, {global, 1, 1}, {local, 1, 1}, {offset, 0, 0}};
}

// Each property holds with and without optimisation.
class Lowering : public ::testing::TestWithParam<bool> {
 protected:
  Program compile(const std::string& source) const { return Program(source, GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(, Lowering, ::testing::Values(true, false),
                         [](const auto& info) { return info.param ? "optimised" : "plain"; });

TEST_P(Lowering, Saxpy) {
  Program program = compile(R"(
    kernel void saxpy(float a, global const float* x, global float* y) {
      size_t i = get_global_id(0);
      y[i] += a * x[i];
    })");
  for (uint64_t n : {1, 7, 64, 1000}) {
    std::vector<float> x(n), y(n, 1);
    std::iota(x.begin(), x.end(), 0.f);
    program.run("saxpy", line(n, 64),
                {Program::value(2.f), Program::buffer(x.data()), Program::buffer(y.data())});
    for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], 2.f * i + 1) << i;
  }
  EXPECT_EQ(program.info("saxpy").lane_context_bytes, 0u);
  EXPECT_FALSE(program.info("saxpy").has_barriers);
}

TEST_P(Lowering, QueriesInThreeDimensions) {
  Program program = compile(R"(
    kernel void ids(global ulong* out, uint beyond) {
      ulong v[32]; int n = 0;
      size_t place = get_global_linear_id();
      for (uint d = 0; d < 4; ++d) {
        v[n++] = get_global_id(d); v[n++] = get_local_id(d); v[n++] = get_group_id(d);
        v[n++] = get_num_groups(d); v[n++] = get_global_size(d); v[n++] = get_local_size(d);
        v[n++] = get_enqueued_local_size(d);
      }
      v[n++] = get_work_dim(); v[n++] = get_local_linear_id();
      v[n++] = get_global_offset(beyond); v[n++] = get_global_offset(1);
      for (int i = 0; i < 32; ++i) out[place * 32 + i] = v[i];
    })");
  NdRange range{3, {10, 7, 3}, {4, 3, 2}, {100, 200, 300}};
  std::vector<uint64_t> out(10 * 7 * 3 * 32, ~0ull);
  program.run("ids", range, {Program::buffer(out.data()), Program::value(3u)});
  for (uint64_t z = 0; z < 3; ++z)
    for (uint64_t y = 0; y < 7; ++y)
      for (uint64_t x = 0; x < 10; ++x) {
        const uint64_t* v = &out[((z * 7 + y) * 10 + x) * 32];
        uint64_t at[] = {x, y, z}, size[3], local[3];
        for (int d = 0; d < 3; ++d) {
          local[d] = at[d] % range.local[d];
          uint64_t first = at[d] - local[d];
          size[d] = std::min(range.local[d], range.global[d] - first);
          const uint64_t want[] = {
              at[d] + range.offset[d], local[d],
              first / range.local[d],  (range.global[d] + range.local[d] - 1) / range.local[d],
              range.global[d],         size[d],
              range.local[d]};
          for (int i = 0; i < 7; ++i)
            ASSERT_EQ(v[d * 7 + i], want[i]) << "d " << d << " query " << i;
        }
        const uint64_t outside[] = {0, 0, 0, 1, 1, 1, 1};
        for (int i = 0; i < 7; ++i) ASSERT_EQ(v[21 + i], outside[i]);
        ASSERT_EQ(v[28], 3u);
        ASSERT_EQ(v[29], (local[2] * size[1] + local[1]) * size[0] + local[0]);
        ASSERT_EQ(v[30], 0u);
        ASSERT_EQ(v[31], 200u);
      }
}

TEST_P(Lowering, BarrierInFunctionAndLoop) {
  Program program = compile(R"(
    int total(local int* scratch, int v) {
      uint l = get_local_id(0);
      scratch[l] = v;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (uint s = 1; s < get_local_size(0); s *= 2) {
        int other = l + s < get_local_size(0) ? scratch[l + s] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l % (2 * s) == 0) scratch[l] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      return scratch[0];
    }
    kernel void sums(global const int* in, global int* out, local int* scratch) {
      out[get_global_id(0)] = total(scratch, in[get_global_id(0)]);
    })");
  for (uint64_t local : {1, 3, 16, 37, 64, 100}) {
    uint64_t n = 200;
    std::vector<int> in(n), out(n, -1);
    for (uint64_t i = 0; i < n; ++i) in[i] = static_cast<int>(i * i % 31);
    program.run(
        "sums", line(n, local),
        {Program::buffer(in.data()), Program::buffer(out.data()), Program::local(local * 4)});
    for (uint64_t i = 0; i < n; ++i) {
      uint64_t first = i / local * local;
      int want = std::accumulate(in.begin() + first, in.begin() + std::min(n, first + local), 0);
      ASSERT_EQ(out[i], want) << "local size " << local << ", item " << i;
    }
  }
  EXPECT_TRUE(program.info("sums").has_barriers);
}

TEST_P(Lowering, EarlyReturnBeforeBarrier) {
  Program program = compile(R"(
    kernel void shift(global const int* in, global int* out, int n) {
      local int tile[64];
      int i = get_global_id(0), l = get_local_id(0);
      if (i >= n) return;
      int keep = in[i] * 3;
      tile[l] = keep;
      barrier(CLK_LOCAL_MEM_FENCE);
      out[i] = keep + (l ? tile[l - 1] : 0);
    })");
  for (int n : {0, 1, 63, 64, 65, 130}) {
    std::vector<int> in(256), out(256, -1);
    std::iota(in.begin(), in.end(), 5);
    program.run("shift", line(256, 64),
                {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(n)});
    for (int i = 0; i < 256; ++i)
      ASSERT_EQ(out[i], i >= n ? -1 : in[i] * 3 + (i % 64 ? in[i - 1] * 3 : 0)) << n << " " << i;
  }
  EXPECT_EQ(program.info("shift").local_bytes, 256u);
}

TEST_P(Lowering, BreakInBarrierLoop) {
  Program program = compile(R"(
    kernel void k(global int* out, int stop, int limit) {
      local int shared;
      int sum = 0;
      for (int i = 0; i < limit; ++i) {
        if (get_local_id(0) == 0) shared = i;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += shared + get_local_id(0);
        if (shared == stop) break;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (shared == 2 * stop) { out[get_global_id(0)] = -7; return; }
      }
      out[get_global_id(0)] = sum;
    })");
  std::vector<int> out(50, -1);
  program.run("k", line(50, 20),
              {Program::buffer(out.data()), Program::value(4), Program::value(10)});
  for (int i = 0; i < 50; ++i) ASSERT_EQ(out[i], 10 + 5 * (i % 20));
}

TEST_P(Lowering, StructArgumentWritten) {
  Program program = compile(R"(
    typedef struct { int a; float b[5]; long c; } S;
    kernel void k(global float* out, S s, S r, float3 v) {
      s.a += get_local_id(0);
      s.b[s.a % 5] += 100;
      barrier(CLK_GLOBAL_MEM_FENCE);
      out[get_global_id(0)] = s.b[s.a % 5] + r.b[2] + v.z + s.c;
    })");
  struct S {
    int a;
    float b[5];
    int64_t c;
  } s{3, {1, 2, 3, 4, 5}, 1000}, r{0, {0, 0, 7, 0, 0}, 0};
  struct alignas(16) Float3 {
    float x, y, z;
  } v{1, 2, 0.5f};
  std::vector<float> out(40, -1);
  program.run(
      "k", line(40, 16),
      {Program::buffer(out.data()), Program::value(s), Program::value(r), Program::value(v)});
  for (int i = 0; i < 40; ++i) ASSERT_EQ(out[i], s.b[(3 + i % 16) % 5] + 100 + 7 + 0.5f + 1000);
}

TEST_P(Lowering, PrivateArrayAcrossBarrier) {
  Program program = compile(R"(
    kernel void k(global int* out, int n) {
      int a[16];
      for (int i = 0; i < 16; ++i) a[i] = i * get_global_id(0);
      barrier(CLK_LOCAL_MEM_FENCE);
      int s = 0;
      for (int i = 0; i < n; ++i) s += a[(i * 7) & 15];
      out[get_global_id(0)] = s;
    }
    kernel void big(global int* out, int n) {
      int a[4096];
      for (int i = 0; i < n; ++i) a[i] = i ^ get_global_id(0);
      int s = 0;
      for (int i = 0; i < n; ++i) s += a[(i * 7) % n];
      out[get_global_id(0)] = s;
    })");
  std::vector<int> out(30), big(30);
  program.run("k", line(30, 8), {Program::buffer(out.data()), Program::value(10)});
  program.run("big", line(30, 8), {Program::buffer(big.data()), Program::value(1000)});
  for (int g = 0; g < 30; ++g) {
    int want = 0, want_big = 0;
    for (int i = 0; i < 10; ++i) want += ((i * 7) & 15) * g;
    for (int i = 0; i < 1000; ++i) want_big += ((i * 7) % 1000) ^ g;
    ASSERT_EQ(out[g], want);
    ASSERT_EQ(big[g], want_big);
  }
  EXPECT_LT(program.info("big").stack_bytes, 1024u);
  EXPECT_GE(program.info("big").private_bytes, 16384u);
}

TEST_P(Lowering, KernelCalledFromKernel) {
  Program program = compile(R"(
    kernel void inner(global int* out, int v) {
      local int t[64];
      t[get_local_id(0)] = v;
      barrier(CLK_LOCAL_MEM_FENCE);
      out[get_global_id(0)] += t[get_local_size(0) - 1 - get_local_id(0)];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    kernel void outer(global int* out) {
      inner(out, get_global_id(0));
      inner(out, 1);
    })");
  std::vector<int> out(32, 0);
  program.run("outer", line(32, 16), {Program::buffer(out.data())});
  for (int i = 0; i < 32; ++i) ASSERT_EQ(out[i], i / 16 * 16 + 15 - i % 16 + 1);
  program.run("inner", line(32, 16), {Program::buffer(out.data()), Program::value(5)});
  ASSERT_EQ(out[3], 12 + 1 + 5);
}

// No place of a local variable may be left that is not the work-group's own: those of other threads
// would see it.
TEST_P(Lowering, LocalVariablesBelongToTheGroup) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = compileOpenCl(context, R"(
    typedef struct { ulong a[3], b[3]; } pair;
    void fill(local pair* both) {
      both->a[1] = get_global_id(0);
      both->b[2] = get_group_id(0);
    }
    kernel void fields(global ulong* out) {
      local pair both;
      if (get_local_id(0) == 0) fill(&both);
      barrier(CLK_LOCAL_MEM_FENCE);
      out[get_global_id(0)] = both.a[1] + both.b[2];
    })");
  // As the front end leaves it: then inlining makes constants of the fields' addresses.
  compiler::Analyses analyses(hostMachine());
  for (Function& function : *module)
    if (!function.isDeclaration()) llvm::PromotePass().run(function, analyses.functions);
  std::vector<KernelInfo> kernels = describeKernels(*module);
  llvm::Error error =
      compiler::lowerKernels(*module, hostMachine(), kernels, {.optimize = GetParam()});
  ASSERT_FALSE(error) << llvm::toString(std::move(error));
  EXPECT_EQ(kernels.front().local_bytes, 6 * sizeof(uint64_t));
  constexpr unsigned local_space = 3;
  for (llvm::GlobalVariable& variable : module->globals())
    EXPECT_TRUE(variable.getAddressSpace() != local_space || variable.use_empty())
        << variable.getName().str();
}

TEST_P(Lowering, GroupsOfOneWaitForNobody) {
  Program program = compile(R"(
    kernel __attribute__((reqd_work_group_size(1, 1, 1)))
    void running(global const int* in, global int* out, int count) {
      local int tile[4];
      int sums[4] = {0};
      for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 4; ++k) tile[k] = in[(get_group_id(0) + i) * 4 + k];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 4; ++k) sums[k] += tile[k] * tile[3 - k];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      for (int k = 0; k < 4; ++k) out[get_group_id(0) * 4 + k] = sums[k];
    })");
  EXPECT_FALSE(program.info("running").has_barriers);
  EXPECT_EQ(program.info("running").lane_context_bytes, 0u);
  constexpr int groups = 9, count = 5;
  std::vector<int> in((groups + count) * 4), out(groups * 4);
  std::iota(in.begin(), in.end(), 3);
  program.run("running", line(groups, 1),
              {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(count)});
  for (int i = 0; i < groups * 4; ++i) {
    int sum = 0;
    for (int turn = 0; turn < count; ++turn)
      sum += in[(i / 4 + turn) * 4 + i % 4] * in[(i / 4 + turn) * 4 + 3 - i % 4];
    ASSERT_EQ(out[i], sum) << i;
  }
}

// Rows of a required size are whole vectors, but for the last groups of a range they need not
// divide.
TEST(RequiredSize, LeavesNoFormForWhatIsLeft) {
  if (!hostMachine().getTargetFeatureString().contains("+avx2")) GTEST_SKIP() << "has no tails";
  const auto hasTail = [](const std::string& attribute, const std::string& options) {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module =
        compileOpenCl(context, "kernel " + attribute + R"( void k(global float* a, local float* l) {
          l[get_local_id(0)] = a[get_global_id(0)];
          barrier(CLK_LOCAL_MEM_FENCE);
          float x = l[get_local_id(0)];
          while (x > 1) x = x * 0.5f - 0.125f;
          a[get_global_id(0)] = x;
        })",
                      options);
    std::vector<KernelInfo> kernels = describeKernels(*module);
    llvm::Error error = compiler::lowerKernels(*module, hostMachine(), kernels, {.optimize = true});
    EXPECT_FALSE(error) << llvm::toString(std::move(error));
    return llvm::any_of(*module, [](const Function& f) { return f.getName().contains("tail"); });
  };
  const std::string required = "__attribute__((reqd_work_group_size(32, 1, 1)))";
  EXPECT_FALSE(hasTail(required, "-cl-uniform-work-group-size"));
  EXPECT_TRUE(hasTail(required, ""));
  EXPECT_TRUE(hasTail("", "-cl-uniform-work-group-size"));
}

// Each calls the next one twice: the ways through them are 2^40.
TEST(LoweringTime, ManyWaysThroughTheCalls) {
  std::string source =
      "__attribute__((noinline)) int f0(int x) { int a[8]; a[x & 7] = x; return a[3]; }";
  for (int i = 1; i <= 40; ++i) {
    const std::string before = "f" + std::to_string(i - 1);
    source += "__attribute__((noinline)) int f" + std::to_string(i) + "(int x) { return " + before +
              "(x + 1) ^ " + before + "(x * 3); }";
  }
  source += "kernel void k(global int* out, int x) { if (x) out[0] = f40(x); }";
  EXPECT_GE(loweredKernels(source, /*optimize=*/false).at(0).stack_bytes, 32u);
}

TEST(LoweringErrors, Recursion) {
  llvm::LLVMContext context;
  auto module = compileOpenCl(context, R"(
    int f(int n) { return n ? f(n - 1) + get_global_id(0) : 0; }
    kernel void k(global int* out) { out[0] = f(out[1]); })");
  std::vector<KernelInfo> kernels = describeKernels(*module);
  llvm::Error error = compiler::lowerKernels(*module, hostMachine(), kernels, {});
  ASSERT_TRUE(bool(error));
  EXPECT_EQ(llvm::toString(std::move(error)),
            "recursion is not supported: function 'f' calls itself");
}

}  // namespace
}  // namespace weft::test
