// How many bytes of buffers a kernel on another device brings over: as many as have to move, worked
// out by hand.
#include <random>

#include "tests/e2e/counted_traffic.h"

namespace weft::e2e {
namespace {

constexpr size_t elements = 1024, bytes = elements * sizeof(cl_uint);

// kernel void k(global uint* in, global uint* out, int w, int n). Both buffers have 1024 elements,
// valid on another device: 32 rows of 32 where it says so.
struct Pattern {
  const char* name;
  const char* body;
  Range range;
  cl_int w, n;
  size_t moved;
  cl_mem_flags flags = CL_MEM_READ_WRITE;  // of `out`
};

void PrintTo(const Pattern& pattern, std::ostream* out) { *out << pattern.name; }

const Pattern patterns[] = {
    {"Copy", "out[i] = in[i];", {{1024}}, 0, 0, bytes},
    {"CopyOfAHalf", "out[i] = in[i];", {{512}}, 0, 0, bytes / 2},
    {"CopyFromAnOffset", "out[i] = in[i];", {{256}, {}, {256}}, 0, 0, bytes / 4},
    {"RaggedGroups", "out[i] = in[i];", {{500}, {64}}, 0, 0, 2000},
    {"Fill", "out[i] = 7;", {{1024}}, 0, 0, 0},
    {"Increment", "out[i] += in[i];", {{512}}, 0, 0, bytes},
    {"Guarded", "if (i < n) out[i] = in[i];", {{1024}}, 0, 700, 2800},
    {"GuardedByData", "if (in[i] & 1) out[i] = 1;", {{1024}}, 0, 0, 2 * bytes, CL_MEM_WRITE_ONLY},
    {"EverySecond", "out[2 * i] = 1;", {{512}}, 0, 0, bytes - 4, CL_MEM_WRITE_ONLY},
    {"EverySecondAndTheOthers", "out[2 * i] = 1; out[2 * i + 1] = 2;", {{512}}, 0, 0, 0},
    {"Neighbours",
     "if (i > 0 && i < n - 1) out[i] = in[i - 1] + in[i + 1];",
     {{1024}},
     0,
     512,
     2048},
    {"RowsOfAStencil",
     "out[y * w + x] = in[max(y - 1, 0) * w + x] + in[min(y + 1, n - 1) * w + x];",
     {{32, 8}, {}, {0, 8}},
     32,
     32,
     10 * 128},
    {"ClampedStencil",
     "out[y * w + x] = in[clamp(y - 2, 0, n - 1) * w + clamp(x + 1, 0, w - 1)];",
     {{32, 8}},
     32,
     32,
     6 * 124},
    {"InteriorOfAStencil",
     "if (x == 0 || y == 0 || x >= w - 1 || y >= n - 1) return;"
     "out[y*w+x] = in[(y-1)*w+x] + in[(y+1)*w+x] + in[y*w+x-1] + in[y*w+x+1];",
     {{32, 8}},
     32,
     32,
     30 * 4 + 7 * 128 + 30 * 4},
    {"Tile", "out[y * w + x] = in[y * w + x];", {{8, 8}, {}, {8, 8}}, 32, 0, 8 * 32},
    {"Transposed", "out[x * w + y] = in[y * w + x];", {{32, 8}}, 32, 0, 8 * 128},
    {"Product",
     "uint s = 0; for (int j = 0; j < n; ++j) s += in[y*w+j] * in[j*w+x]; out[y*w+x] = s;",
     {{32, 8}},
     32,
     32,
     bytes},
    {"SumsOfRows",
     "uint s = 0; for (int j = 0; j < w; ++j) s += in[i * w + j]; out[i] = s;",
     {{8}},
     32,
     0,
     8 * 128},
    {"RowsWrittenByLoops", "for (int j = 0; j < w; ++j) out[i * w + j] = j;", {{8}}, 32, 0, 0},
    {"Reduction",
     "local uint s[64]; int l = get_local_id(0); s[l] = in[i]; barrier(CLK_LOCAL_MEM_FENCE);"
     "for (int d = 32; d > 0; d /= 2) { if (l < d) s[l] += s[l + d]; barrier(CLK_LOCAL_MEM_FENCE); "
     "}"
     "if (l == 0) out[get_group_id(0)] = s[0];",
     {{512}, {64}},
     0,
     0,
     2048},
    {"Histogram", "atomic_inc(&out[in[i] & 15]);", {{256}}, 0, 0, 1024 + 64},
    {"Indirect", "out[i] = in[in[i] & 255];", {{16}}, 0, 0, 1024},
    {"Vectors", "vstore4(vload4(i, in), i, out);", {{64}}, 0, 0, 1024},
    {"Functions", "put(out, at(x, y, w), in[at(x, y, w)]);", {{32, 8}}, 32, 0, 1024},
    {"Wraps", "out[i] = in[(i + 1) % n] + in[i == 0 ? n - 1 : i - 1];", {{512}}, 0, 512, 2048},
    {"StridesOfTheGrid",
     "for (int j = i; j < n; j += get_global_size(0)) out[j] = in[j];",
     {{96}},
     0,
     1000,
     4000},
    {"StridesOfAGroup",
     "for (uint j = get_local_id(0); j < w; j += get_local_size(0))"
     " out[get_group_id(0) * w + j] = in[get_group_id(0) * w + j];",
     {{128}, {16}},
     100,
     0,
     8 * 400},
    {"Nothing", "if (i < n) out[i] = in[i];", {{1024}}, 0, 0, 0},
};

class BufferTraffic : public CountedTraffic {
 protected:
  // A buffer with contents that are on device 0.
  OwnedMem scattered(cl_mem_flags flags, uint32_t seed) const {
    std::mt19937 random(seed);
    std::vector<cl_uint> values(elements);
    for (cl_uint& value : values) value = static_cast<cl_uint>(random());
    OwnedMem memory = makeBuffer(flags, bytes);
    EXPECT_EQ(cl.clEnqueueWriteBuffer(queues[0], memory, CL_TRUE, 0, bytes, values.data(), 0,
                                      nullptr, nullptr),
              CL_SUCCESS);
    return memory;
  }
  // The contents of `out` after a run on a device, and what moved there.
  std::vector<cl_uint> result(cl_kernel kernel, const Pattern& p, size_t device, size_t& moved) {
    const OwnedMem in = scattered(CL_MEM_READ_WRITE, 1), out = scattered(p.flags, 2);
    set(kernel, in, out, p.w, p.n);
    const auto pointer = [](const std::vector<size_t>& v) {
      return v.empty() ? nullptr : v.data();
    };
    const size_t before = bytesMovedTo(device);
    EXPECT_EQ(cl.clEnqueueNDRangeKernel(queues[device], kernel,
                                        static_cast<cl_uint>(p.range.global.size()),
                                        pointer(p.range.offset), p.range.global.data(),
                                        pointer(p.range.local), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
    moved = bytesMovedTo(device) - before;
    std::vector<cl_uint> values(elements);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queues[device], out, CL_TRUE, 0, bytes, values.data(), 0,
                                     nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
};

class Traffic : public BufferTraffic, public testing::WithParamInterface<Pattern> {};

TEST_P(Traffic, IsTheLeast) {
  const Pattern& p = GetParam();
  const std::string source =
      "int at(int x, int y, int w) { return y * w + x; }\n"
      "void put(global uint* p, int i, uint v) { p[i] = v; }\n"
      "kernel void k(global uint* in, global uint* out, int w, int n) {\n"
      "  int i = get_global_id(0), x = i, y = get_global_id(1);\n" +
      std::string(p.body) + "}";
  const OwnedKernel k = kernel(built(source, "-cl-std=CL3.0"), "k");
  size_t at_home = 0, moved = 0;
  const auto expected = result(k, p, 0, at_home);
  EXPECT_EQ(result(k, p, 1, moved), expected);
  EXPECT_EQ(at_home, 0u);
  EXPECT_EQ(moved, p.moved);
}

INSTANTIATE_TEST_SUITE_P(, Traffic, testing::ValuesIn(patterns),
                         [](const auto& info) { return std::string(info.param.name); });

// Ranges count from a sub-buffer's first byte.
TEST_F(BufferTraffic, OfSubBuffers) {
  const OwnedKernel k = kernel(
      built(
          "kernel void k(global uint* a, int n) { int i = get_global_id(0); if (i < n) a[i]++; }"),
      "k");
  const OwnedMem whole = scattered(CL_MEM_READ_WRITE, 1);
  const cl_buffer_region region{1024, 2048};
  cl_int code = 1;
  const OwnedMem part(cl.clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  for (const cl_int n : {100, 200}) {  // the second time only what is new
    const size_t before = bytesMovedTo(1), global = 256;
    set(k, part, n);
    ASSERT_EQ(
        cl.clEnqueueNDRangeKernel(queues[1], k, 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
        CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(queues[1]), CL_SUCCESS);
    EXPECT_EQ(bytesMovedTo(1) - before, 400u);
  }
}

// Each device works on its half of a picture; only the rows at the border go to and fro.
TEST_F(BufferTraffic, OfAHaloExchange) {
  constexpr int rounds = 4, width = 32, height = 32;
  const OwnedKernel k =
      kernel(built("kernel void k(global const uint* in, global uint* out, int w, int h) {"
                   "  int x = get_global_id(0), y = get_global_id(1);"
                   "  uint s = in[y * w + x];"
                   "  if (y > 0) s += in[(y - 1) * w + x];"
                   "  if (y < h - 1) s += 3 * in[(y + 1) * w + x];"
                   "  out[y * w + x] = s; }"),
             "k");
  const OwnedMem a = scattered(CL_MEM_READ_WRITE, 1), b = makeBuffer(CL_MEM_READ_WRITE, bytes);
  std::vector<cl_uint> expected(elements);
  ASSERT_EQ(
      cl.clEnqueueReadBuffer(queues[0], a, CL_TRUE, 0, bytes, expected.data(), 0, nullptr, nullptr),
      CL_SUCCESS);
  const size_t before = bytesMovedTo(0) + bytesMovedTo(1);
  const size_t global[] = {width, height / 2};
  for (int round = 0; round < rounds; ++round) {
    set(k, round % 2 ? b : a, round % 2 ? a : b, cl_int{width}, cl_int{height});
    for (const size_t d : {0, 1}) {
      const size_t offset[] = {0, d * height / 2};
      ASSERT_EQ(
          cl.clEnqueueNDRangeKernel(queues[d], k, 2, offset, global, nullptr, 0, nullptr, nullptr),
          CL_SUCCESS);
    }
    for (const size_t d : {0, 1}) ASSERT_EQ(cl.clFinish(queues[d]), CL_SUCCESS);
    const auto old = expected;
    for (size_t i = 0; i < elements; ++i)
      expected[i] = old[i] + (i >= width ? old[i - width] : 0) +
                    (i + width < elements ? 3 * old[i + width] : 0);
  }
  constexpr size_t row = width * sizeof(cl_uint);
  EXPECT_EQ(bytesMovedTo(0) + bytesMovedTo(1) - before,
            (height / 2 + 1) * row + (rounds - 1) * 2 * row);
  std::vector<cl_uint> values(elements);
  ASSERT_EQ(
      cl.clEnqueueReadBuffer(queues[0], a, CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr),
      CL_SUCCESS);
  EXPECT_EQ(values, expected);
}

}  // namespace
}  // namespace weft::e2e
