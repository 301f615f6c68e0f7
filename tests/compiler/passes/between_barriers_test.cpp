// What lies between two barriers: what is left to one lane.
#include <gtest/gtest.h>

#include "compiler/passes/kernel_body.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/regions.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

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

TEST(BetweenBarriers, WhatTheGroupKeepsIsLeftToOneLane) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = compileOpenCl(context, turns);
  KernelInfo info = describeKernels(*module).front();
  info.sub_group_size = port::cpu_sub_group_size;
  auto kernels = compiler::prepareModule(*module, hostMachine());
  ASSERT_TRUE(bool(kernels)) << llvm::toString(kernels.takeError());
  compiler::KernelBody body =
      compiler::makeBody(*kernels->front(), hostMachine(), info, /*optimize=*/true);
  const compiler::SplitKernel split = compiler::splitAtBarriers(body);
  // Before the loop, to the first barrier in it, the exchange of the arrays, a turn or the end.
  std::vector<bool> for_all;
  for (const compiler::Region& region : split.regions) for_all.push_back(region.for_all_lanes);
  EXPECT_EQ(for_all, (std::vector<bool>{false, false, true, false}));
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

}  // namespace
}  // namespace weft::test
