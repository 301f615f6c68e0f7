// capture_event_profiling_info().
#include "tests/e2e/device_queues.h"

namespace weft::e2e {
namespace {

TEST_F(DeviceEnqueue, ProfilesCommands) {
  const auto values = outcome(R"(
    global ulong times[4];
    kernel void k(global int* out) {
      queue_t q = get_default_queue();
      clk_event_t go = create_user_event(), e;
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &go, &e, ^{
        for (int i = 0; i < 1000; ++i) atomic_inc(out);
      });
      capture_event_profiling_info(e, CLK_PROFILING_COMMAND_EXEC_TIME, times);
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &e, NULL, ^{
        capture_event_profiling_info(e, CLK_PROFILING_COMMAND_EXEC_TIME, times + 2);
        out[1] = times[0] > 0 && times[1] >= times[0];
        out[2] = times[2] == times[0] && times[3] == times[1];
      });
      set_user_event_status(go, CL_COMPLETE);
    })",
                              3);
  EXPECT_EQ(values, (std::vector<cl_int>{1000, 1, 1}));
}

// By kernels that run at the same time, of an event that is made there and of one that is known.
TEST_F(DeviceEnqueue, ProfilesOneCommandForMany) {
  const auto values = outcome(R"(
    global ulong times[16];
    bool areSame(int n) {
      for (int i = 0; i < 2 * n; ++i)
        if (times[i] == 0 || times[i] != times[i % 2]) return false;
      return times[1] >= times[0];
    }
    kernel void k(global int* out) {
      queue_t q = get_default_queue();
      clk_event_t go = create_user_event(), e, done[2];
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &go, &e, ^{
        for (int i = 0; i < 1000; ++i) atomic_inc(out);
      });
      for (int i = 0; i < 3; ++i)
        capture_event_profiling_info(e, CLK_PROFILING_COMMAND_EXEC_TIME, times + 2 * i);
      for (int i = 0; i < 2; ++i)
        enqueue_kernel(q, 0, ndrange_1D(1), 0, NULL, done + i, ^{
          capture_event_profiling_info(e, CLK_PROFILING_COMMAND_EXEC_TIME, times + 6 + 4 * i);
          capture_event_profiling_info(e, CLK_PROFILING_COMMAND_EXEC_TIME, times + 8 + 4 * i);
        });
      enqueue_kernel(q, 0, ndrange_1D(1), 2, done, NULL, ^{
        set_user_event_status(go, CL_COMPLETE);
        clk_event_t first = e;
        enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), 1, &first, NULL, ^{
          out[1] = areSame(7);
        });
      });
    })",
                              2);
  EXPECT_EQ(values, (std::vector<cl_int>{1000, 1}));
}

}  // namespace
}  // namespace weft::e2e
