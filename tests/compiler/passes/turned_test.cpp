// Work-groups whose vectors run along dimension 1.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>

#include "compiler/passes/work_group_functions.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

// The first is written for processors whose neighbours are those of dimension 1.
const char* const kernels = R"(
  kernel void product(global const float* a, global const float* b, global float* c, int n) {
    int row = get_global_id(0), column = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
  }
  kernel void usual(global const float* a, global const float* b, global float* c, int n) {
    int row = get_global_id(1), column = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
  }
  kernel void transpose(global const float* in, global float* out, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    out[x * n + y] = in[y * n + x];
  }
  kernel void rows(global const float* in, global float* out, int n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += in[get_global_id(0) * n + k];
    out[get_global_id(0)] = sum;
  }
  kernel void numbered(global uint* out, int n) {
    out[get_global_id(0) * n + get_global_id(1)] = get_local_linear_id();
  }
  kernel void met(global const float* in, global float* out, int n) {
    local float all[256];
    int at = get_local_id(0) * get_local_size(1) + get_local_id(1);
    all[at] = in[get_global_id(0) * n + get_global_id(1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0) * n + get_global_id(1)] = all[at ^ 1];
  }
  kernel void smoothed(global const int* in, global int* out, int n, local int* tile) {
    int x = get_local_id(1), y = get_local_id(0), width = get_local_size(1) + 2;
    int gx = get_global_id(1), gy = get_global_id(0);
    for (int i = 0; i < 3; ++i) tile[(y + i) * width + x + 1] = in[(gy + i) * n + gx + 1];
    if (x == 0)
      for (int i = 0; i < 3; ++i) tile[(y + i) * width] = in[(gy + i) * n + gx];
    if (x == width - 3)
      for (int i = 0; i < 3; ++i) tile[(y + i) * width + width - 1] = in[(gy + i) * n + gx + 2];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int turn = 0; turn < 2; ++turn) {
      int sum = 0;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) sum = sum * 3 + tile[(y + i) * width + x + j];
      barrier(CLK_LOCAL_MEM_FENCE);
      tile[(y + 1) * width + x + 1] = sum;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[gy * n + gx] = tile[(y + 1) * width + x + 1];
  }
  kernel void everything(global ulong* out, ulong n) {
    ulong sum = 0;
    for (uint d = 0; d < 3; ++d)
      sum = sum * 31 + get_global_id(d) + 2 * get_local_id(d) + 3 * get_group_id(d) +
            5 * get_num_groups(d) + 7 * get_global_size(d) + 11 * get_local_size(d) +
            13 * get_enqueued_local_size(d) + 17 * get_global_offset(d);
    out[(get_global_id(0) - get_global_offset(0)) * n + get_global_id(1) - get_global_offset(1)] =
        sum * 31 + get_global_linear_id();
  }
)";

const char* const in_order = R"(
  kernel void folded(global const float* in, global float* out, int n) {
    float sum = work_group_scan_inclusive_add(in[get_global_id(0) * n + get_global_id(1)]);
    out[get_global_id(0) * n + get_global_id(1)] = sum;
  }
  kernel void met(global const float* in, global float* out, int n) {
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0) * n + get_global_id(1)] = in[get_global_id(0) * n + get_global_id(1)];
  }
)";

// Functions of work-groups and sub-groups tell which lane comes first.
TEST(TurnedGroups, AreNotThoseOfWhichTheOrderIsTold) {
  llvm::LLVMContext context;
  const auto module = compileOpenCl(context, in_order, "-cl-std=CL3.0");
  std::vector<KernelInfo> infos = describeKernels(*module);
  compiler::defineWorkGroupFunctions(*module, /*may_be_vectors=*/false);
  llvm::Error error = compiler::lowerKernels(*module, hostMachine(), infos, {});
  EXPECT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
  ASSERT_EQ(infos.size(), 2u);
  for (const KernelInfo& kernel : infos) EXPECT_EQ(kernel.lane_dimension, 0u) << kernel.name;
}

TEST(TurnedGroups, AreThoseOfKernelsThatGain) {
  for (const KernelInfo& kernel : loweredKernels(kernels)) {
    constexpr std::string_view gaining[] = {"product", "everything", "met", "smoothed"};
    const bool gains = std::ranges::find(gaining, kernel.name) != std::end(gaining);
    EXPECT_EQ(kernel.lane_dimension, gains ? 1u : 0u) << kernel.name;
  }
  for (const KernelInfo& kernel : loweredKernels(kernels, /*optimize=*/false))
    EXPECT_EQ(kernel.lane_dimension, 0u) << kernel.name;
  const std::string product = optimisedText(kernels, "product");
  EXPECT_NE(product.find("@weft_turned.product("), std::string::npos);
  EXPECT_EQ(optimisedText(kernels, "product", compiler::Vectorising::never).find("weft_turned"),
            std::string::npos);
}

// The kernels after `change`, which gets the module before it is lowered.
template <class Change>
std::unique_ptr<llvm::Module> lowered(llvm::LLVMContext& context, const std::string& options,
                                      Change&& change) {
  std::unique_ptr<llvm::Module> module = compileOpenCl(context, kernels, options);
  std::vector<KernelInfo> infos = describeKernels(*module);
  change(*module, infos);
  llvm::Error error = compiler::lowerKernels(*module, hostMachine(), infos, {});
  EXPECT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
  return module;
}

// One form is enough where the program names the only size that there can be.
TEST(TurnedGroups, OfAKnownSizeHaveOneForm) {
  struct Case {
    std::array<uint64_t, 3> size;
    bool turned;
  };
  for (const auto& [size, turned] :
       {Case{{4, 64, 1}, true}, Case{{32, 16, 1}, true}, Case{{32, 8, 1}, false}}) {
    std::vector<KernelInfo> result;
    llvm::LLVMContext context;
    const auto module = lowered(context, "", [&](llvm::Module&, std::vector<KernelInfo>& infos) {
      for (KernelInfo& info : infos) std::copy_n(size.begin(), 3, info.required_local_size.begin());
    });
    EXPECT_EQ(module->getFunction("weft_turned.product"), nullptr);
    // Vectors of the usual form gather.
    std::string text;
    llvm::raw_string_ostream(text) << *module->getFunction("weft_kernel_product");
    EXPECT_EQ(text.find("masked.gather") == std::string::npos, turned) << size[0];
  }
}

// SPIR-V may give a kernel any name.
TEST(TurnedGroups, AreNotTakenForKernelsOfLikeNames) {
  llvm::LLVMContext context;
  const auto module =
      lowered(context, "", [](llvm::Module& source, std::vector<KernelInfo>& infos) {
        source.getFunction("usual")->setName("product.turned");
        for (KernelInfo& info : infos)
          if (info.name == "usual") info.name = "product.turned";
      });
  const llvm::Function* other = module->getFunction("weft_kernel_product.turned");
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(other->hasExternalLinkage());
  EXPECT_TRUE(other->use_empty());
}

TEST(TurnedGroups, HaveLinesOfTheirOwn) {
  llvm::LLVMContext context;
  const auto module = lowered(context, "-gline-tables-only", [](auto&, auto&) {});
  for (const char* name : {"weft_kernel_product", "weft_turned.product"}) {
    const llvm::Function* function = module->getFunction(name);
    ASSERT_NE(function, nullptr) << name;
    ASSERT_NE(function->getSubprogram(), nullptr) << name;
    unsigned lines = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(*function))
      if (const llvm::DILocation* place = instruction.getDebugLoc()) {
        while (place->getInlinedAt()) place = place->getInlinedAt();
        EXPECT_EQ(place->getScope()->getSubprogram(), function->getSubprogram()) << name;
        ++lines;
      }
    EXPECT_GT(lines, 10u) << name;
  }
}

// Groups of both forms, whole ones and those at the edges.
class TurnedGroups : public testing::TestWithParam<std::array<uint64_t, 3>> {};

TEST_P(TurnedGroups, MultiplyMatrices) {
  constexpr int n = 52;
  std::vector<float> a(n * n), b(n * n), c(n * n, -1), expected(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 7 - 3);
    b[i] = static_cast<float>(i % 11 - 5);
  }
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column)
      for (int k = 0; k < n; ++k) expected[row * n + column] += a[row * n + k] * b[k * n + column];
  Program(kernels).run("product", {2, {n, n, 1}, GetParam(), {0, 0, 0}},
                       {Program::buffer(a.data()), Program::buffer(b.data()),
                        Program::buffer(c.data()), Program::value(n)});
  EXPECT_EQ(c, expected);
}

TEST_P(TurnedGroups, KnowTheirPlace) {
  constexpr uint64_t width = 37, height = 50;
  const NdRange range{2, {width, height, 1}, GetParam(), {3, 5, 0}};
  const auto run = [&](compiler::Vectorising vectorise) {
    std::vector<uint64_t> out(width * height);
    Program(kernels, true, vectorise)
        .run("everything", range, {Program::buffer(out.data()), Program::value(height)});
    return out;
  };
  const std::vector<uint64_t> expected = run(compiler::Vectorising::never);
  EXPECT_EQ(run(compiler::Vectorising::automatic), expected);
  EXPECT_EQ(run(compiler::Vectorising::always), expected);
}

// All work-items of a group find what its others wrote.
TEST_P(TurnedGroups, WaitAtBarriers) {
  const auto [x, y, z] = GetParam();
  const uint64_t width = 3 * y, height = 2 * x, pitch = width + 2;
  const NdRange range{2, {height, width, 1}, GetParam(), {0, 0, 0}};
  std::vector<int32_t> in(pitch * (height + 2));
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int32_t>(i * i % 1009);
  const auto run = [&](compiler::Vectorising vectorise) {
    std::vector<int32_t> out(in.size());
    Program(kernels, true, vectorise)
        .run("smoothed", range,
             {Program::buffer(in.data()), Program::buffer(out.data()),
              Program::value(static_cast<int>(pitch)), Program::local((x + 2) * (y + 2) * 4)});
    return out;
  };
  const std::vector<int32_t> expected = run(compiler::Vectorising::never);
  EXPECT_EQ(run(compiler::Vectorising::automatic), expected);
  EXPECT_EQ(run(compiler::Vectorising::always), expected);
}

using Size = std::array<uint64_t, 3>;
INSTANTIATE_TEST_SUITE_P(Sizes, TurnedGroups,
                         testing::Values(Size{1, 1, 1}, Size{1, 16, 1}, Size{8, 16, 1},
                                         Size{16, 8, 1}, Size{4, 64, 1}, Size{64, 1, 1},
                                         Size{5, 7, 1}, Size{32, 20, 1}));

}  // namespace
}  // namespace weft::test
