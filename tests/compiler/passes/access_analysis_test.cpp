// What the analysis says of the patterns that programs are made of, evaluated for one launch.
#include <sstream>

#include <gtest/gtest.h>

#include "core/access_evaluation.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using Values = std::vector<int64_t>;

// Kernel `k` with its arguments in any order; `argument` is the pointer in question, and `values`
// are those of the by-value arguments in their order. `touched` has R for bytes that are read, W
// for bytes that are overwritten, RW for bytes that may be written.
struct Case {
  const char* name;
  const char* source;
  unsigned argument;
  NdRange range;
  Values values;
  size_t size;
  const char* touched;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string text(const std::vector<TouchedRange>& ranges) {
  std::ostringstream out;
  for (const TouchedRange& range : ranges)
    out << (range.begin == ranges.front().begin ? "" : " ") << (range.reads ? "R" : "")
        << (range.writes ? "W" : "") << range.begin << "-" << range.end;
  return out.str();
}

std::string evaluate(const KernelInfo& kernel, const Case& c) {
  std::vector<ArgumentValue> values(kernel.arguments.size());
  size_t next = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const ArgumentInfo& argument = kernel.arguments[i];
    for (const AccessRecord& record : argument.accesses)
      EXPECT_TRUE(isValid(record, kernel.arguments));
    if (i == c.argument || argument.reads_known || argument.writes_known) continue;
    std::vector<int64_t> bytes(2, 0);
    if (next < c.values.size()) bytes[0] = c.values[next++];
    values[i].setBytes(bytes.data(), argument.size);
  }
  const port::LaunchRecord launch = recordOf(c.range);
  std::vector<TouchedRange> ranges;
  AccessEvaluation(launch, values).touched(kernel.arguments[c.argument], c.size, ranges);
  return text(ranges);
}

constexpr NdRange line(uint64_t global, uint64_t local, uint64_t offset = 0) {
  return {1, {global, 1, 1}, {local, 1, 1}, {offset, 0, 0}};
}
constexpr NdRange plane(uint64_t width, uint64_t height, uint64_t local = 4) {
  return {2, {width, height, 1}, {local, local, 1}, {0, 0, 0}};
}

const Case cases[] = {
    {"OverwritesWhole",
     "kernel void k(global float* a) { a[get_global_id(0)] = 1; }",
     0,
     line(100, 10),
     {},
     400,
     "W0-400"},
    {"RaggedGroups",
     "kernel void k(global float* a) { a[get_global_id(0)] = 1; }",
     0,
     line(50, 16),
     {},
     400,
     "W0-200"},
    {"Reads",
     "kernel void k(global float* a, global float* b) { int i = get_global_id(0);"
     " b[i] = a[i]; }",
     0,
     line(100, 10),
     {},
     400,
     "R0-400"},
    {"ReadsAndOverwrites",
     "kernel void k(global float* a) { int i = get_global_id(0);"
     " a[i] += 1; }",
     0,
     line(50, 10),
     {},
     400,
     "RW0-200"},
    {"GuardedByASize",
     "kernel void k(global float* a, int n) { int i = get_global_id(0);"
     " if (i < n) a[i] = 1; }",
     0,
     line(128, 64),
     {100},
     400,
     "W0-400"},
    {"GuardedByASizeOfAnotherType",
     "kernel void k(global float* a, int n) { if (get_global_id(0) < n)"
     " a[get_global_id(0)] = 1; }",
     0,
     line(128, 64),
     {77},
     400,
     "W0-308"},
    {"EarlyReturn",
     "kernel void k(global float* a, uint n) { uint i = get_global_id(0);"
     " if (i >= n) return; a[i] = 1; }",
     0,
     line(128, 64),
     {100},
     400,
     "W0-400"},
    {"NobodyGetsThere",
     "kernel void k(global float* a, uint n) { uint i = get_global_id(0);"
     " if (i >= n) return; a[i] = 1; }",
     0,
     line(128, 64),
     {0},
     400,
     ""},
    {"GuardedByData",
     "kernel void k(global float* a, global int* b) { int i = get_global_id(0);"
     " if (b[i]) a[i] = 1; }",
     0,
     line(50, 10),
     {},
     400,
     "RW0-200"},
    {"GuardedByAFlag",
     "kernel void k(global float* a, int f) { int i = get_global_id(0);"
     " if (f > 3) a[i] = 1; }",
     0,
     line(50, 10),
     {4},
     400,
     "W0-200"},
    {"Interior",
     "kernel void k(global float* a) { int i = get_global_id(0);"
     " if (i > 0 && i < 99) a[i] = 1; }",
     0,
     line(100, 10),
     {},
     400,
     "W4-396"},
    {"InteriorOfAny",
     "kernel void k(global float* a, int n) { int i = get_global_id(0);"
     " if (i == 0 || i >= n - 1) return; a[i] = 1; }",
     0,
     line(100, 10),
     {100},
     400,
     "W4-396"},
    {"Neighbours",
     "kernel void k(global float* a, global float* b, int n) {"
     " int i = get_global_id(0);"
     " if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1]; }",
     0,
     line(100, 10, 20),
     {60},
     400,
     "R76-240"},
    {"UnsignedNeighbours",
     "kernel void k(global float* a, global float* b, uint n) {"
     " uint i = get_global_id(0);"
     " if (i >= 1 && i + 1 < n) b[i] = a[i - 1] + a[i + 1]; }",
     0,
     line(100, 10),
     {60},
     400,
     "R0-240"},
    {"Clamped",
     "kernel void k(global float* a, global float* b, int n) {"
     " int i = get_global_id(0);"
     " b[i] = a[i - 1 > 0 ? i - 1 : 0] + a[i + 2 < n - 1 ? i + 2 : n - 1]; }",
     0,
     line(50, 10),
     {100},
     400,
     "R0-208"},
    {"WrapsAround",
     "kernel void k(global float* a, global float* b, int n) {"
     " int i = get_global_id(0); b[i] = a[(i + 1) % n] + a[i == 0 ? n - 1 : i - 1]; }",
     0,
     line(100, 10),
     {100},
     800,
     "R0-400"},
    {"Plane",
     "kernel void k(global float* a, int w) {"
     " int x = get_global_id(0), y = get_global_id(1); a[y * w + x] = 1; }",
     0,
     plane(16, 8),
     {16},
     1024,
     "W0-512"},
    {"PartOfAPlane",
     "kernel void k(global float* a, int w) {"
     " int x = get_global_id(0), y = get_global_id(1); a[y * w + x] = 1; }",
     0,
     plane(16, 4),
     {20},
     1024,
     "W0-64 W80-144 W160-224 W240-304"},
    {"GuardedPlane",
     "kernel void k(global float* a, int w, int h) {"
     " int x = get_global_id(0), y = get_global_id(1); if (x < w && y < h) a[y * w + x] = 1; }",
     0,
     plane(16, 8),
     {13, 6},
     1024,
     "W0-312"},
    {"LinearGuard",
     "kernel void k(global float* a, int n) {"
     " int i = get_global_id(1) * get_global_size(0) + get_global_id(0); if (i < n) a[i] = 1; }",
     0,
     plane(16, 8),
     {100},
     1024,
     "W0-400"},
    {"LinearId",
     "kernel void k(global float* a) { a[get_global_linear_id()] = 1; }",
     0,
     plane(16, 8),
     {},
     1024,
     "W0-512"},
    {"Stencil",
     "kernel void k(global float* a, global float* b, int w, int h) {"
     " int x = get_global_id(0), y = get_global_id(1);"
     " if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;"
     " b[y*w+x] = a[(y-1)*w+x] + a[(y+1)*w+x] + a[y*w+x-1] + a[y*w+x+1]; }",
     0,
     plane(16, 8),
     {16, 8},
     1024,
     "R4-60 R64-448 R452-508"},
    {"StencilWrites",
     "kernel void k(global float* a, global float* b, int w, int h) {"
     " int x = get_global_id(0), y = get_global_id(1);"
     " if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;"
     " b[y*w+x] = a[(y-1)*w+x] + a[(y+1)*w+x] + a[y*w+x-1] + a[y*w+x+1]; }",
     1,
     plane(16, 4),
     {16, 4},
     1024,
     "W68-124 W132-188"},
    {"StridedWritesHaveGaps",
     "kernel void k(global float* a) { a[2 * get_global_id(0)] = 1; }",
     0,
     line(100, 10),
     {},
     800,
     "RW0-796"},
    {"GapsThatAreFilled",
     "kernel void k(global float* a) { int i = get_global_id(0);"
     " a[2 * i] = 1; a[2 * i + 1] = 2; }",
     0,
     line(100, 10),
     {},
     800,
     "W0-800"},
    {"Vstore",
     "kernel void k(global float* a) { vstore3((float3)(1), get_global_id(0), a); }",
     0,
     line(10, 10),
     {},
     400,
     "RW0-400"},
    {"BothBranches",
     "kernel void k(global float* a, global int* b) { int i = get_global_id(0);"
     " if (b[i]) a[i] = 1; else a[i] = b[i + 1]; }",
     0,
     line(10, 10),
     {},
     400,
     "RW0-40"},
    {"Groups",
     "kernel void k(global float* a) {"
     " int i = get_group_id(0) * get_local_size(0) + get_local_id(0); a[i] = 1; }",
     0,
     line(100, 10),
     {},
     400,
     "W0-400"},
    {"OneOfAGroup",
     "kernel void k(global float* a) {"
     " if (get_local_id(0) == 0) a[get_group_id(0)] = 1; }",
     0,
     line(100, 10),
     {},
     400,
     "W0-40"},
    {"OneOfARaggedGroup",
     "kernel void k(global float* a) {"
     " if (get_local_id(0) == 0) a[get_group_id(0)] = 1; }",
     0,
     line(100, 16),
     {},
     400,
     "RW0-28"},
    {"Loop",
     "kernel void k(global float* a, int n) { int i = get_global_id(0);"
     " for (int j = 0; j < n; ++j) a[i * n + j] = j; }",
     0,
     line(10, 10),
     {7},
     400,
     "W0-280"},
    {"LoopThatNeverRuns",
     "kernel void k(global float* a, int n) { int i = get_global_id(0);"
     " for (int j = 0; j < n; ++j) a[i * n + j] = j; }",
     0,
     line(10, 10),
     {-7},
     400,
     ""},
    {"LoopsOverRows",
     "kernel void k(global float* a, global float* b, int n) {"
     " int i = get_global_id(0); float s = 0;"
     " for (int j = 0; j < n; ++j) s += a[j * n + i]; b[i] = s; }",
     0,
     line(10, 10),
     {10},
     800,
     "R0-400"},
    {"LoopOfStrides",
     "kernel void k(global float* a, uint n) {"
     " for (uint i = get_global_id(0); i < n; i += get_global_size(0)) a[i] = 1; }",
     0,
     line(10, 10),
     {100},
     800,
     "RW0-400"},
    {"LoopWithABreak",
     "kernel void k(global float* a, global int* b, int n) {"
     " int i = get_global_id(0);"
     " for (int j = 0; j < n; ++j) { if (b[j]) break; a[i * n + j] = j; } }",
     0,
     line(10, 10),
     {7},
     400,
     "RW0-280"},
    {"Product",
     "kernel void k(global float* a, global float* b, global float* c, int n, int m) {"
     " int x = get_global_id(0), y = get_global_id(1); float s = 0;"
     " for (int j = 0; j < m; ++j) s += a[y * m + j] * b[j * n + x]; c[y * n + x] = s; }",
     0,
     plane(8, 4),
     {8, 5},
     800,
     "R0-80"},
    {"Structure",
     "typedef struct { int w, h; long base; } size;"
     "kernel void k(global float* a, size s) { int x = get_global_id(0), y = get_global_id(1);"
     " if (x < s.w && y < s.h) a[y * s.w + x] = 1; }",
     0,
     plane(16, 8),
     {13 | 6ll << 32},
     1024,
     "W0-312"},
    {"VectorArgument",
     "kernel void k(global float* a, int2 s) {"
     " int x = get_global_id(0), y = get_global_id(1);"
     " if (x < s.x && y < s.y) a[y * s.x + x] = 1; }",
     0,
     plane(16, 8),
     {13 | 6ll << 32},
     1024,
     "W0-312"},
    {"FunctionOfIds",
     "int at(int x, int y, int w) { return y * w + x; }"
     "void put(global float* p, int i, float v) { p[i] = v; }"
     "kernel void k(global float* a, int w) {"
     " put(a, at(get_global_id(0), get_global_id(1), w), 1); }",
     0,
     plane(16, 8),
     {16},
     1024,
     "W0-512"},
    {"GenericPointer",
     "void put(float* p, int i) { p[i] = 1; }"
     "kernel void k(global float* a) { put(a, get_global_id(0)); }",
     0,
     line(10, 10),
     {},
     400,
     "W0-40"},
    {"Histogram",
     "kernel void k(global uint* a, global uchar* b) {"
     " atomic_inc((volatile global uint*)&a[b[get_global_id(0)]]); }",
     1,
     line(10, 10),
     {},
     400,
     "R0-10"},
    {"Indirect",
     "kernel void k(global float* a, global int* b) {"
     " a[b[get_global_id(0)]] = 1; }",
     0,
     line(10, 10),
     {},
     400,
     "RW0-400"},
    {"IndirectWithinBounds",
     "kernel void k(global float* a, global uchar* b) {"
     " a[b[get_global_id(0)] & 15] = 1; }",
     0,
     line(10, 10),
     {},
     400,
     "RW0-64"},
    {"Selected",
     "kernel void k(global float* a, global float* b, int f) {"
     " global float* p = f ? a : b; p[get_global_id(0)] = 1; }",
     0,
     line(10, 10),
     {1},
     400,
     "RW0-400"},
    {"Stored",
     "kernel void k(global float* a, global ulong* b) { b[0] = (ulong)a; }",
     0,
     line(10, 10),
     {},
     400,
     "RW0-400"},
    {"MovingPointer",
     "kernel void k(global float* a, int n) { a += get_global_id(0) * n;"
     " for (int j = 0; j < n; ++j) *a++ = j; }",
     0,
     line(10, 10),
     {7},
     400,
     "W0-280"},
    {"WrapsIn32Bits",
     "kernel void k(global char* a, uint n) { uint i = get_global_id(0);"
     " a[i * n] = 1; }",
     0,
     line(10, 10),
     {0x20000000},
     1ull << 40,
     "RW0-4294967296"},
    {"WrapsBelowZero",
     "kernel void k(global char* a, uint n) { uint i = get_global_id(0);"
     " a[i - n] = 1; }",
     0,
     line(10, 10),
     {5},
     1ull << 40,
     "RW0-4294967296"},
    {"DoesNotWrap",
     "kernel void k(global char* a, uint n) { uint i = get_global_id(0);"
     " a[i - n] = 1; }",
     0,
     line(10, 10, 20),
     {5},
     1ull << 40,
     "W15-25"},
    {"NothingToDo",
     "kernel void k(global char* a) { a[get_global_id(0)] = 1; }",
     0,
     line(0, 1),
     {},
     100,
     ""},
    {"Unused", "kernel void k(global char* a) { }", 0, line(1, 1), {}, 100, ""},
    {"Structures",
     "typedef struct { char c; int i; } pair;"
     "kernel void k(global pair* a) { pair p = {1, 2}; a[get_global_id(0)] = p; }",
     0,
     line(10, 10),
     {},
     400,
     "W0-80"},
};

class AccessAnalysis : public ::testing::TestWithParam<Case> {};

TEST_P(AccessAnalysis, Finds) {
  const auto kernels = loweredKernels(GetParam().source);
  const auto kernel =
      llvm::find_if(kernels, [](const KernelInfo& info) { return info.name == "k"; });
  ASSERT_NE(kernel, kernels.end());
  EXPECT_EQ(evaluate(*kernel, GetParam()), GetParam().touched);
}

INSTANTIATE_TEST_SUITE_P(, AccessAnalysis, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::test
