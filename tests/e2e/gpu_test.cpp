// GPUs beside the CPU in one context. Skips where the machine has no GPU.
#include <cmath>
#include <cstring>
#include <numeric>

#include "api/cl_weft_ext.h"
#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

cl_device_id deviceOf(cl_device_type type) {
  cl_device_id device = nullptr;
  cl.clGetDeviceIDs(testPlatform(), type, 1, &device, nullptr);
  return device;
}

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    cpu = deviceOf(CL_DEVICE_TYPE_CPU);
    gpu = deviceOf(CL_DEVICE_TYPE_GPU);
    if (!gpu || !cpu) GTEST_SKIP() << "no GPU here";
    const cl_device_id both[] = {cpu, gpu};
    cl_int code = CL_SUCCESS;
    context = OwnedContext(cl.clCreateContext(nullptr, 2, both, nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    queues[0] = OwnedQueue(cl.clCreateCommandQueue(context, cpu, 0, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    queues[1] = OwnedQueue(cl.clCreateCommandQueue(context, gpu, 0, &code));
    ASSERT_EQ(code, CL_SUCCESS);
  }

  std::string log(cl_program program, cl_device_id device) const {
    std::string text(16384, '\0');
    cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, text.size(), text.data(),
                             nullptr);
    return text.c_str();
  }
  OwnedProgram source(const char* text) const {
    cl_int code = CL_SUCCESS;
    OwnedProgram program(cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return program;
  }
  OwnedProgram built(const char* text, const char* options = "-cl-std=CL3.0") const {
    OwnedProgram program = source(text);
    EXPECT_EQ(cl.clBuildProgram(program, 0, nullptr, options, nullptr, nullptr), CL_SUCCESS)
        << log(program, cpu) << log(program, gpu);
    return program;
  }
  OwnedKernel kernel(cl_program program, const char* name) const {
    cl_int code = CL_SUCCESS;
    OwnedKernel made(cl.clCreateKernel(program, name, &code));
    EXPECT_EQ(code, CL_SUCCESS) << name;
    return made;
  }
  template <class T>
  OwnedMem upload(const std::vector<T>& values) const {
    cl_int code = CL_SUCCESS;
    OwnedMem made(cl.clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T),
                                    const_cast<T*>(values.data()), &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  template <class T>
  std::vector<T> download(cl_command_queue queue, cl_mem memory, size_t count) const {
    std::vector<T> values(count);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, count * sizeof(T), values.data(), 0,
                                     nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
  template <class... A>
  void set(cl_kernel kernel, const A&... arguments) const {
    cl_uint index = 0;
    (setOne(kernel, index++, arguments), ...);
  }
  cl_int enqueue(cl_command_queue queue, cl_kernel kernel, const Range& range,
                 std::vector<cl_event> waits = {}, cl_event* event = nullptr) const {
    const auto pointer = [](const std::vector<size_t>& v) {
      return v.empty() ? nullptr : v.data();
    };
    return cl.clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(range.global.size()),
                                     pointer(range.offset), range.global.data(),
                                     pointer(range.local), static_cast<cl_uint>(waits.size()),
                                     waits.empty() ? nullptr : waits.data(), event);
  }
  // Runs `name` on both devices, with a buffer of `count` elements of T (from `start`) as its first
  // argument, and returns what it holds afterwards on each.
  template <class T, class... A>
  std::array<std::vector<T>, 2> onBoth(const char* text, const char* name,
                                       const std::vector<T>& start, const Range& range,
                                       const A&... rest) const {
    const OwnedProgram program = built(text);
    const OwnedKernel made = kernel(program, name);
    std::array<std::vector<T>, 2> results;
    for (size_t i = 0; i < 2; ++i) {
      const OwnedMem out = upload(start);
      set(made, out, rest...);
      EXPECT_EQ(enqueue(queues[i], made, range), CL_SUCCESS);
      results[i] = download<T>(queues[i], out, start.size());
    }
    return results;
  }

  cl_device_id cpu = nullptr, gpu = nullptr;
  OwnedContext context;
  std::array<OwnedQueue, 2> queues;

 private:
  template <class T>
  void setOne(cl_kernel kernel, cl_uint index, const T& value) const {
    cl_int code = CL_SUCCESS;
    if constexpr (std::is_same_v<T, Local>) {
      code = cl.clSetKernelArg(kernel, index, value.bytes, nullptr);
    } else if constexpr (std::is_same_v<T, OwnedMem>) {
      const cl_mem handle = value;
      code = cl.clSetKernelArg(kernel, index, sizeof handle, &handle);
    } else {
      code = cl.clSetKernelArg(kernel, index, sizeof value, &value);
    }
    EXPECT_EQ(code, CL_SUCCESS) << "argument " << index;
  }
};

constexpr char place_source[] =
    "kernel void place(global ulong* out) {\n"
    "  size_t row = get_global_linear_id();\n"
    "  ulong all = get_local_linear_id() + get_enqueued_local_size(0) + get_work_dim();\n"
    "  for (uint d = 0; d < 4; ++d)\n"
    "    all = all * 31 + get_global_id(d) + 3 * get_local_id(d) + 5 * get_group_id(d) +\n"
    "          7 * get_local_size(d) + 11 * get_num_groups(d) + 13 * get_global_size(d) +\n"
    "          17 * get_global_offset(d);\n"
    "  out[row] = all;\n"
    "}\n";

TEST_F(Gpu, WorkItemsKnowTheirPlace) {
  const Range ranges[] = {{{1000}, {64}},
                          {{1000}, {}, {77}},
                          {{60, 17}, {8, 4}},
                          {{21, 10, 9}, {4, 5, 2}, {1, size_t{1} << 33, 3}}};
  for (const Range& range : ranges) {
    size_t count = 1;
    for (const size_t size : range.global) count *= size;
    Range with_size = range;
    // Devices choose sizes of their own.
    if (with_size.local.empty()) with_size.local = {50};
    const auto result = onBoth(place_source, "place", std::vector<cl_ulong>(count), with_size);
    EXPECT_EQ(result[0], result[1]);
  }
}

TEST_F(Gpu, LocalMemoryAndBarriers) {
  const char* text =
      "kernel void sort(global int* data, local int* a) {\n"
      "  local int b[256];\n"
      "  const uint i = get_local_id(0), n = get_local_size(0);\n"
      "  a[i] = data[get_global_id(0)];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  uint rank = 0;\n"
      "  for (uint k = 0; k < n; ++k) rank += a[k] < a[i] || (a[k] == a[i] && k < i);\n"
      "  b[rank] = a[i];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  data[get_global_id(0)] = b[i];\n"
      "}\n";
  std::vector<cl_int> start(4096);
  for (size_t i = 0; i < start.size(); ++i) start[i] = static_cast<cl_int>(i * 7919 % 1013);
  const auto result = onBoth(text, "sort", start, {{4096}, {256}}, Local{256 * sizeof(cl_int)});
  EXPECT_EQ(result[0], result[1]);
  EXPECT_TRUE(std::is_sorted(result[1].begin(), result[1].begin() + 256));
}

TEST_F(Gpu, AtomicsAndProgramScopeVariables) {
  const char* text =
      "constant uint weights[4] = {1, 10, 100, 1000};\n"
      "global uint seen = 5;\n"
      "kernel void count(global uint* bins) {\n"
      "  local uint mine[16];\n"
      "  if (get_local_id(0) < 16) mine[get_local_id(0)] = 0;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  const uint i = (uint)get_global_id(0);\n"
      "  atomic_add(&mine[i % 16], weights[i % 4]);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  if (get_local_id(0) < 16) atomic_add(&bins[get_local_id(0)], mine[get_local_id(0)]);\n"
      "  atomic_fetch_max_explicit((volatile global atomic_uint*)&bins[16], i,\n"
      "                            memory_order_relaxed, memory_scope_device);\n"
      "  atomic_fetch_add((volatile global atomic_uint*)&seen, 1u);\n"
      "  atomic_max(&bins[17], seen > 5 ? 1u : 0u);\n"
      "}\n";
  const auto result = onBoth(text, "count", std::vector<cl_uint>(18), {{8192}, {128}});
  EXPECT_EQ(result[0], result[1]);
  EXPECT_EQ(result[1][16], 8191u);
  EXPECT_EQ(result[1][17], 1u);
}

TEST_F(Gpu, ValuesOfEveryKindOfType) {
  const char* text =
      "typedef struct { char c; double d; float4 v; } S;\n"
      "kernel void mix(global float* out, S s, float3 v, char c, ulong2 w, short h) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  s.v.xyz += v;\n"
      "  out[8 * i] = s.v.x + s.v.y * 2 + s.v.z * 3 + s.v.w * 4;\n"
      "  out[8 * i + 1] = (float)(s.d * 2) + s.c + c;\n"
      "  out[8 * i + 2] = (float)(w.x >> 40) + (float)w.y + (float)mul_hi(w.x, w.y);\n"
      "  out[8 * i + 3] = h;\n"
      "  vstore_half_rtz(s.v.x * 1.0009765f, 8, (global half*)(out + 8 * i));\n"
      "  out[8 * i + 5] = vload_half(8, (global half*)(out + 8 * i));\n"
      "  out[8 * i + 6] = convert_char_sat_rte(s.v.y * 100);\n"
      "  out[8 * i + 7] = popcount(w.x) + clz(w.y) + rotate(7, 3);\n"
      "}\n";
  struct alignas(16) S {
    cl_char c;
    cl_double d;
    cl_float v[4];
  };
  const S s{3, 0.25, {1, 2, 3, 4}};
  const cl_float4 v{{0.5f, 0.25f, 0.125f, 0}};
  const cl_ulong2 w{{cl_ulong{77} << 40, 99}};
  const auto result = onBoth(text, "mix", std::vector<cl_float>(64), {{8}, {4}}, s, v, cl_char{-5},
                             w, cl_short{-1234});
  EXPECT_EQ(result[0], result[1]);
  EXPECT_EQ(result[1][3], -1234);
}

TEST_F(Gpu, MathWithinItsBounds) {
  const char* text =
      "#define F(f) out[k++ * n + i] = f(x);\n"
      "kernel void math(global double* out) {\n"
      "  const uint i = get_global_id(0), n = get_global_size(0);\n"
      "  uint k = 0;\n"
      "  const double x = 0.001 + i * 0.0371;\n"
      "  F(exp) F(log) F(sin) F(cos) F(tan) F(atan) F(tanh) F(cbrt) F(erf) F(log2) F(sqrt)\n"
      "  F(rsqrt) F(sinh) F(exp10) F(lgamma) F(tgamma) F(acosh) F(asinh) F(cospi)\n"
      "  out[k++ * n + i] = pow(x, 1.7); out[k++ * n + i] = fmod(x, 0.3);\n"
      "  out[k++ * n + i] = (double)sin((float)x * 1e8f); out[k++ * n + i] = "
      "(double)native_exp((float)x);\n"
      "  out[k++ * n + i] = atan2(x, 3.0); out[k++ * n + i] = hypot(x, 2.0);\n"
      "}\n";
  constexpr size_t n = 1024, functions = 25;
  const auto result = onBoth(text, "math", std::vector<cl_double>(n * functions), {{n}, {64}});
  size_t wrong = 0;
  for (size_t i = 0; i < result[0].size(); ++i) {
    const double a = result[0][i], b = result[1][i];
    // The last three digits of double, or of float where it was computed in that; lgamma (14) has
    // no relative accuracy near its zeros, and native_exp (22) loses what its argument has.
    const double relative = i / n == 21 ? 4e-7 : i / n == 22 ? 1e-5 : 1e-14;
    const double scale = std::max(std::fabs(a), i / n == 14 ? 1.0 : 1e-3);
    const bool same =
        (std::isnan(a) && std::isnan(b)) || a == b || std::fabs(a - b) <= relative * scale;
    if (!same && ++wrong < 5) ADD_FAILURE() << "function " << i / n << ": " << a << " and " << b;
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_F(Gpu, BuffersMoveBetweenTheDevices) {
  const OwnedProgram program =
      built("kernel void step(global uint* data, uint by) { data[get_global_id(0)] += by; }\n");
  const OwnedKernel step = kernel(program, "step");
  constexpr size_t count = 100'000;
  std::vector<cl_uint> expected(count);
  std::iota(expected.begin(), expected.end(), 0u);
  const OwnedMem memory = upload(expected);
  OwnedEvent last;
  for (cl_uint round = 1; round <= 20; ++round) {
    set(step, memory, round);
    cl_event event = nullptr;
    std::vector<cl_event> waits;
    if (last) waits.push_back(last);
    ASSERT_EQ(enqueue(queues[round % 2], step, {{count}}, waits, &event), CL_SUCCESS);
    last = OwnedEvent(event);
    for (cl_uint& value : expected) value += round;
  }
  EXPECT_EQ(cl.clFinish(queues[0]), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queues[1]), CL_SUCCESS);
  EXPECT_EQ(download<cl_uint>(queues[0], memory, count), expected);
  EXPECT_EQ(download<cl_uint>(queues[1], memory, count), expected);
}

TEST_F(Gpu, HalvesOfABufferOnEitherDevice) {
  const OwnedProgram program = built(
      "kernel void square(global uint* data) { const size_t i = get_global_id(0); data[i] *= "
      "data[i]; }\n");
  const OwnedKernel square = kernel(program, "square");
  constexpr size_t count = 65536;
  std::vector<cl_uint> start(count);
  std::iota(start.begin(), start.end(), 0u);
  const OwnedMem memory = upload(start);
  OwnedMem parts[2];
  for (size_t i = 0; i < 2; ++i) {
    const cl_buffer_region region{i * count * 2, count * 2};
    cl_int code = CL_SUCCESS;
    parts[i] =
        OwnedMem(cl.clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    set(square, parts[i]);
    ASSERT_EQ(enqueue(queues[i], square, {{count / 2}}), CL_SUCCESS);
  }
  for (const auto& queue : queues) ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  cl_int code = CL_SUCCESS;
  auto* mapped = static_cast<cl_uint*>(cl.clEnqueueMapBuffer(
      queues[1], memory, CL_TRUE, CL_MAP_READ, 0, count * 4, 0, nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  for (cl_uint i = 0; i < count; ++i) ASSERT_EQ(mapped[i], i * i);
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(queues[1], memory, mapped, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queues[1]), CL_SUCCESS);
}

TEST_F(Gpu, BinariesOfBothDevices) {
  const OwnedProgram program = built("kernel void set(global uint* data) { *data = 42; }\n");
  size_t sizes[2] = {};
  ASSERT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, nullptr),
            CL_SUCCESS);
  std::vector<unsigned char> bytes[2] = {std::vector<unsigned char>(sizes[0]),
                                         std::vector<unsigned char>(sizes[1])};
  unsigned char* pointers[2] = {bytes[0].data(), bytes[1].data()};
  ASSERT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointers, pointers, nullptr),
            CL_SUCCESS);
  const cl_device_id both[] = {cpu, gpu}, crossed[] = {gpu, cpu};
  const unsigned char* binaries[] = {pointers[0], pointers[1]};
  cl_int code = CL_SUCCESS;
  OwnedProgram wrong(
      cl.clCreateProgramWithBinary(context, 2, crossed, sizes, binaries, nullptr, &code));
  EXPECT_EQ(code, CL_INVALID_BINARY);
  OwnedProgram again(
      cl.clCreateProgramWithBinary(context, 2, both, sizes, binaries, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  ASSERT_EQ(cl.clBuildProgram(again, 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
  const OwnedKernel made = kernel(again, "set");
  for (const auto& queue : queues) {
    const OwnedMem memory = upload(std::vector<cl_uint>{1});
    set(made, memory);
    ASSERT_EQ(enqueue(queue, made, {{1}}), CL_SUCCESS);
    EXPECT_EQ(download<cl_uint>(queue, memory, 1)[0], 42u);
  }
}

// What nobody defines is an error of the GPU's build, too, with the name.
TEST_F(Gpu, MissingFunctionsAreNamed) {
  const OwnedProgram program =
      source("int absent(int);\nkernel void k(global int* a) { a[0] = absent(1); }\n");
  EXPECT_EQ(cl.clBuildProgram(program, 1, &gpu, "", nullptr, nullptr), CL_BUILD_PROGRAM_FAILURE);
  EXPECT_NE(log(program, gpu).find("absent"), std::string::npos) << log(program, gpu);
}

TEST_F(Gpu, SharedVirtualMemoryIsEachDevicesOwn) {
  cl_device_svm_capabilities on_cpu = 0, on_gpu = 0;
  cl.clGetDeviceInfo(cpu, CL_DEVICE_SVM_CAPABILITIES, sizeof on_cpu, &on_cpu, nullptr);
  cl.clGetDeviceInfo(gpu, CL_DEVICE_SVM_CAPABILITIES, sizeof on_gpu, &on_gpu, nullptr);
  // A CPU device that is made of a CPU and others promises what all of them do.
  const bool alone = listOf<cl_device_id>(cpu, CL_DEVICE_MEMBERS_WEFT).empty();
  EXPECT_EQ(alone, bool(on_cpu & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM));
  EXPECT_FALSE(on_gpu & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM);
  const OwnedProgram program =
      built("kernel void add(global uint* data) { data[get_global_id(0)] += 1; }\n");
  const OwnedKernel add = kernel(program, "add");
  auto* data = static_cast<cl_uint*>(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0));
  ASSERT_NE(data, nullptr);
  std::iota(data, data + 1024, 0u);
  ASSERT_EQ(cl.clSetKernelArgSVMPointer(add, 0, data), CL_SUCCESS);
  EXPECT_EQ(enqueue(queues[0], add, {{1024}}), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queues[0]), CL_SUCCESS);
  EXPECT_EQ(enqueue(queues[1], add, {{1024}}), on_gpu ? CL_SUCCESS : CL_INVALID_OPERATION);
  EXPECT_EQ(cl.clFinish(queues[1]), CL_SUCCESS);
  for (cl_uint i = 0; i < 1024; ++i) ASSERT_EQ(data[i], i + (on_gpu ? 2 : 1));
  std::vector<cl_uint> anywhere(1024);
  ASSERT_EQ(cl.clSetKernelArgSVMPointer(add, 0, anywhere.data()), CL_SUCCESS);
  EXPECT_EQ(enqueue(queues[1], add, {{1024}}), CL_INVALID_OPERATION);
  cl.clSVMFree(context, data);
}

TEST_F(Gpu, TimesOfItsCommandsAreInOrder) {
  cl_int code = CL_SUCCESS;
  const OwnedQueue queue(cl.clCreateCommandQueue(context, gpu, CL_QUEUE_PROFILING_ENABLE, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const OwnedProgram program =
      built("kernel void add(global uint* data) { data[get_global_id(0)] += 1; }\n");
  const OwnedKernel add = kernel(program, "add");
  const OwnedMem memory = upload(std::vector<cl_uint>(1024));
  set(add, memory);
  cl_ulong before = 0;
  for (int i = 0; i < 10; ++i) {
    cl_event raw = nullptr;
    ASSERT_EQ(enqueue(queue, add, {{1024}}, {}, &raw), CL_SUCCESS);
    const OwnedEvent event(raw);
    ASSERT_EQ(cl.clWaitForEvents(1, &raw), CL_SUCCESS);
    cl_ulong times[4] = {};
    for (cl_uint k = 0; k < 4; ++k)
      ASSERT_EQ(cl.clGetEventProfilingInfo(raw, CL_PROFILING_COMMAND_QUEUED + k, sizeof times[k],
                                           &times[k], nullptr),
                CL_SUCCESS);
    EXPECT_TRUE(std::is_sorted(times, times + 4));
    EXPECT_GE(times[3], before);
    before = times[3];
  }
}

}  // namespace
}  // namespace weft::e2e
