// Rows of work-items that run together: what they share is done once, and each gets what it would
// have got by itself.
#include <regex>

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "tests/compiler/passes/kernel_jit.h"
#include "tests/compiler/passes/random_rows.h"
#include "tests/compiler/passes/random_runs.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

const char* const kernels = R"(
  kernel void product(global const int* a, global const int* b, global int* c, int n) {
    const int column = get_global_id(0) - get_global_offset(0);
    const int row = get_global_id(1) - get_global_offset(1);
    if (column >= n || row >= n) return;
    int sum = 0;
    for (int k = 0; k < n; ++k) sum = 3 * sum + a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
  }
  kernel void triangle(global const int* a, global const int* b, global int* c, int n) {
    const int column = get_global_id(0), row = get_global_id(1);
    int sum = 0;
    for (int k = 0; k <= row; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
  }
  kernel void watched(global const int* a, volatile global int* b, global int* c, int n) {
    const int column = get_global_id(0), row = get_global_id(1);
    int sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
  }
  kernel void tickets(global int* drawn, global int* next, global const int* a, int n) {
    const int column = get_global_id(0), row = get_global_id(1);
    int sum = 0;
    for (int k = 0; k < n; ++k)
      sum += __opencl_atomic_fetch_add((volatile global atomic_int*)(next + column), a[k * n + column],
                                       memory_order_relaxed, memory_scope_device) & row;
    drawn[row * n + column] = sum;
  }
  kernel void tiled(global const float* a, global const float* b, global float* c, int n) {
    local float left[16][16], right[16][16];
    const int x = get_local_id(0), y = get_local_id(1), row = get_global_id(1);
    float sum = 0;
    for (int first = 0; first < n; first += 16) {
      left[y][x] = a[row * n + first + x];
      right[y][x] = b[(first + y) * n + (int)get_global_id(0)];
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + (int)get_global_id(0)] = sum;
  })";

// The greatest number of rows that a kernel is lowered for.
unsigned rowsOf(const std::string& source, const std::string& kernel,
                Vectorising vectorise = Vectorising::automatic) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = compileOpenCl(context, source);
  std::vector<KernelInfo> infos = describeKernels(*module);
  if (llvm::Error error =
          compiler::lowerKernels(*module, hostMachine(), infos, {true, vectorise})) {
    ADD_FAILURE() << llvm::toString(std::move(error));
    return 0;
  }
  // The step of the loop over rows.
  uint64_t most = 1;
  for (llvm::Instruction& i : llvm::instructions(*module->getFunction("weft_kernel_" + kernel))) {
    auto* phi = llvm::dyn_cast<llvm::PHINode>(&i);
    if (!phi || !phi->getParent()->getName().starts_with("y.next")) continue;
    for (llvm::Value* next : phi->incoming_values())
      if (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(next))
        if (auto* step = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1)))
          most = std::max(most, step->getZExtValue());
  }
  return static_cast<unsigned>(most);
}

bool hasMaskedVectors() { return hostMachine().getTargetFeatureString().contains("+avx2"); }

TEST(JointRows, WhereTheyShare) {
  if (!hasMaskedVectors()) GTEST_SKIP() << "needs masked vectors";
  EXPECT_GE(rowsOf(kernels, "product"), 4u);
  EXPECT_EQ(rowsOf(kernels, "tiled"), 8u) << "enough sums not to wait for each other";
  EXPECT_EQ(rowsOf(kernels, "triangle"), 1u) << "rows leave the loop in different turns";
  EXPECT_EQ(rowsOf(kernels, "watched"), 1u) << "each row must do its own volatile loads";
}

std::vector<int> numbers(size_t count, unsigned factor) {
  std::vector<int> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = static_cast<int>((i * factor >> 4) % 1000);
  return result;
}

// Groups of whole blocks of rows, of more and of fewer; the condition lets some rows of a block go
// on and not others, and so do groups that are smaller at the edges.
TEST(JointRows, Product) {
  const Program automatic(kernels), forced(kernels, true, Vectorising::always);
  for (const int n : {1, 7, 37, 64})
    for (const std::array<uint64_t, 3>& local : std::vector<std::array<uint64_t, 3>>{
             {64, 4, 1}, {16, 16, 1}, {16, 8, 2}, {20, 11, 1}, {5, 3, 1}, {70, 2, 1}, {1, 9, 1}}) {
      const auto side = static_cast<uint64_t>(n);
      const std::vector<int> a = numbers(side * side, 2654435761u), b = numbers(side * side, 40503);
      std::vector<int> want(side * side);
      for (size_t row = 0; row < side; ++row)
        for (size_t column = 0; column < side; ++column)
          for (size_t k = 0; k < side; ++k)
            want[row * side + column] =
                3u * static_cast<unsigned>(want[row * side + column]) +
                static_cast<unsigned>(a[row * side + k] * b[k * side + column]);
      for (const Program* program : {&automatic, &forced}) {
        std::vector<int> c(side * side, -1);
        program->run("product", {3, {side + 3, side + 5, local[2]}, local, {40, 1000, 7}},
                     {Program::buffer(a.data()), Program::buffer(b.data()),
                      Program::buffer(c.data()), Program::value(n)});
        ASSERT_EQ(c, want) << n << " in groups of " << local[0] << "x" << local[1] << "x"
                           << local[2];
      }
    }
}

// Rows of two vectors, whose lanes have an array each.
TEST(JointRows, ArraysOfLanes) {
  const char* const source = R"(
    kernel __attribute__((reqd_work_group_size(32, 16, 1)))
    void window(global const float* in, constant float* factors, global float* out, int width) {
      const int x = get_global_id(0), y = get_global_id(1);
      float around[7][7], sum = 0;
      for (int i = 0; i < 7; ++i)
        for (int j = 0; j < 7; ++j) around[j][i] = in[(y + j) * width + x + i];
      _Pragma("unroll 1") for (int i = 0; i < 7; ++i)
        _Pragma("unroll 1") for (int j = 0; j < 7; ++j) sum += factors[j * 7 + i] * around[j][i];
      out[y * get_global_size(0) + x] = sum;
    })";
  const Program automatic(source), forced(source, true, Vectorising::always);
  constexpr size_t side = 64;
  const int width = side + 6;
  std::vector<float> in(static_cast<size_t>(width) * width), factors(49), want(side * side);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 40503 % 64);
  for (size_t i = 0; i < 49; ++i) factors[i] = static_cast<float>(i);
  for (size_t y = 0; y < side; ++y)
    for (size_t x = 0; x < side; ++x)
      for (size_t j = 0; j < 49; ++j)
        want[y * side + x] += factors[j] * in[(y + j / 7) * static_cast<size_t>(width) + x + j % 7];
  for (const Program* program : {&automatic, &forced}) {
    std::vector<float> out(side * side, -1);
    program->run("window", {2, {side, side, 1}, {32, 16, 1}, {0, 0, 0}},
                 {Program::buffer(in.data()), Program::buffer(factors.data()),
                  Program::buffer(out.data()), Program::value(width)});
    ASSERT_EQ(out, want);
  }
}

// Does the lowered code compare anything with that number?
bool asksForBytes(const std::string& source, uint64_t bytes) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = compileOpenCl(context, source);
  std::vector<KernelInfo> infos = describeKernels(*module);
  llvm::cantFail(
      compiler::lowerKernels(*module, hostMachine(), infos, {true, Vectorising::automatic}));
  for (const llvm::Function& function : *module)
    for (const llvm::Instruction& i : llvm::instructions(function)) {
      auto* number = llvm::isa<llvm::ICmpInst>(i)
                         ? llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1))
                         : nullptr;
      if (number && number->getValue() == bytes) return true;
    }
  return false;
}

const char* const star = R"(
  kernel void star(global const int* in, global int* out, int n, int height) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    const int i = (z * height + y) * n + x;
    if (x > 0 && x < n - 1 && y > 0 && y < height - 1)
      out[i] = 2 * in[i] + in[i - 1] - in[i + 1] + in[i - n] - in[i + n];
  })";

// Where memory is passed through that the caches do not hold, rows of few pages run one by one; it
// is asked when the kernel runs.
TEST(JointRows, RowsThatShareTheirPages) {
  if (hasMaskedVectors()) {
    EXPECT_GE(rowsOf(star, "star"), 4u);
    EXPECT_TRUE(asksForBytes(star, 8 << 20));
    EXPECT_FALSE(asksForBytes(kernels, 8 << 20)) << "loops come back to what they access";
  }
  const Program automatic(star);
  for (const auto& [n, height, depth] :
       {std::array<int, 3>{40, 24, 2}, {160, 160, 90}, {1024, 40, 60}}) {
    const auto size = static_cast<size_t>(n) * height * depth;
    const std::vector<int> in = numbers(size, 2654435761u);
    std::vector<int> out(size, -1), want(size, -1);
    for (size_t i = 0; i < size; ++i) {
      const auto x = static_cast<int>(i % n), y = static_cast<int>(i / n % height);
      if (x > 0 && x < n - 1 && y > 0 && y < height - 1)
        want[i] = 2 * in[i] + in[i - 1] - in[i + 1] + in[i - n] - in[i + n];
    }
    const auto side = [](int extent) { return static_cast<uint64_t>(extent); };
    automatic.run("star", {3, {side(n), side(height), side(depth)}, {side(n) % 160 + 40, 8, 1}},
                  {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(n),
                   Program::value(height)});
    ASSERT_EQ(out, want) << n;
  }
}

TEST(JointRows, EachDrawsItsOwnTickets) {
  constexpr int n = 48;
  const std::vector<int> a = numbers(n * n, 40503);
  std::vector<int> drawn(n * n), next(n);
  Program(kernels, true, Vectorising::always)
      .run("tickets", {2, {n, n, 1}, {16, 12, 1}, {0, 0, 0}},
           {Program::buffer(drawn.data()), Program::buffer(next.data()), Program::buffer(a.data()),
            Program::value(n)});
  for (int column = 0; column < n; ++column) {
    int sum = 0;
    for (int k = 0; k < n; ++k) sum += a[static_cast<size_t>(k * n + column)];
    ASSERT_EQ(next[static_cast<size_t>(column)], n * sum) << column;
  }
}

TEST(JointRows, RandomKernels) { compareRandomKernels(randomRows, true, Vectorising::automatic); }
TEST(JointRows, RandomKernelsForced) {
  compareRandomKernels(randomRows, false, Vectorising::always);
}
TEST(JointRows, RandomKernelsOptimised) {
  compareRandomKernels(randomRows, true, Vectorising::always);
}

// Many of these kernels must be able to run that way, or the tests above say nothing.
TEST(JointRows, RandomKernelsHaveThem) {
  unsigned joined = 0;
  for (uint64_t seed = 1; seed <= 16; ++seed)
    joined += rowsOf(randomRows("k", seed), "k", Vectorising::always) > 1;
  std::printf("%u of 16 kernels have joint rows\n", joined);
  EXPECT_GE(joined, 4u);
}

}  // namespace
}  // namespace weft::test
