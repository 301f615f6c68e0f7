// Intel's own driver in its capture mode, which needs no GPU and executes nothing: that it takes
// all that the backend asks of it. So nothing here looks at results.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr char source[] = R"(
  typedef struct node { global struct node* next; int value; } node;
  kernel void walk(global node* list, global int* sum, local float* l, float4 v) {
    local float s[64];
    const int i = get_local_id(0);
    s[i] = sin((float)get_global_id(0)) + v.x;
    l[i] = exp2(v.y) * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (global node* n = list; n; n = n->next) *sum += n->value + s[63 - i] + l[0];
  }
  kernel void lanes(global int* data) {
    const int i = get_global_id(0);
    int x = sub_group_scan_inclusive_add(data[i]) + work_group_reduce_max(i);
    if (x & 1) x = sub_group_reduce_max(x) + sub_group_any(x > 5) + get_sub_group_id();
    data[i] = x;
  }
  __attribute__((intel_reqd_sub_group_size(8))) kernel void narrow(global int* data) {
    data[get_global_id(0)] = sub_group_broadcast(get_sub_group_local_id(), 3);
  }
  kernel void sum(global atomic_float* total, global float* data) {
    atomic_fetch_add_explicit(total, data[get_global_id(0)], memory_order_relaxed,
                              memory_scope_device);
  }
  kernel void tint(read_only image2d_t in, write_only image2d_t out, sampler_t s) {
    const int2 at = {get_global_id(0), get_global_id(1)};
    write_imagef(out, at, read_imagef(in, s, convert_float2(at) / 16) * 0.5f);
  }
  constant sampler_t own = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  kernel void every(read_only image1d_t line, read_only image2d_t plane,
                    read_only image2d_array_t layers, read_only image3d_t volume, sampler_t s,
                    global float4* out) {
    const float4 at = {get_global_id(0) / 16.0f, 0.5f, 1, 0};
    out[get_global_id(0)] = read_imagef(line, s, at.x) + read_imagef(plane, own, at.xy) +
                            convert_float4(read_imageui(layers, own, convert_int4(at))) +
                            read_imagef(volume, s, at) + get_image_width(plane);
  }
)";

class Capture : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    cl_uint count = 0;
    ASSERT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_GPU, 0, nullptr, &count),
              CL_SUCCESS);
    gpus.resize(count);
    cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_GPU, count, gpus.data(), nullptr);
    const char* const wanted = std::getenv("WEFT_TEST_GPUS");
    ASSERT_EQ(gpus.size(), wanted ? std::stoul(wanted) : 1u);
    std::vector<cl_device_id> all = gpus;
    for (const cl_device_id gpu : gpus) addTiles(gpu, all);
    cl_uint cpus = 0;
    cl_device_id cpu = nullptr;
    if (cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_CPU, 1, &cpu, &cpus) == CL_SUCCESS)
      all.push_back(cpu);
    cl_int code = 1;
    context = OwnedContext(cl.clCreateContext(nullptr, static_cast<cl_uint>(all.size()), all.data(),
                                              nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    all.resize(all.size() - cpus);
    gpus = all;
  }
  static void addTiles(cl_device_id gpu, std::vector<cl_device_id>& all) {
    const auto most = info<cl_uint>(cl.clGetDeviceInfo, gpu, CL_DEVICE_PARTITION_MAX_SUB_DEVICES);
    if (most == 0) return;
    const cl_device_partition_property by_tiles[] = {
        CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, 0};
    std::vector<cl_device_id> tiles(most);
    ASSERT_EQ(cl.clCreateSubDevices(gpu, by_tiles, most, tiles.data(), nullptr), CL_SUCCESS);
    all.insert(all.end(), tiles.begin(), tiles.end());
  }
  OwnedQueue queueOf(cl_device_id device, cl_command_queue_properties properties) const {
    cl_int code = 1;
    OwnedQueue made(cl.clCreateCommandQueue(context, device, properties, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  static void enqueue(cl_command_queue on, cl_kernel kernel, size_t global, size_t local,
                      cl_event* event = nullptr) {
    EXPECT_EQ(cl.clEnqueueNDRangeKernel(on, kernel, 1, nullptr, &global, &local, 0, nullptr, event),
              CL_SUCCESS);
  }
  // Not failed: more than that nobody knows there.
  static void expectWell(cl_event event) {
    EXPECT_GE(info<cl_int>(cl.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS), 0);
  }

  std::vector<cl_device_id> gpus;  // and their tiles
};

TEST_F(Capture, KernelsOfEveryKind) {
  const OwnedProgram program = built(source, "-cl-std=CL3.0");
  const OwnedMem data = makeBuffer(CL_MEM_READ_WRITE, 4096), total = makeBuffer();
  for (const cl_device_id gpu : gpus)
    for (const cl_command_queue_properties order :
         {cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE},
          cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}}) {
      const OwnedQueue queue = queueOf(gpu, order);
      const OwnedKernel lanes = kernel(program, "lanes"), narrow = kernel(program, "narrow"),
                        sum = kernel(program, "sum");
      set(lanes, data);
      set(narrow, data);
      set(sum, total, data);
      cl_event ended = nullptr;
      enqueue(queue, lanes, 192, 48);
      enqueue(queue, narrow, 64, 64);
      enqueue(queue, sum, 256, 64, &ended);
      EXPECT_EQ(cl.clFlush(queue), CL_SUCCESS);
      const OwnedEvent event(ended);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      expectWell(event);
      EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
    }
}

// Each waits for the one before, on another device or tile where there is one.
TEST_F(Capture, ChainsOverDevices) {
  const OwnedKernel lanes = kernel(built(source, "-cl-std=CL3.0"), "lanes");
  std::vector<OwnedQueue> queues;
  std::vector<OwnedEvent> events;
  std::vector<OwnedMem> buffers;
  for (const cl_device_id gpu : gpus) queues.push_back(queueOf(gpu, 0));
  for (size_t i = 0; i < 3 * queues.size(); ++i) {
    buffers.push_back(makeBuffer());
    set(lanes, buffers.back());
    const cl_event before = events.empty() ? nullptr : cl_event(events.back());
    const size_t global = 64, local = 64;
    events.emplace_back();
    EXPECT_EQ(
        cl.clEnqueueNDRangeKernel(queues[i % queues.size()], lanes, 1, nullptr, &global, &local,
                                  before ? 1 : 0, before ? &before : nullptr, events.back().out()),
        CL_SUCCESS);
  }
  for (const OwnedQueue& queue : queues) EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
  for (const OwnedEvent& event : events) expectWell(event);
}

TEST_F(Capture, SharedMemoryFillsCopiesAndImages) {
  const OwnedProgram program = built(source, "-cl-std=CL3.0");
  const OwnedMem data = makeBuffer(CL_MEM_READ_WRITE, 1 << 20), other = makeBuffer();
  void* const shared = cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 1 << 16, 0);
  ASSERT_NE(shared, nullptr);
  cl_int code = 1;
  const cl_image_format format{CL_RGBA, CL_UNORM_INT8};
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = shape.image_height = 16;
  const OwnedMem in(cl.clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, nullptr, &code)),
      out(cl.clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const OwnedSampler sampler(
      cl.clCreateSampler(context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &code));
  std::vector<char> bytes(1 << 20);
  for (const cl_device_id gpu : gpus) {
    const OwnedQueue queue = queueOf(gpu, 0);
    const OwnedKernel walk = kernel(program, "walk"), tint = kernel(program, "tint");
    EXPECT_EQ(cl.clSetKernelArgSVMPointer(walk, 0, shared), CL_SUCCESS);
    EXPECT_EQ(cl.clSetKernelArgSVMPointer(walk, 1, static_cast<char*>(shared) + 4096), CL_SUCCESS);
    EXPECT_EQ(cl.clSetKernelArg(walk, 2, 256, nullptr), CL_SUCCESS);
    const cl_float4 v{};
    EXPECT_EQ(cl.clSetKernelArg(walk, 3, sizeof v, &v), CL_SUCCESS);
    const cl_int one = 1;
    EXPECT_EQ(cl.clEnqueueSVMMemFill(queue, shared, &one, 4, 4096, 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueFillBuffer(queue, data, &one, 4, 0, 4096, 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueWriteBuffer(queue, data, CL_FALSE, 0, bytes.size(), bytes.data(), 0,
                                      nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueCopyBuffer(queue, data, other, 0, 0, 4096, 0, nullptr, nullptr),
              CL_SUCCESS);
    enqueue(queue, walk, 256, 64);
    set(tint, in, out, sampler);
    enqueue(queue, tint, 16, 16);
    EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
  }
  cl.clSVMFree(context, shared);
}

// With WEFT_NATIVE_IMAGES through the device's own images. They are written in between, and end
// while the queue goes on.
TEST_F(Capture, SampledImagesOfEveryShape) {
  const OwnedKernel every = kernel(built(source, "-cl-std=CL3.0"), "every");
  struct Row {
    cl_mem_object_type type;
    size_t height, depth, layers;
    cl_image_format format;
  };
  const Row rows[] = {{CL_MEM_OBJECT_IMAGE1D, 0, 0, 0, {CL_R, CL_FLOAT}},
                      {CL_MEM_OBJECT_IMAGE2D, 16, 0, 0, {CL_BGRA, CL_UNORM_INT8}},
                      {CL_MEM_OBJECT_IMAGE2D_ARRAY, 8, 0, 4, {CL_RGBA, CL_UNSIGNED_INT16}},
                      {CL_MEM_OBJECT_IMAGE3D, 8, 5, 0, {CL_RG, CL_HALF_FLOAT}}};
  cl_int code = 1;
  const OwnedSampler sampler(
      cl.clCreateSampler(context, CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_LINEAR, &code));
  const OwnedMem out = makeBuffer();
  for (const cl_device_id gpu : gpus) {
    const OwnedQueue queue = queueOf(gpu, 0);
    for (int i = 0; i < 3; ++i) {
      std::vector<OwnedMem> images;
      for (const auto& [type, height, depth, layers, format] : rows) {
        cl_image_desc shape{};
        shape.image_type = type;
        shape.image_width = 16;
        shape.image_height = height;
        shape.image_depth = depth;
        shape.image_array_size = layers;
        images.emplace_back(cl.clCreateImage(context, 0, &format, &shape, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const cl_mem image = images.back();
        ASSERT_EQ(
            cl.clSetKernelArg(every, static_cast<cl_uint>(images.size() - 1), sizeof image, &image),
            CL_SUCCESS);
      }
      const cl_sampler by = sampler;
      ASSERT_EQ(cl.clSetKernelArg(every, 4, sizeof by, &by), CL_SUCCESS);
      const cl_mem to = out;
      ASSERT_EQ(cl.clSetKernelArg(every, 5, sizeof to, &to), CL_SUCCESS);
      for (const float value : {0.0f, 1.0f}) {
        const float colour[4] = {value, value, value, value};
        const size_t zero[] = {0, 0, 0}, all[] = {16, 16, 1};
        EXPECT_EQ(cl.clEnqueueFillImage(queue, images[1], colour, zero, all, 0, nullptr, nullptr),
                  CL_SUCCESS);
        enqueue(queue, every, 64, 32);
        enqueue(queue, every, 64, 32);
      }
      EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
    }
  }
}

}  // namespace
}  // namespace weft::e2e
