// The optional parts of OpenCL C 3.0: one case for each.
#include <algorithm>
#include <climits>
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

TEST_F(Language, ExtendedAsyncCopies) {
  // A block out of the middle of a picture, into tight local memory and back to another place.
  constexpr char source[] =
      "kernel void k(global const short* in, global short* out, local short* block) {\n"
      "  event_t e = async_work_group_copy_2D2D(block, 0, in, 2 * 10 + 3, sizeof(short), 4, 3, "
      "10,\n"
      "                                         4, (event_t)0);\n"
      "  wait_group_events(1, &e);\n"
      "  e = async_work_group_copy_3D3D(out, 5, block, 0, sizeof(short), 2, 3, 2, 4, 2, 10, 60,\n"
      "                                 (event_t)0);\n"
      "  async_work_group_copy_fence(CLK_GLOBAL_MEM_FENCE);\n"
      "  wait_group_events(1, &e);\n"
      "}\n";
  for (const char* standard : {"-cl-std=CL1.2", "-cl-std=CL3.0"}) {
    const OwnedKernel k = kernel(built(source, standard), "k");
    std::vector<cl_short> values(100), expected(120);
    std::iota(values.begin(), values.end(), cl_short{1000});
    for (size_t plane = 0; plane < 2; ++plane)
      for (size_t line = 0; line < 3; ++line)
        for (size_t x = 0; x < 2; ++x)
          expected[5 + 60 * plane + 10 * line + x] = values[(2 + line) * 10 + 3 + 2 * plane + x];
    const OwnedMem in = upload(values), out = upload(std::vector<cl_short>(120));
    set(k, in, out, Local{12 * sizeof(cl_short)});
    run(k, {{8}, {8}});
    EXPECT_EQ(download<cl_short>(out), expected) << standard;
  }
}

TEST_F(Language, IntegerDotProducts) {
  const OwnedKernel k = kernel(
      built("kernel void k(global int* o, uint a, uint b) {\n"
            "  char4 s = as_char4(a); uchar4 u = as_uchar4(b);\n"
            "  o[0] = dot(s, s); o[1] = dot(u, u); o[2] = dot(s, u); o[3] = dot(u, s);\n"
            "  o[4] = dot_4x8packed_su_int(a, b); o[5] = dot_4x8packed_uu_uint(b, b);\n"
            "  o[6] = dot_acc_sat(s, s, INT_MAX - 1); o[7] = dot_acc_sat(s, u, INT_MIN + 1);\n"
            "  o[8] = dot_acc_sat_4x8packed_uu_uint(b, b, UINT_MAX - 5u) == UINT_MAX;\n"
            "}\n"),
      "k");
  const OwnedMem out = upload(std::vector<cl_int>(9));
  set(k, out, cl_uint{0xff80'0102}, cl_uint{0xff80'ff03});  // 2, 1, -128, -1 and 3, 255, 128, 255
  run(k, {{1}});
  const cl_int mixed = 2 * 3 + 255 - 128 * 128 - 255;
  const cl_int squares = 9 + 255 * 255 + 128 * 128 + 255 * 255;
  const cl_int own = 4 + 1 + 128 * 128 + 1;
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{own, squares, mixed, mixed, mixed, squares,
                                                        std::numeric_limits<cl_int>::max(),
                                                        std::numeric_limits<cl_int>::min(), 1}));
}

// abs() of the least number is unsigned, and as a signed number the least one again.
TEST_F(Language, MagnitudesOfTheLeastNumbers) {
  const OwnedKernel k = kernel(
      built("kernel void k(global const long* in, global float* o) {\n"
            "  long l = in[0]; int i = in[1]; short s = in[2];\n"
            "  o[0] = (float)abs(l); o[1] = (float)abs(i); o[2] = (float)abs(s);\n"
            "  o[3] = i < 0 ? 0u - (uint)i : (uint)i; o[4] = convert_float_rtz(abs((int2)i).y);\n"
            "  o[5] = (long)abs(l) < 0; o[6] = (int)abs(i) < 0; o[7] = (short)abs(s) < 0;\n"
            "}\n"),
      "k");
  const auto magnitudes = [&](cl_long l, cl_int i, cl_short s) {
    const OwnedMem in = upload(std::vector<cl_long>{l, i, s}),
                   out = upload(std::vector<cl_float>(8));
    set(k, in, out);
    run(k, {{1}});
    return download<cl_float>(out);
  };
  EXPECT_EQ(magnitudes(std::numeric_limits<cl_long>::min(), std::numeric_limits<cl_int>::min(),
                       std::numeric_limits<cl_short>::min()),
            (std::vector<cl_float>{0x1p63F, 0x1p31F, 0x1p15F, 0x1p31F, 0x1p31F, 1, 1, 1}));
  EXPECT_EQ(magnitudes(-3, -5, 7), (std::vector<cl_float>{3, 5, 7, 5, 5, 0, 0, 0}));
}

// Three kernels of which NVIDIA's compiler made others, given PTX that LLVM writes by itself.
TEST_F(Language, WhatAnOptimiserMayNotAssume) {
  const OwnedProgram program = built(
      "kernel void divides(global uint* o, global const uint* in, uint turns) {\n"
      "  size_t i = get_global_id(0); short narrow = (short)(i * 977); uint s = 0;\n"
      "  for (uint t = 0; t < turns; ++t) { barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    if (mul_hi((uint)narrow, in[i]) % 5 == 0) s += t + 1; }\n"
      "  o[i] = s; }\n"
      "kernel void upper(global uint* o, global const uint* in, uint turns) {\n"
      "  size_t i = get_global_id(0); uint u = in[i] & 511, c = in[i + 1], m = (uint)i | 4;\n"
      "#pragma unroll 1\n"
      "  for (uint t = 0; t < turns; ++t) u = (u ^ m * mul_hi(u, c)) & 0x3ffffff;\n"
      "  o[i] = u; }\n"
      "kernel void last(global uint* o, global const uint* in, uint n) {\n"
      "  size_t i = get_global_id(0); uint turns = in[i] % 5, c = (uint)i + 3, before = n;\n"
      "  for (int again = 0; again < 3; ++again)\n"
      "    for (uint t = 0; t < turns; ++t) { before = c; c = (in[i + 1] | (uint)i) * n; }\n"
      "  o[i] = before * 3 ^ c * 5; }\n");
  constexpr size_t count = 128;
  std::vector<cl_uint> in(count + 1);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<cl_uint>((i + 7) * 2654435761u);
  const OwnedMem input = upload(in), out = upload(std::vector<cl_uint>(count));
  const auto results = [&](const char* name, cl_uint number) {
    const OwnedKernel k = kernel(program, name);
    set(k, out, input, number);
    run(k, {{count}, {32}});
    return download<cl_uint>(out);
  };
  const auto high = [](cl_uint a, cl_uint b) {
    return static_cast<cl_uint>(cl_ulong{a} * b >> 32);
  };
  const std::vector<cl_uint> divides = results("divides", 3), upper = results("upper", 9),
                             last = results("last", 5);
  for (cl_uint i = 0; i < count; ++i) {
    const auto narrow = static_cast<cl_uint>(static_cast<cl_short>(i * 977));
    EXPECT_EQ(divides[i], high(narrow, in[i]) % 5 == 0 ? 6 : 0) << i;
    cl_uint u = in[i] & 511;
    for (int turn = 0; turn < 9; ++turn) u = (u ^ (i | 4) * high(u, in[i + 1])) & 0x3ffffff;
    EXPECT_EQ(upper[i], u) << i;
    const cl_uint turns = in[i] % 5, other = (in[i + 1] | i) * 5;
    const cl_uint c = turns == 0 ? i + 3 : other, before = turns == 0 ? 5 : other;
    EXPECT_EQ(last[i], before * 3 ^ c * 5) << i;
  }
}

// Bytes that are also numbers: written as numbers of 32 bits, read as ones of 64.
// "mad_hi: returns mul_hi(a, b) + c", which wraps (OpenCL C 6.15.3).
TEST_F(Language, SumsOfHighHalvesWrap) {
  const OwnedKernel k = make(
      "kernel void k(global const int* a, global int* out) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  out[i] = mad_hi(a[i], a[i], a[i]) < a[i];\n"
      "}\n",
      "k");
  const std::vector<cl_int> values{INT_MAX, INT_MAX - 9, 7, -7};
  const OwnedMem in = upload(values), out = upload(std::vector<cl_int>(values.size()));
  set(k, in, out);
  run(k, {{values.size()}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{1, 1, 0, 0}));
}

TEST_F(Language, BytesHaveNoTypeOfTheirOwn) {
  const OwnedProgram program = built(
      "typedef union { uchar bytes[4]; uint number[1]; } cell;\n"
      "typedef struct { cell first[2], second[2]; } cells;\n"
      "void copy(uchar* to, const uchar* from, uint n) {\n"
      "  ulong* wide_to = (ulong*)to; const ulong* wide_from = (const ulong*)from;\n"
      "  for (uint i = 0; i < n; i += 8) *wide_to++ = *wide_from++; }\n"
      "void move(uint* to, const uint* from, int n) {\n"
      "  for (int i = 0; i < n; ++i) to[i] = from[i]; }\n"
      "kernel void k(global uint* o, uint turns) {\n"
      "  cells c; uint v[4]; size_t item = get_global_id(0);\n"
      "  for (int i = 0; i < 2; ++i) {\n"
      "    c.first[i].number[0] = item + i; c.second[i].number[0] = 0x200 + i; }\n"
      "  for (uint i = 0; i < turns; ++i) {\n"
      "    copy((uchar*)v, (i & 1) ? c.second->bytes : c.first->bytes, 8);\n"
      "    copy((uchar*)v + 8, (i & 1) ? c.first->bytes : c.second->bytes, 8);\n"
      "    v[0] += 0x1000; v[1] += 0x2000;\n"
      "    move(c.first->number, v, 2); }\n"
      "  for (int i = 0; i < 4; ++i) o[4 * item + i] = v[i]; }\n");
  constexpr cl_uint count = 24;
  const OwnedMem out = upload(std::vector<cl_uint>(size_t{4} * count));
  const OwnedKernel k = kernel(program, "k");
  set(k, out, cl_uint{2});
  run(k, {{count}, {count}});
  std::vector<cl_uint> expected;
  for (cl_uint item = 0; item < count; ++item)
    for (cl_uint number : {0x1200u, 0x2201u, 0x1000 + item, 0x2001 + item})
      expected.push_back(number);
  EXPECT_EQ(download<cl_uint>(out), expected);
}

TEST_F(Language, ExtendedBitOperations) {
  const OwnedKernel k = kernel(
      built(
          "kernel void k(global long* o, long a, uint offset, uint count) {\n"
          "  o[0] = bitfield_insert((short)a, (short)-1, offset, count);\n"
          "  o[1] = bitfield_extract_signed((short2)a, offset, count).y;\n"
          "  o[2] = bitfield_extract_unsigned((int)a, offset, count);\n"
          "  o[3] = bitfield_insert(a, 0L, offset, 0); o[4] = bitfield_extract_signed(a, 0, 64);\n"
          "  o[5] = bitfield_extract_unsigned((char)a, offset, 0);\n"
          "  o[6] = bit_reverse((uchar3)a).z;\n"
          "}\n"),
      "k");
  const OwnedMem out = upload(std::vector<cl_long>(7));
  set(k, out, cl_long{0x1234'5678'9abc'4d21}, cl_uint{4}, cl_uint{8});
  run(k, {{1}});
  EXPECT_EQ(download<cl_long>(out),
            (std::vector<cl_long>{0x4ff1, cl_char(0xd2), 0xd2, 0x1234'5678'9abc'4d21,
                                  0x1234'5678'9abc'4d21, 0, 0x84}));
}

TEST_F(Language, FloatAtomics) {
  const OwnedKernel k = make(
      "kernel void k(global atomic_float* sum, global atomic_double* most) {\n"
      "  local atomic_float least;\n"
      "  if (get_local_id(0) == 0) atomic_init(&least, 1000.0f);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  float x = get_global_id(0);\n"
      "  atomic_fetch_add(sum, x);\n"
      "  atomic_fetch_max_explicit(most, (double)x, memory_order_relaxed, memory_scope_device);\n"
      "  atomic_fetch_min(&least, x - 3.0f);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  if (get_local_id(0) == 0) atomic_fetch_sub(sum, atomic_load(&least));\n"
      "}\n",
      "k");
  const OwnedMem sum = upload(std::vector<cl_float>{0}), most = upload(std::vector<cl_double>{-1});
  set(k, sum, most);
  run(k, {{64}, {16}});
  // Less the least value of each of four groups: -3, 13, 29 and 45.
  EXPECT_EQ(download<cl_float>(sum)[0], 63 * 32 - (0 + 16 + 32 + 48 - 4 * 3));
  EXPECT_EQ(download<cl_double>(most)[0], 63);
}

TEST_F(Language, WideLegacyAtomics) {
  const OwnedKernel k = kernel(
      built("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
            "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
            "kernel void k(global long* o) {\n"
            "  long x = (long)get_global_id(0) << 33;\n"
            "  atom_add(o, x); atom_max(o + 1, x); atom_or((global ulong*)o + 2, (ulong)x);\n"
            "}\n"),
      "k");
  const OwnedMem out = upload(std::vector<cl_long>(3));
  set(k, out);
  run(k, {{100}});
  EXPECT_EQ(download<cl_long>(out),
            (std::vector<cl_long>{cl_long{4950} << 33, cl_long{99} << 33, cl_long{127} << 33}));
}

// Both are single operations to an optimiser, which not every target has.
TEST_F(Language, BytesTurnedRoundAndNumbersTooLarge) {
  const OwnedProgram program = built(
      "kernel void turn(global ulong* a) {\n"
      "  const ulong x = a[get_global_id(0)];\n"
      "  const uint y = x; const ushort z = x;\n"
      "  const uint four = y >> 24 | (y >> 8 & 0xff00) | (y << 8 & 0xff0000) | y << 24;\n"
      "  const ushort two = z >> 8 | z << 8;\n"
      "  const ulong eight = x >> 56 | (x >> 40 & 0xff00) | (x >> 24 & 0xff0000) |\n"
      "    (x >> 8 & 0xff000000) | (x << 8 & 0xff00000000) | (x << 24 & 0xff0000000000) |\n"
      "    (x << 40 & 0xff000000000000) | x << 56;\n"
      "  a[get_global_id(0)] = eight ^ four ^ two;\n"
      "}\n"
      "#define PRODUCT(type) { const type x = a[i], y = b[i], xy = x * y;\\\n"
      "    too_large = too_large << 1 | (x != 0 && xy / x != y); }\n"
      "kernel void check(global const ulong* a, global const ulong* b, global uint* out) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  uint too_large = 0;\n"
      "  PRODUCT(uint) PRODUCT(ulong)\n"
      "  const long sum = (long)(int)a[i] + (int)b[i];\n"
      "  too_large = too_large << 1 | (sum > INT_MAX || sum < INT_MIN);\n"
      "  out[i] = too_large;\n"
      "}");
  const OwnedMem numbers = upload<cl_ulong>({0x0102030405060708, 0xff00000000000080});
  const OwnedKernel turn = kernel(program, "turn");
  set(turn, numbers);
  run(turn, {{2}});
  EXPECT_EQ(download<cl_ulong>(numbers),
            (std::vector<cl_ulong>{0x0807060504030201 ^ 0x08070605 ^ 0x0807,
                                   0x80000000000000ff ^ 0x80000000 ^ 0x8000}));
  const OwnedMem a =
      upload<cl_ulong>({3, 0x10000, 0x7fffffff, cl_ulong{1} << 32, 0xffffffff80000000});
  const OwnedMem b = upload<cl_ulong>({5, 0x10000, 1, cl_ulong{1} << 32, 0xffffffff});
  const OwnedMem out = upload(std::vector<cl_uint>(5));
  const OwnedKernel check = kernel(program, "check");
  set(check, a, b, out);
  run(check, {{5}});
  EXPECT_EQ(download<cl_uint>(out), (std::vector<cl_uint>{0, 4, 1, 2, 7}));
}

// Elements of a vector that are smaller than those it was made of, some of which are constants.
TEST_F(Language, PartsOfConstantElements) {
  const OwnedProgram program = built(
      "__attribute__((noinline)) uint sum(ushort8 v) {\n"
      "  return v.s0 + 2 * v.s3 + 3 * v.s4 + 4 * v.s7;\n"
      "}\n"
      "kernel void f(global uint* out) {\n"
      "  const ulong i = get_global_id(0);\n"
      "  const uchar16 bytes = as_uchar16((uint4)(i, 0x04030201, i + 1, 0x08070605));\n"
      "  out[i] = sum(as_ushort8((ulong2)(i, 0x0010000e000c000aUL))) + (bytes.s5 << bytes.sf) +\n"
      "           bytes.s8 * 10000;\n"
      "}");
  const OwnedMem out = upload(std::vector<cl_uint>(4));
  const OwnedKernel f = kernel(program, "f");
  set(f, out);
  run(f, {{4}});
  std::vector<cl_uint> expected;
  for (cl_uint i = 0; i < 4; ++i)
    expected.push_back(i + 3 * 10 + 4 * 16 + (2 << 8) + (i + 1) * 10000);
  EXPECT_EQ(download<cl_uint>(out), expected);
}

// With padding, which copies of it move, too.
TEST_F(Language, StructuresPassedByValue) {
  const OwnedProgram program = built(
      "typedef struct { float a; double b; char c; } padded;\n"
      "typedef struct { float3 v; uchar q[5]; } tail;\n"
      "int sum(int w, padded z) { return (int)(z.a + z.b) + z.c + w * 1000; }\n"
      "padded more(padded z, global int* out) { *out += z.c; z.c += 1; return z; }\n"
      "tail last(tail z, int i) { z.q[i] += 1; z.v.z *= 2; return z; }\n"
      "kernel void f(global int* out) {\n"
      "  const int x = get_global_id(0);\n"
      "  padded p = {x, x * 3, x * 5};\n"
      "  int r = sum(x, p);\n"
      "  p = more(p, out + x);\n"
      "  tail t = {(float3)(x, 2, x + 3), {1, 2, x, 4, 5}};\n"
      "  const tail u = last(t, x & 3);\n"
      "  for (int i = 0; i < 5; ++i) r += (u.q[i] - t.q[i]) * (i + 1) * 100000;\n"
      "  out[x] += r + p.c * 10 + (int)(u.v.z + t.v.z) * 1000000;\n"
      "}");
  const OwnedMem out = upload(std::vector<cl_int>(5, 7));
  const OwnedKernel f = kernel(program, "f");
  set(f, out);
  run(f, {{5}});
  std::vector<cl_int> expected;
  for (cl_int x = 0; x < 5; ++x) {
    const cl_int sum = x + 3 * x + 5 * x + x * 1000, more = 7 + 5 * x + (5 * x + 1) * 10;
    expected.push_back(sum + more + ((x & 3) + 1) * 100000 + 3 * (x + 3) * 1000000);
  }
  EXPECT_EQ(download<cl_int>(out), expected);
}

// cl_khr_kernel_clock: the time of each scope goes on, whichever form it is read in.
TEST_F(Language, ClocksOfKernels) {
  const OwnedProgram program = built(
      "kernel void k(global int* out) {\n"
      "#ifdef cl_khr_kernel_clock\n"
      "  int right = 0;\n"
      "  #define READ(scope) { ulong a = clock_read_##scope();\\\n"
      "    uint2 b = clock_read_hilo_##scope(); ulong middle = (ulong)b.y << 32 | b.x;\\\n"
      "    right += a != 0 && a <= middle && middle <= clock_read_##scope(); }\n"
      "  READ(device) READ(work_group)\n"
      "  #ifdef __opencl_c_kernel_clock_scope_sub_group\n"
      "  READ(sub_group)\n"
      "  #else\n"
      "  ++right;\n"
      "  #endif\n"
      "  out[get_global_id(0)] = right == 3;\n"
      "#else\n"
      "  out[get_global_id(0)] = 1;\n"
      "#endif\n"
      "}",
      "-cl-std=CL3.0");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(40));
  set(k, out);
  run(k, {{40}, {20}});
  EXPECT_EQ(download<cl_int>(out), std::vector<cl_int>(40, 1));
}

}  // namespace
}  // namespace weft::e2e
