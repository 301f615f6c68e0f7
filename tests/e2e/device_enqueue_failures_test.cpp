// Device-side enqueue: full queues, errors, commands that are cancelled or can never run.
#include "tests/conformance/command_buffer.h"
#include "tests/e2e/device_queues.h"

namespace weft::e2e {
namespace {

using DeviceEnqueueFailures = DeviceEnqueue;

// A full queue says so, and has room again when its commands have ended.
TEST_F(DeviceEnqueueFailures, FullQueues) {
  const OwnedProgram program = builtFor(R"(
    kernel void k(queue_t q, global int* out) {
      clk_event_t go = create_user_event();
      int n = 0, code = 0;
      for (; n < 1000000; ++n) {
        code = enqueue_kernel(q, 0, ndrange_1D(1), 1, &go, NULL, ^{ atomic_inc(out); });
        if (code != CLK_SUCCESS) break;
      }
      out[1] = n;
      out[2] = code;
      set_user_event_status(go, CL_COMPLETE);
      release_event(go);
    })",
                                        "-g");
  const OwnedKernel k = kernel(program, "k");
  const OwnedQueue small = makeDeviceQueue(on_device, 64 << 10);
  const cl_command_queue handle = small;
  for (int turn = 0; turn < 2; ++turn) {
    const OwnedMem out = upload(std::vector<cl_int>(3));
    set(k, handle, out);
    run(k, {{1}});
    const auto values = download<cl_int>(out);
    EXPECT_EQ(values[0], values[1]);
    EXPECT_GT(values[1], 10);
    EXPECT_LT(values[1], 1000);
    EXPECT_EQ(values[2], -161) << "CLK_DEVICE_QUEUE_FULL";
  }
}

TEST_F(DeviceEnqueueFailures, Errors) {
  constexpr char source[] = R"(
    kernel void k(global int* out) {
      queue_t q = get_default_queue();
      clk_event_t gone = create_user_event(), e;
      release_event(gone);
      ndrange_t bad = ndrange_1D(1);
      bad.workDimension = 4;
      queue_t none = CLK_NULL_QUEUE;
      out[0] = enqueue_kernel(none, 0, ndrange_1D(1), ^{});
      out[1] = enqueue_kernel(q, 0, bad, ^{});
      out[2] = enqueue_kernel(q, 0, ndrange_1D(1 << 20, 1 << 20), ^{});
      out[3] = enqueue_kernel(q, 0, ndrange_1D(1), 1, &gone, NULL, ^{});
      out[4] = enqueue_kernel(q, 0, ndrange_1D(1), 1, NULL, NULL, ^{});
      out[5] = enqueue_kernel(q, 0, ndrange_1D(1), ^(local void* a){}, 0u);
      out[6] = enqueue_kernel(q, 0, ndrange_1D(1), ^(local void* a){}, 1u << 30);
      out[7] = enqueue_marker(q, 1, &gone, &e);
      out[8] = enqueue_marker(q, 1, &gone, NULL);
    })";
  EXPECT_EQ(outcome(source, 9, {{1}}, "-g"),
            (std::vector<cl_int>{-102, -160, -160, -57, -57, -51, -5, -57, 0}));
  EXPECT_EQ(outcome(source, 9),
            (std::vector<cl_int>{-101, -101, -101, -101, -101, -101, -101, -101, 0}));
}

// Commands that wait for a failed event do not run; the parent has not failed.
TEST_F(DeviceEnqueueFailures, FailedUserEventsCancel) {
  std::vector<cl_int> left;
  EXPECT_EQ(failure(R"(
    kernel void k(global int* out) {
      queue_t q = get_default_queue();
      clk_event_t u = create_user_event(), e;
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &u, &e, ^{ out[0] = 1; });
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &e, NULL, ^{ out[1] = 1; });
      set_user_event_status(u, -7);
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &u, NULL, ^{ out[2] = 1; });
      enqueue_kernel(q, 0, ndrange_1D(1), ^{ out[3] = 1; });
    })",
                    4, &left),
            CL_COMPLETE);
  EXPECT_EQ(left, (std::vector<cl_int>{0, 0, 0, 1}));
}

// What can never run is given up, and the kernel fails instead of waiting for ever.
TEST_F(DeviceEnqueueFailures, NothingWaitsForever) {
  std::vector<cl_int> left;
  EXPECT_EQ(failure(R"(
    kernel void k(global int* out) {
      queue_t q = get_default_queue();
      clk_event_t never = create_user_event(), e, f;
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &never, &e, ^{ out[0] = 1; });
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &e, NULL, ^{ out[1] = 1; });
      enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ out[2] = 1; });
    })",
                    3, &left),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(left, (std::vector<cl_int>{0, 0, 1}));
  // The queue goes on.
  EXPECT_EQ(outcome("kernel void k(global int* out) {"
                    "  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ out[0] = 1; }); }",
                    1),
            std::vector<cl_int>{1});
}

// What was given up is all that did not run, so that nothing that ran is lost: with devices beside
// this one, and in a command buffer, too.
TEST_F(DeviceEnqueueFailures, GivenUpIsNotLost) {
  const OwnedProgram program = builtFor(R"(
    kernel void plain(global int* out) { out[0] += 1; }
    kernel void never(global int* out) {
      clk_event_t go = create_user_event();
      enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), 1, &go, NULL, ^{ out[1] = -1; });
      out[2] += 5;
    })");
  const OwnedKernel plain = kernel(program, "plain"), never = kernel(program, "never");
  const OwnedMem out = upload(std::vector<cl_int>(3));
  set(plain, out);
  set(never, out);
  run(plain, {{1}});
  EXPECT_EQ(statusOf(never), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{1, 0, 5}));
  int plain_runs = 1, runs = 1;
  for (const cl_command_queue_properties order :
       {cl_command_queue_properties{0},
        cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}}) {
    const OwnedQueue ordered = makeQueue(context, order);
    cl_command_queue on = ordered;
    const size_t one = 1;
    cl_int code = 1;
    const OwnedCommandBuffer recorded(buffers().create(1, &on, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    cl_sync_point_khr before = 0;
    for (const OwnedKernel* k : {&plain, &never})
      EXPECT_EQ(buffers().launch(recorded, nullptr, nullptr, *k, 1, nullptr, &one, nullptr,
                                 before != 0, before ? &before : nullptr, &before, nullptr),
                CL_SUCCESS);
    EXPECT_EQ(buffers().finalize(recorded), CL_SUCCESS);
    OwnedEvent event;
    EXPECT_EQ(buffers().enqueue(1, &on, recorded, 0, nullptr, event.out()), CL_SUCCESS);
    EXPECT_EQ(cl.clFinish(ordered), CL_SUCCESS);
    const cl_event ended = event;
    EXPECT_EQ(info<cl_int>(cl.clGetEventInfo, ended, CL_EVENT_COMMAND_EXECUTION_STATUS),
              CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{++plain_runs, 0, 5 * ++runs}));
  }
}

// A command that waits for its own parent's event.
TEST_F(DeviceEnqueueFailures, CyclesAreGivenUp) {
  EXPECT_EQ(failure(R"(
    global clk_event_t* where(global int* out) { return (global clk_event_t*)(out + 2); }
    kernel void k(global int* out) {
      clk_event_t go = create_user_event(), e;
      enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), 1, &go, &e, ^{
        enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), 1, (clk_event_t*)where(out), NULL,
                       ^{ out[0] = 1; });
      });
      *(global ulong*)(out + 2) = *(ulong*)&e;
      set_user_event_status(go, CL_COMPLETE);
    })",
                    4),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

}  // namespace
}  // namespace weft::e2e
