// What the access analysis says of loops, evaluated for one launch.
#include "tests/compiler/passes/access_cases.h"

namespace weft::test {
namespace {

const AccessCase loops[] = {
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
     "W0-400"},
    {"LoopOfStridesOfSignedCounters",
     "kernel void k(global float* a, int n) {"
     " for (int i = get_global_id(0); i < n; i += get_global_size(0)) a[i] = 1; }",
     0,
     line(10, 5),
     {97},
     800,
     "W0-388"},
    {"LoopOfStridesOfTheLargestCounters",
     "kernel void k(global float* a, ulong n) {"
     " for (size_t i = get_global_id(0); i <= n; i += get_global_size(0)) a[i] = 1; }",
     0,
     line(10, 5),
     {96},
     800,
     "W0-388"},
    {"LoopOfStridesThatNobodyEnters",
     "kernel void k(global float* a, int n) {"
     " for (int i = get_global_id(0); i < n; i += get_global_size(0)) a[i] = 1; }",
     0,
     line(10, 5),
     {0},
     800,
     ""},
    {"LoopOfStridesThatWraps",
     "kernel void k(global char* a, uint n) {"
     " for (uint i = get_global_id(0); i < n; i += get_global_size(0)) a[i & 1023] = 1; }",
     0,
     line(10, 5),
     {0xfffffffb},
     4096,
     "RW0-1024"},
    {"LoopOfStridesWithABreak",
     "kernel void k(global float* a, global float* b, int n) {"
     " for (int i = get_global_id(0); i < n && b[i] > 0; i += get_global_size(0)) a[i] = 1; }",
     0,
     line(10, 5),
     {97},
     800,
     "RW0-388"},
    {"LoopOfAGroup",
     "kernel void k(global float* a, int n) {"
     " for (int i = get_local_id(0); i < n; i += get_local_size(0)) a[get_group_id(0) * n + i] = 1;"
     " }",
     0,
     line(15, 5),
     {12},
     800,
     "W0-144"},
    {"LoopOfAGivenStride",
     "kernel void k(global float* a, int n, int stride) {"
     " for (int i = get_global_id(0); i < n; i += stride) a[i] = 1; }",
     0,
     line(10, 5),
     {97, 10},
     800,
     "W0-388"},
    {"LoopOfStridesUpToAProduct",
     "kernel void k(global float* a) { size_t m = get_global_id(0) * get_group_id(0);"
     " for (size_t i = 0; i <= m; i += get_local_size(0)) a[i] = 1; }",
     0,
     line(6, 1),
     {},
     800,
     "RW0-104"},
    {"LoopOfAStrideBackwards",
     "kernel void k(global float* a, int n, int stride) {"
     " for (int i = get_global_id(0); i < n; i += stride) a[i] = 1; }",
     0,
     line(10, 5),
     {97, -10},
     800,
     "RW0-800"},
    {"LoopWithABreak",
     "kernel void k(global float* a, global int* b, int n) {"
     " int i = get_global_id(0);"
     " for (int j = 0; j < n; ++j) { if (b[j]) break; a[i * n + j] = j; } }",
     0,
     line(10, 10),
     {7},
     400,
     "RW0-280"},
};

class LoopAccesses : public AccessAnalysis {};

TEST_P(LoopAccesses, Finds) { finds(); }

INSTANTIATE_TEST_SUITE_P(, LoopAccesses, ::testing::ValuesIn(loops), nameOf);

}  // namespace
}  // namespace weft::test
