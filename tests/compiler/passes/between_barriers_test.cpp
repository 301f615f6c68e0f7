// What lies between two barriers: what is left to one lane, and short code that becomes vectors.
#include <algorithm>
#include <regex>
#include <stdexcept>

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "compiler/passes/kernel_body.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/regions.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

const char* const turns = R"(
  kernel void turns(global int* out, local int* old, local int* now, int count) {
    const int lane = get_local_id(0), lanes = get_local_size(0);
    old[lane] = now[lane] = lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < count; ++i) {
      now[lane] = old[(lane + 1) % lanes] + i;
      barrier(CLK_LOCAL_MEM_FENCE);
      local int* const free = old;
      old = now;
      now = free;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = old[lane];
  })";

// Which regions of the first kernel run once for all lanes, and what a lane keeps between regions.
struct Kept {
  std::vector<bool> for_all;
  uint64_t bytes;
  bool in_whole_bytes = true;
};

Kept splitFirst(const char* source) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = compileOpenCl(context, source);
  KernelInfo info = describeKernels(*module).front();
  info.sub_group_size = port::cpu_sub_group_size;
  auto kernels = compiler::prepareModule(*module, hostMachine());
  if (!kernels) throw std::runtime_error(llvm::toString(kernels.takeError()));
  compiler::KernelBody body =
      compiler::makeBody(*kernels->front(), hostMachine(), info, /*optimize=*/true);
  const compiler::SplitKernel split = compiler::splitAtBarriers(body);
  Kept result{{}, split.layout.bytesPerLane()};
  const llvm::DataLayout& layout = module->getDataLayout();
  for (const compiler::Region& region : split.regions) {
    result.for_all.push_back(region.for_all_lanes);
    for (const llvm::Instruction& instruction : llvm::instructions(*region.function))
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        llvm::Type* const element = store->getValueOperand()->getType()->getScalarType();
        result.in_whole_bytes &= layout.typeSizeEqualsStoreSize(element);
      }
  }
  return result;
}

TEST(BetweenBarriers, WhatTheGroupKeepsIsLeftToOneLane) {
  // Before the loop, to the first barrier in it, the exchange of the arrays, a turn or the end.
  EXPECT_EQ(splitFirst(turns).for_all, (std::vector<bool>{false, false, true, false}));
}

const char* const sums = R"(
  kernel void sums(global int* out, local int* all) {
    const int lane = get_local_id(0), lanes = get_local_size(0);
    int sum = lane + 1;
    for (int step = 1; step < lanes; step *= 2) {
      all[lane] = sum;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (lane >= step) sum += all[lane - step];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
  })";

TEST(BetweenBarriers, WhatALoopChangesHasOnePlace) {
  EXPECT_EQ(splitFirst(sums).bytes, sizeof(int));
  for (uint64_t lanes : {1, 3, 16, 40}) {
    std::vector<int> out(lanes, -1);
    Program(sums).run("sums", {1, {lanes, 1, 1}, {lanes, 1, 1}, {0, 0, 0}},
                      {Program::buffer(out.data()), Program::local(lanes * 4)});
    for (uint64_t lane = 0; lane < lanes; ++lane)
      ASSERT_EQ(out[lane], int((lane + 1) * (lane + 2) / 2)) << lanes;
  }
}

// Both are needed after each barrier: they change places.
const char* const swaps = R"(
  kernel void swaps(global int* out, local int* all, int count) {
    const int lane = get_local_id(0);
    int a = lane, b = lane + 100;
    for (int i = 0; i < count; ++i) {
      all[lane] = a;
      barrier(CLK_LOCAL_MEM_FENCE);
      const int c = b;
      b = all[lane];
      a = c;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[2 * get_global_id(0)] = a;
    out[2 * get_global_id(0) + 1] = b;
  })";

TEST(BetweenBarriers, WhatIsNeededAtOnceHasPlacesOfItsOwn) {
  constexpr uint64_t lanes = 20;
  for (int count : {0, 1, 2, 5}) {
    std::vector<int> out(2 * lanes, -1);
    Program(swaps).run(
        "swaps", {1, {lanes, 1, 1}, {lanes, 1, 1}, {0, 0, 0}},
        {Program::buffer(out.data()), Program::local(lanes * 4), Program::value(count)});
    for (uint64_t lane = 0; lane < lanes; ++lane) {
      ASSERT_EQ(out[2 * lane], int(lane) + 100 * (count % 2)) << count;
      ASSERT_EQ(out[2 * lane + 1], int(lane) + 100 * (1 - count % 2)) << count;
    }
  }
}

// An address that a loop's counter moves, on both sides of a barrier; and one that each lane finds
// in a loop that it leaves when it likes.
const char* const walks = R"(
  kernel void walks(global int* data, local int* all, int count, int width) {
    const int lane = get_local_id(0), lanes = get_local_size(0);
    for (int i = 0; i < count; ++i) {
      global int* const at = data + (i * width + lane);
      all[lane] = *at;
      barrier(CLK_LOCAL_MEM_FENCE);
      *at = all[(lane + 1) % lanes] + i;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  kernel void leaves(global int* data, local int* all, int count, int width) {
    const int lane = get_local_id(0), lanes = get_local_size(0);
    int turn = 0, at;
    do at = turn * width + lane;
    while (data[at] > turn++);
    all[lane] = 3 * lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    data[at] = 1000 + all[(lane + 1) % lanes];
  })";

TEST(BetweenBarriers, AddressesAreComputedAnew) {
  EXPECT_EQ(splitFirst(walks).bytes, 0u);
  EXPECT_EQ(optimisedText(walks, "walks").find("masked.scatter"), std::string::npos);
  constexpr uint64_t lanes = 40;
  constexpr int count = 6, width = 50;
  std::vector<int> in(width * (count + 1));
  for (size_t i = 0; i < in.size(); ++i) in[i] = int(i * i % 11);
  for (int row = 0; row < width; ++row) in[width * count + row] = 0;
  for (const Vectorising mode : {Vectorising::never, Vectorising::automatic, Vectorising::always})
    for (const char* const kernel : {"walks", "leaves"}) {
      std::vector<int> data = in, want = in;
      Program(walks, true, mode)
          .run(kernel, {1, {lanes, 1, 1}, {lanes, 1, 1}, {0, 0, 0}},
               {Program::buffer(data.data()), Program::local(lanes * 4), Program::value(count),
                Program::value(width)});
      const auto turnsOf = [&](size_t lane) {
        size_t turn = 0;
        while (in[turn * width + lane] > int(turn)) ++turn;
        return turn;
      };
      for (size_t lane = 0; lane < lanes; ++lane) {
        const size_t next = (lane + 1) % lanes;
        if (kernel == std::string("leaves"))
          want[turnsOf(lane) * width + lane] = 1000 + 3 * int(next);
        else
          for (size_t i = 0; i < count; ++i) want[i * width + lane] = in[i * width + next] + int(i);
      }
      EXPECT_EQ(data, want) << kernel;
    }
}

TEST(BetweenBarriers, Turns) {
  constexpr int count = 5;
  for (uint64_t lanes : {1, 3, 16, 40}) {
    std::vector<int> out(lanes, -1);
    Program(turns).run("turns", {1, {lanes, 1, 1}, {lanes, 1, 1}, {0, 0, 0}},
                       {Program::buffer(out.data()), Program::local(lanes * 4),
                        Program::local(lanes * 4), Program::value(count)});
    for (uint64_t lane = 0; lane < lanes; ++lane)
      ASSERT_EQ(out[lane], int((lane + count) % lanes) + count * (count - 1) / 2) << lanes;
  }
}

// With a rim of one around what the group works on. LLVM's vectoriser gathers at the edges.
const char* const rim = R"(
  kernel void sums(global const int* in, global int* out, local int* tile, int width) {
    const int lx = get_local_id(0) + 1, x = get_global_id(0), y = get_global_id(1);
    const int columns = get_local_size(0), pitch = columns + 2;
    local int* const row = tile + get_local_id(1) * pitch;
    row[lx] = in[y * width + x];
    if (lx == 1) row[0] = in[y * width + (x > 0 ? x - 1 : 0)];
    if (lx == columns) row[columns + 1] = in[y * width + (x + 1 < width ? x + 1 : x)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[y * width + x] = row[lx - 1] + 10 * row[lx] + 100 * row[lx + 1];
  })";

TEST(BetweenBarriers, ShortCodeBecomesVectors) {
  if (hostMachine().getTargetFeatureString().contains("+avx2")) {  // masked loads and stores
    const std::string text = optimisedText(rim, "sums");
    EXPECT_NE(text.find(".lane.simd.tail"), std::string::npos);
    // Rows that a vector is too long for are LLVM's vectoriser's.
    EXPECT_NE(text.find("vector.body"), std::string::npos);
  }
  // Rows of whole vectors, with some lanes left over, and shorter than a vector.
  for (uint64_t columns : {16, 20, 15, 12, 11, 8, 5}) {
    const uint64_t width = 3 * columns, height = 4, rows = 2;
    std::vector<int> in(width * height), out(in.size(), -1);
    for (size_t i = 0; i < in.size(); ++i) in[i] = int(i * i % 7);
    Program(rim).run("sums", {2, {width, height, 1}, {columns, rows, 1}, {0, 0, 0}},
                     {Program::buffer(in.data()), Program::buffer(out.data()),
                      Program::local((columns + 2) * rows * 4), Program::value(int(width))});
    for (uint64_t y = 0; y < height; ++y)
      for (uint64_t x = 0; x < width; ++x) {
        const int* const row = in.data() + y * width;
        ASSERT_EQ(out[y * width + x],
                  row[x ? x - 1 : 0] + 10 * row[x] + 100 * row[std::min(x + 1, width - 1)])
            << "column " << x << " of " << width;
      }
  }
}

// A condition and the lowest bit of a number, kept as they are, would have no vector form.
TEST(BetweenBarriers, ConditionsAreKeptInBytes) {
  const char* const ahead = R"(
    kernel void ahead(global const int* a, global int* out, int n) {
      local int tile[2][32];
      const int lane = get_local_id(0);
      int x = 0, t = 0;
      tile[0][lane] = a[lane];
      barrier(CLK_LOCAL_MEM_FENCE);
      do {
        const int next = t + 1;
        const bool own = (a[lane] & 4) != 0;
        if (next < n) tile[next % 2][lane] = a[next * 32 + lane];
        for (int k = 0; k < 32; ++k) x = 3 * x + tile[t % 2][k] * tile[t % 2][lane ^ k];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (own) x ^= next;
        ++t;
      } while (t < n);
      out[get_global_id(0)] = x;
    })";
  EXPECT_TRUE(splitFirst(ahead).in_whole_bytes);
  constexpr int turns = 5, size = 64;
  std::vector<int> in(32 * turns);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 1013);
  const auto run = [&](bool optimize, Vectorising vectorise) {
    std::vector<int> out(size);
    Program(ahead, optimize, vectorise)
        .run("ahead", {1, {size, 1, 1}, {32, 1, 1}, {0, 0, 0}},
             {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(turns)});
    return out;
  };
  const std::vector<int> want = run(false, Vectorising::never);
  EXPECT_EQ(run(true, Vectorising::never), want);
  EXPECT_EQ(run(true, Vectorising::automatic), want);
  EXPECT_EQ(run(true, Vectorising::always), want);
}

// Ids that the program cuts to 32 bits are counted in as many.
TEST(BetweenBarriers, LanesAreCountedInHalves) {
  const std::string text = optimisedText(
      "kernel void inner(global const float* in, global float* out, int width) {\n"
      "  const int x = get_global_id(0), y = get_global_id(1);\n"
      "  if (x == 0 || x == width - 1) return;\n"
      "  out[y * width + x] = in[y * width + x - 1] + in[y * width + x + 1];\n"
      "}",
      "inner");
  EXPECT_EQ(text.find("x i64>"), std::string::npos) << text;
}

std::string manyBarriers(unsigned count) {
  std::string source = R"(
    kernel void many(global uint* out) {
      local uint all[64];
      const uint lane = get_local_id(0);
      uint v = all[lane] = lane;
  )";
  for (unsigned i = 1; i <= count; ++i)
    source += "barrier(CLK_LOCAL_MEM_FENCE); v = v * 3 + all[(lane + " + std::to_string(i) +
              ") % 64]; barrier(CLK_LOCAL_MEM_FENCE); all[lane] = v;\n";
  return source + "out[lane] = v; }";
}

// Of the largest function before optimisation.
size_t mostInstructions(const std::string& source) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = compileOpenCl(context, source);
  std::vector<KernelInfo> kernels = describeKernels(*module);
  llvm::cantFail(compiler::lowerKernels(*module, hostMachine(), kernels, {}));
  size_t most = 0;
  for (const llvm::Function& function : *module)
    most = std::max<size_t>(most, function.getInstructionCount());
  return most;
}

TEST(BetweenBarriers, FunctionsDoNotGrowWithTheNumberOfBarriers) {
  const size_t few = mostInstructions(manyBarriers(60));
  EXPECT_LT(mostInstructions(manyBarriers(240)), few + few / 2);
}

TEST(BetweenBarriers, ManyBarriersGiveTheSame) {
  constexpr unsigned count = 60, lanes = 64;
  std::vector<uint32_t> all(lanes), want(lanes), out(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane) all[lane] = want[lane] = lane;
  for (unsigned i = 1; i <= count; ++i) {
    for (unsigned lane = 0; lane < lanes; ++lane)
      want[lane] = want[lane] * 3 + all[(lane + i) % lanes];
    all = want;
  }
  Program(manyBarriers(count))
      .run("many", {1, {lanes, 1, 1}, {lanes, 1, 1}}, {Program::buffer(out.data())});
  EXPECT_EQ(out, want);
}

// A pointer made from a `restrict` argument lives across the barrier in the lane's context.
TEST(BetweenBarriers, PointersMadeFromRestrictedArgumentsAreTheirs) {
  const Program program(R"(
    kernel void walk(global int* restrict p, global int* out, global const int* far, int n) {
      const int lane = get_local_id(0);
      global int* at = p;
      for (int i = 0; i < n; ++i) {
        at += far[lane];
        barrier(CLK_GLOBAL_MEM_FENCE);
        p[lane + i + 1] = 100;
        at[lane] += 1;
        out[lane] += p[lane + i + 1];
        barrier(CLK_GLOBAL_MEM_FENCE);
      }
    })");
  constexpr unsigned lanes = 16;
  std::vector<int32_t> p(lanes + 8), out(lanes), far(lanes, 1);
  program.run("walk", {1, {lanes, 1, 1}, {lanes, 1, 1}},
              {Program::buffer(p.data()), Program::buffer(out.data()), Program::buffer(far.data()),
               Program::value(int32_t{3})});
  EXPECT_EQ(out, std::vector<int32_t>(lanes, 303));
}

// A tile of results that each work-item has between barriers, in groups of 8 x 8: its elements are
// variables, whose lanes are a row's vector.
TEST(BetweenBarriers, ArraysBecomeVariables) {
  const char* const source = R"(
    kernel __attribute__((reqd_work_group_size(8, 8, 1)))
    void tiles(global const float* a, global const float* b, global float* c, int n) {
      local float ta[16][16], tb[16][16];
      float sums[4];
      const int x = get_local_id(0), y = get_local_id(1);
      #pragma unroll
      for (int i = 0; i < 4; ++i) sums[i] = 0;
      for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 2; ++j) {
            ta[2 * y + i][2 * x + j] = a[(2 * y + i) * n + k + 2 * x + j];
            tb[2 * y + i][2 * x + j] = b[(k + 2 * y + i) * 16 + 2 * x + j];
          }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int m = 0; m < 16; ++m)
          for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) sums[i * 2 + j] += ta[2 * y + i][m] * tb[m][2 * x + j];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      for (int i = 0; i < 4; ++i) c[(2 * y + i / 2) * 16 + 2 * x + i % 2] = sums[i];
    })";
  constexpr int n = 48;
  std::vector<float> a(16 * n), b(16 * n), c(256);
  for (int i = 0; i < 16 * n; ++i) {
    a[i] = static_cast<float>(i % 7 - 3);
    b[i] = static_cast<float>(i % 5 - 2);
  }
  Program program(source, true, Vectorising::automatic);
  program.run("tiles", {2, {8, 8, 1}, {8, 8, 1}, {0, 0, 0}},
              {Program::buffer(a.data()), Program::buffer(b.data()), Program::buffer(c.data()),
               Program::value(n)});
  for (int i = 0; i < 256; ++i) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[(i / 16) * n + k] * b[k * 16 + i % 16];
    ASSERT_EQ(c[i], sum) << i;
  }
  // Four variables and the loop's counter, and no array beside them.
  EXPECT_LE(program.info("tiles").lane_context_bytes, 6 * sizeof(float));
  const std::string text = optimisedText(source, "tiles");
  EXPECT_TRUE(std::regex_search(text, std::regex("fmuladd\\.v[48]f32")));
  EXPECT_EQ(text.find("fmuladd.v16f32"), std::string::npos);
}

}  // namespace
}  // namespace weft::test
