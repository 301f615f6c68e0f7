// Device-side enqueue: what kernels enqueue, and when it runs.
#include <numeric>

#include "tests/conformance/command_buffer.h"
#include "tests/e2e/device_queues.h"

namespace weft::e2e {
namespace {

std::vector<cl_int> upTo(cl_int n) {
  std::vector<cl_int> values(size_t(n), 0);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST_F(DeviceEnqueue, RunsBlocksWithWhatTheyCaptured) {
  const auto values = outcome(R"(
    typedef struct { int a; double b; int4 c; } S;
    void store(global int* out, int base, S s) {
      out[get_global_id(0)] = base + (int)s.b + s.c.w + (int)get_global_id(0);
    }
    kernel void k(global int* out) {
      S s = {1, 2.0, (int4)(3)};
      int base = -5;
      enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1000),
                     ^{ store(out, base, s); });
    })",
                              1000);
  EXPECT_EQ(values, upTo(1000));
}

TEST_F(DeviceEnqueue, Ranges) {
  const auto values = outcome(R"(
    kernel void k(global int* out) {
      size_t offset[3] = {1, 2, 3}, global_size[3] = {5, 6, 4}, local_size[3] = {2, 3, 4};
      void (^block)(void) = ^{
        if (get_local_id(0) || get_local_id(1) || get_local_id(2)) return;
        atomic_add(out, (int)get_num_groups(0) * 100 + (int)get_global_offset(2) * 10 +
                            (int)get_work_dim());
        atomic_add(out + 1, (int)(get_local_size(0) * get_local_size(1) * get_local_size(2)));
      };
      enqueue_kernel(get_default_queue(), 0, ndrange_3D(offset, global_size, local_size), block);
    })",
                              2);
  EXPECT_EQ(values, (std::vector<cl_int>{6 * (300 + 30 + 3), 5 * 6 * 4}));
  EXPECT_EQ(outcome(R"(
    kernel void k(global int* out) {
      size_t two[2] = {7, 3};
      queue_t q = get_default_queue();
      enqueue_kernel(q, 0, ndrange_2D(two), ^{ atomic_inc(out); });
      enqueue_kernel(q, 0, ndrange_1D(2, 6, 4), ^{ atomic_add(out + 1, (int)get_global_id(0)); });
      enqueue_kernel(q, 0, ndrange_1D(0), ^{ out[2] = 1; });
    })",
                    3),
            (std::vector<cl_int>{21, 2 + 3 + 4 + 5 + 6 + 7, 0}));
}

TEST_F(DeviceEnqueue, LocalArgumentsAndBarriers) {
  const auto values = outcome(R"(
    kernel void k(global int* out) {
      int n = 16;
      enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(64, 16),
                     ^(local void* a, local void* b) {
        local int* x = a; local int4* y = b;
        int i = get_local_id(0);
        x[n - 1 - i] = get_global_id(0);
        y[i] = (int4)(i);
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = x[i] + y[n - 1 - i].z;
      }, 64u, (uint)(16 * sizeof(int4)));
    })",
                              64);
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], cl_int(i / 16 * 16 + 15 - i % 16 + 15 - i % 16)) << i;
}

// Every work-item of a large launch enqueues: on several threads at once.
TEST_F(DeviceEnqueue, ManyParents) {
  const auto values = outcome(R"(
    kernel void k(global int* out) {
      int i = get_global_id(0);
      int code = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4),
                                ^{ atomic_add(out + i, (int)get_global_id(0)); });
      if (code != CLK_SUCCESS) out[i] = -1000;
    })",
                              3000, {{3000}, {10}});
  EXPECT_EQ(values, std::vector<cl_int>(3000, 6));
}

// Deeper than any stack, and than the queue has room for, as each ends before its child begins.
TEST_F(DeviceEnqueue, NestsToAnyDepth) {
  EXPECT_EQ(outcome(R"(
    void next(global int* out, int depth) {
      out[0] = depth;
      if (depth == 20000) return;
      if (enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1),
                         ^{ next(out, depth + 1); }) != CLK_SUCCESS)
        out[1] = depth;
    }
    kernel void k(global int* out) { next(out, 0); })",
                    2),
            (std::vector<cl_int>{20000, 0}));
}

TEST_F(DeviceEnqueue, WaitForTheParent) {
  const auto values = outcome(R"(
    kernel void k(global int* out) {
      int i = get_global_id(0), n = get_global_size(0);
      if (i == 0)
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{
          for (int j = 0; j < n; ++j) out[n] += out[j];
        });
      if (get_local_id(0) == 0) {
        int first = i, last = i + get_local_size(0);
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP, ndrange_1D(1), ^{
          int sum = 0;
          for (int j = first; j < last; ++j) sum += out[j];
          if (sum == last - first) atomic_inc(out + n + 1);
        });
      }
      out[i] = 1;
    })",
                              2002, {{2000}, {8}});
  EXPECT_EQ(values[2000], 2000);
  EXPECT_EQ(values[2001], 250);
}

TEST_F(DeviceEnqueue, EventsOrderCommands) {
  const auto values = outcome(R"(
    kernel void k(global int* out) {
      queue_t q = get_default_queue();
      clk_event_t go = create_user_event(), a, b[2], last;
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &go, &a, ^{ out[0] = 1; });
      for (int i = 0; i < 2; ++i)
        enqueue_kernel(q, 0, ndrange_1D(1), 1, &a, &b[i], ^{
          // An event ends with what its command enqueued.
          enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1),
                         ^{ out[1 + i] = out[0] + 1; });
        });
      enqueue_marker(q, 2, b, &last);
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &last, NULL, ^{ out[3] = out[1] + out[2]; });
      out[4] = out[0] + out[1] + out[2] + out[3];
      set_user_event_status(go, CL_COMPLETE);
      release_event(go); release_event(a); release_event(b[0]); release_event(b[1]);
      release_event(last);
      out[5] = is_valid_event(go) || is_valid_event(CLK_NULL_EVENT);
    })",
                              6);
  EXPECT_EQ(values, (std::vector<cl_int>{1, 2, 2, 4, 0, 0}));
}

TEST_F(DeviceEnqueue, EventsAreCounted) {
  EXPECT_EQ(outcome(R"(
    kernel void k(global int* out) {
      clk_event_t e = create_user_event();
      retain_event(e);
      release_event(e);
      out[0] = is_valid_event(e);
      release_event(e);
      out[1] = is_valid_event(e);
      for (int i = 0; i < 200000; ++i) release_event(create_user_event());
      clk_event_t f = create_user_event();
      out[2] = is_valid_event(f);
      out[3] = is_valid_event(e);
    })",
                    4),
            (std::vector<cl_int>{1, 0, 1, 0}));
}

TEST_F(DeviceEnqueue, QueuesAsArguments) {
  const OwnedProgram program = builtFor(R"(
    kernel void k(queue_t a, queue_t b, global int* out) {
      enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ out[2] = 1; });
      enqueue_kernel(a, 0, ndrange_1D(1), ^{ out[0] = 1; });
      enqueue_kernel(b, 0, ndrange_1D(1), ^{ out[1] = 1; });
    })");
  const OwnedKernel k = kernel(program, "k");
  const OwnedQueue second = makeDeviceQueue(on_device, 1 << 16);
  const OwnedMem out = upload(std::vector<cl_int>(3));
  const cl_command_queue host = queue, first = standard, other = second;
  EXPECT_EQ(cl.clSetKernelArg(k, 0, sizeof host, &host), CL_INVALID_DEVICE_QUEUE);
  EXPECT_EQ(cl.clSetKernelArg(k, 0, 4, &first), CL_INVALID_ARG_SIZE);
  set(k, first, other, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{1, 1, 1}));
  // A kernel does not keep its arguments' objects.
  cl_int code = 1;
  {
    const OwnedQueue third = makeDeviceQueue(on_device, 0);
    const cl_command_queue handle = third;
    ASSERT_EQ(cl.clSetKernelArg(k, 0, sizeof handle, &handle), CL_SUCCESS);
  }
  code = enqueue(k, {{1}});
  EXPECT_EQ(code, CL_INVALID_KERNEL_ARGS);
}

TEST_F(DeviceEnqueue, QueriesAboutBlocks) {
  const auto values = outcome(R"(
    kernel void k(global int* out) {
      void (^block)(void) = ^{ out[9] = 1; };
      out[0] = get_kernel_work_group_size(block);
      out[1] = get_kernel_preferred_work_group_size_multiple(^(local void* a){ out[9] = 1; });
      out[2] = get_kernel_sub_group_count_for_ndrange(ndrange_1D(100, 40), block);
      out[3] = get_kernel_max_sub_group_size_for_ndrange(ndrange_1D(100, 40), block);
    })",
                              4);
  EXPECT_EQ(size_t(values[0]), deviceInfo<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE));
  EXPECT_GT(values[1], 0);
  EXPECT_EQ(values[2], (40 + values[3] - 1) / values[3]);
}

// Blocks may be called, too, and a program's kernels are those that it names.
TEST_F(DeviceEnqueue, BlocksAreNoKernels) {
  const OwnedProgram program = builtFor(R"(
    constant int (^add)(int, int) = ^(int a, int b) { return a + b; };
    kernel void k(global int* out) {
      void (^block)(void) = ^{ out[get_global_id(0)] = add(1, get_global_id(0)); };
      block();
      enqueue_kernel(get_default_queue(), 0, ndrange_1D(4), block);
    })");
  EXPECT_EQ(info<size_t>(cl.clGetProgramInfo, cl_program(program), CL_PROGRAM_NUM_KERNELS), 1u);
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateKernel(program, "__k_block_invoke_kernel", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_KERNEL_NAME);
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(4));
  set(k, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{1, 2, 3, 4}));
}

// A block that is only called has barriers, too.
TEST_F(DeviceEnqueue, CalledBlocksMeetAtBarriers) {
  EXPECT_EQ(outcome(R"(
    kernel void k(global int* out) {
      local int sum;
      local int* total = &sum;
      if (get_local_id(0) == 0) sum = 0;
      int (^block)(int) = ^(int a) {
        barrier(CLK_LOCAL_MEM_FENCE);
        atomic_add(total, a);
        barrier(CLK_LOCAL_MEM_FENCE);
        return 2;
      };
      int two = block(get_local_id(0));
      out[get_global_id(0)] = sum * two;
    })",
                    8, {{8}, {8}}),
            std::vector<cl_int>(8, 56));
}

// Images, samplers and several buffers in a block that runs after its parent has ended.
TEST_F(DeviceEnqueue, CapturesImages) {
  const OwnedProgram program = builtFor(R"(
    kernel void k(read_only image2d_t in, sampler_t s, global int* out) {
      enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(4), ^{
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1),
                       ^{ atomic_add(out + 4, read_imagei(in, s, (int2)(3, 0)).x); });
        out[get_global_id(0)] = read_imagei(in, s, (int2)(get_global_id(0), 0)).x;
      });
    })");
  const cl_image_format format{CL_R, CL_SIGNED_INT32};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = 4;
  desc.image_height = 1;
  std::vector<cl_int> pixels{5, 6, 7, 8};
  cl_int code = 1;
  const OwnedMem image(
      cl.clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, pixels.data(), &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const cl_sampler sampler =
      cl.clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
  const OwnedMem out = upload(std::vector<cl_int>(5));
  const OwnedKernel k = kernel(program, "k");
  set(k, image, sampler, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{5, 6, 7, 8, 32}));
  cl.clReleaseSampler(sampler);
}

// The blocks of functions that have the same name in two objects.
TEST_F(DeviceEnqueue, LinkedPrograms) {
  const auto half = [&](const char* name, const char* value) {
    return fromSource(std::string("static void f(global int* out) {"
                                  "  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), "
                                  "                 ^{ out[0] += ") +
                      value + "; }); }\nkernel void " + name + "(global int* out) { f(out); }");
  };
  OwnedProgram parts[] = {half("a", "1"), half("b", "10")};
  std::vector<cl_program> handles;
  for (OwnedProgram& part : parts) {
    ASSERT_EQ(cl.clCompileProgram(part, 0, nullptr, "-cl-std=CL3.0", 0, nullptr, nullptr, nullptr,
                                  nullptr),
              CL_SUCCESS);
    handles.push_back(part);
  }
  cl_int code = 1;
  const OwnedProgram program(
      cl.clLinkProgram(context, 0, nullptr, "", 2, handles.data(), nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const OwnedMem out = upload(std::vector<cl_int>(1));
  for (const char* name : {"a", "b"}) {
    const OwnedKernel k = kernel(program, name);
    set(k, out);
    run(k, {{1}});
  }
  EXPECT_EQ(download<cl_int>(out), std::vector<cl_int>{11});
}

// What follows in the queue sees everything that a kernel's children did.
TEST_F(DeviceEnqueue, QueuesWaitForChildren) {
  const OwnedProgram program = builtFor(R"(
    void deeper(global int* out, int left) {
      out[get_global_id(0)] += 1;
      if (left > 0 && get_global_id(0) == 0)
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(256),
                       ^{ deeper(out, left - 1); });
    }
    kernel void k(global int* out) { deeper(out, 10); })");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(256));
  set(k, out);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(enqueue(k, {{256}}), CL_SUCCESS);
  EXPECT_EQ(download<cl_int>(out), std::vector<cl_int>(256, 550));
}

TEST_F(DeviceEnqueue, UnorderedQueues) {
  const OwnedProgram program = builtFor(R"(
    kernel void k(global int* out) {
      enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(8),
                     ^{ atomic_inc(out); });
    })");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(1));
  set(k, out);
  cl_int code = 1;
  const OwnedQueue unordered(cl.clCreateCommandQueue(
      context, testDevice(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code));
  const size_t one = 1;
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(
        cl.clEnqueueNDRangeKernel(unordered, k, 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
        CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(unordered), CL_SUCCESS);
  EXPECT_EQ(download<cl_int>(out), std::vector<cl_int>{1600});
}

// More at a time than have room.
TEST_F(DeviceEnqueue, ManyAtATime) {
  const OwnedProgram program = builtFor(R"(
    kernel void k(global int* out) {
      enqueue_kernel(get_default_queue(), 0, ndrange_1D(4), ^{
        enqueue_kernel(get_default_queue(), 0, ndrange_1D(2), ^{ atomic_inc(out); });
      });
    })");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(1));
  set(k, out);
  cl_int code = 1;
  const cl_queue_properties unordered[] = {CL_QUEUE_PROPERTIES,
                                           CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  const OwnedQueue overlapping(
      cl.clCreateCommandQueueWithProperties(context, testDevice(), unordered, &code));
  const OwnedEvent gate(cl.clCreateUserEvent(context, &code));
  const cl_event open = gate;
  const size_t one = 1;
  constexpr int launches = 100;
  for (int i = 0; i < launches; ++i)
    ASSERT_EQ(
        cl.clEnqueueNDRangeKernel(overlapping, k, 1, nullptr, &one, nullptr, 1, &open, nullptr),
        CL_SUCCESS);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(overlapping), CL_SUCCESS);
  EXPECT_EQ(download<cl_int>(out), std::vector<cl_int>{launches * 4 * 2});
}

// A device of one unit has a single worker.
TEST_F(DeviceEnqueue, OnOneUnit) {
  const cl_device_partition_property parts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  cl_device_id part = nullptr;
  if (cl.clCreateSubDevices(testDevice(), parts, 1, &part, nullptr) != CL_SUCCESS)
    GTEST_SKIP() << "the device has no parts";
  cl_int code = 1;
  context = OwnedContext(cl.clCreateContext(nullptr, 1, &part, nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  queue = OwnedQueue(cl.clCreateCommandQueue(context, part, 0, &code));
  const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, on_device | CL_QUEUE_ON_DEVICE_DEFAULT,
                                      0};
  standard = OwnedQueue(cl.clCreateCommandQueueWithProperties(context, part, list, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const OwnedProgram program = fromSource(R"(
    void tree(global int* out, int depth) {
      atomic_inc(out);
      if (depth == 0) return;
      clk_event_t e;
      enqueue_kernel(get_default_queue(), 0, ndrange_1D(2), 0, NULL, &e,
                     ^{ tree(out, depth - 1); });
      enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), 1, &e, NULL, ^{ atomic_inc(out + 1); });
      release_event(e);
    }
    kernel void k(global int* out) { tree(out, 6); })");
  ASSERT_EQ(cl.clBuildProgram(program, 0, nullptr, "-cl-std=CL3.0", nullptr, nullptr), CL_SUCCESS);
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(2));
  set(k, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{127, 63}));
  cl.clReleaseDevice(part);
}

// A recorded kernel's children are done before the next recorded command begins, each time.
TEST_F(DeviceEnqueue, FromACommandBuffer) {
  using namespace conformance;
  EXPECT_TRUE(deviceInfo<cl_bitfield>(khr::device_capabilities) &
              khr::capability_device_side_enqueue);
  const OwnedProgram program = builtFor(R"(
    kernel void k(global int* out) {
      enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(100),
                     ^{ atomic_inc(out); });
    }
    kernel void square(global int* out) { out[1] += out[0] * out[0]; })");
  const OwnedKernel parent = kernel(program, "k"), next = kernel(program, "square");
  const OwnedMem out = upload(std::vector<cl_int>(2));
  set(parent, out);
  set(next, out);
  cl_command_queue on = queue;
  cl_int code = 1;
  const OwnedCommandBuffer commands(buffers().create(1, &on, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const size_t one = 1;
  for (const cl_kernel launched : {cl_kernel(parent), cl_kernel(next)})
    ASSERT_EQ(buffers().launch(commands, nullptr, nullptr, launched, 1, nullptr, &one, nullptr, 0,
                               nullptr, nullptr, nullptr),
              CL_SUCCESS);
  ASSERT_EQ(buffers().finalize(commands), CL_SUCCESS);
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(buffers().enqueue(0, nullptr, commands, 0, nullptr, nullptr), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{200, 100 * 100 + 200 * 200}));
}

// An event variable may be used again for what waits for it.
TEST_F(DeviceEnqueue, EventsOfChainsInOneVariable) {
  const OwnedProgram program = builtFor(R"(
    kernel void k(global int* out) {
      queue_t q = get_default_queue();
      clk_event_t e;
      out[1] = enqueue_kernel(q, 0, ndrange_1D(1), 0, NULL, &e, ^{ out[0] = out[0] * 2 + 1; });
      out[2] = enqueue_kernel(q, 0, ndrange_1D(1), 1, &e, &e, ^{ out[0] = out[0] * 2 + 1; });
      out[3] = enqueue_marker(q, 1, &e, &e);
      out[4] = enqueue_kernel(q, 0, ndrange_1D(1), 1, &e, NULL, ^{ out[0] = out[0] * 2 + 1; });
      release_event(e);
    })");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(5));
  set(k, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{7, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace weft::e2e
