// Families that hold many events, far from each other in what their device knows of them.
#include "tests/e2e/device_queues.h"

namespace weft::e2e {
namespace {

// Three thousand generations make an event each. Those that some keep change much later.
TEST_F(DeviceEnqueue, OldEventsStayKnown) {
  const auto values = outcome(R"(
    global ulong times[2];
    void next(global int* out, int depth, clk_event_t set, clk_event_t failed,
              clk_event_t released, clk_event_t ran) {
      queue_t q = get_default_queue();
      clk_event_t own = create_user_event();
      if (!is_valid_event(own)) atomic_inc(out);
      if (depth == 3) set = own;
      if (depth == 700) failed = own;
      if (depth == 1500) released = own;
      if (depth == 1800) enqueue_marker(q, 0, NULL, &ran);
      if (depth == 1900) retain_event(released);
      if (depth == 2000) {
        enqueue_kernel(q, 0, ndrange_1D(1), 1, &set, NULL, ^{ atomic_inc(out + 1); });
        enqueue_kernel(q, 0, ndrange_1D(1), 1, &failed, NULL, ^{ atomic_inc(out + 2); });
        release_event(released);
      }
      if (depth == 2500) {
        set_user_event_status(set, CL_COMPLETE);
        set_user_event_status(failed, -7);
        out[3] = is_valid_event(released);
        release_event(released);
        capture_event_profiling_info(ran, CLK_PROFILING_COMMAND_EXEC_TIME, times);
      }
      if (depth == 2600) out[4] = out[1];
      if (depth == 3000) {
        out[5] = is_valid_event(set) && is_valid_event(failed);
        out[6] = is_valid_event(released);
        out[7] = times[0] != 0 && times[1] >= times[0];
        set_user_event_status(failed, CL_COMPLETE);
        enqueue_kernel(q, 0, ndrange_1D(1), 1, &set, NULL, ^{ atomic_inc(out + 1); });
        enqueue_kernel(q, 0, ndrange_1D(1), 1, &failed, NULL, ^{ atomic_inc(out + 2); });
        return;
      }
      enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1),
                     ^{ next(out, depth + 1, set, failed, released, ran); });
    }
    kernel void k(global int* out) {
      clk_event_t none = create_user_event();
      next(out, 0, none, none, none, none);
    })",
                              8);
  EXPECT_EQ(values, (std::vector<cl_int>{0, 2, 0, 1, 1, 1, 0, 1}));
}

// More than there is room for without taking the places of those that are gone.
TEST_F(DeviceEnqueue, ReleasedEventsMakeRoom) {
  const auto values = outcome(R"(
    void next(global int* out, int depth, clk_event_t last) {
      clk_event_t own[30];
      for (int i = 0; i < 30; ++i) {
        own[i] = create_user_event();
        if (!is_valid_event(own[i])) atomic_inc(out);
      }
      if (!is_valid_event(last)) atomic_inc(out + 1);
      release_event(last);
      if (is_valid_event(last)) atomic_inc(out + 2);
      out[3] = depth;
      if (depth == 4000) return;
      for (int i = 1; i < 30; ++i) release_event(own[i]);
      last = own[0];
      enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1),
                     ^{ next(out, depth + 1, last); });
    }
    kernel void k(global int* out) { next(out, 0, create_user_event()); })",
                              4);
  EXPECT_EQ(values, (std::vector<cl_int>{0, 0, 0, 4000}));
}

}  // namespace
}  // namespace weft::e2e
