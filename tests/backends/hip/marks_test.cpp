// What is told of operations, and when, while something holds up what comes behind them.
#include <thread>

#include "tests/backends/hip/running_kernel.h"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

using MarksTest = HipTest;

// A driver whose queue is full: launches of other threads return only when they are let go, or
// after a while.
class FullQueue {
 public:
  explicit FullQueue(hip::Api& api) : api_(api) {
    launch_ = api.moduleLaunchKernel;
    full = false;
    waiting = false;
    api.moduleLaunchKernel = [](auto... arguments) {
      for (int i = 0; full && i < 3000; ++i) {
        waiting = true;
        std::this_thread::sleep_for(1ms);
      }
      waiting = false;
      return launch_(arguments...);
    };
  }
  ~FullQueue() { api_.moduleLaunchKernel = launch_; }
  FullQueue(const FullQueue&) = delete;
  FullQueue& operator=(const FullQueue&) = delete;

  static inline std::atomic<bool> full, waiting;

 private:
  hip::Api& api_;
  static inline decltype(hip::Api::moduleLaunchKernel) launch_ = nullptr;
};

// Neither the stream's thread nor a caller that assists waits for who submits.
TEST_P(MarksTest, AnEndIsToldWhileSomebodyCannotSubmit) {
  const FullQueue queue(device->context()->runtime->provider->api);
  for (const bool assists : {false, true}) {
    const auto other = device->createInOrderStream({.spin_ns = 20'000'000});
    RunningKernel kernel(*device, *module);
    GpuLaunchCase empty(*module, "empty", {1, 1, 1}, {1, 1, 1});
    TestOperation first(kernel.launch()), later(empty.whole());
    // A fence, on which nobody can sleep.
    first.timed = first.wants_start = first.observed = false;
    first.awaited = true;
    other->submit(first);
    kernel.awaitBegin();
    FullQueue::full = true;
    std::thread submitter([&] { other->submit(later); });
    std::this_thread::sleep_for(60ms);  // nobody looks at it any more
    ASSERT_TRUE(FullQueue::waiting);
    kernel.end();
    while (assists && FullQueue::waiting && !first.isFinished())
      other->assist([&] { return first.isFinished(); });
    EXPECT_TRUE(first.wait(2s));
    EXPECT_TRUE(FullQueue::waiting);
    FullQueue::full = false;
    submitter.join();
    ASSERT_TRUE(first.wait() && later.wait());
  }
}

INSTANTIATE_TEST_SUITE_P(Hip, MarksTest, ::testing::Values(Subject::software, Subject::gpu),
                         subjectName);

}  // namespace
}  // namespace weft::test
