#include "core/reaper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/ref.h"

namespace weft::test {
namespace {

std::atomic<int> ended;

struct Slow final : Object {
  ~Slow() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++ended;
  }
  void dispose() noexcept override {
    reap(this, [](Object* object) { delete static_cast<Slow*>(object); });
  }
};

TEST(Reaper, IsWaitedForUntilAllHaveEnded) {
  ended = 0;
  make<Slow>();
  EXPECT_EQ(ended, 1);  // on this thread
  {
    const RuntimeScope scope;
    for (int i = 0; i < 3; ++i) make<Slow>();
  }
  awaitReaper();
  EXPECT_EQ(ended, 4);
  awaitReaper();  // for nobody
}

// What ends may itself wait for others.
TEST(Reaper, DoesNotWaitForItself) {
  struct Waiting final : Object {
    ~Waiting() override { awaitReaper(); }
    void dispose() noexcept override {
      reap(this, [](Object* object) { delete static_cast<Waiting*>(object); });
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  {
    const RuntimeScope scope;
    make<Waiting>();
  }
  awaitReaper();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

}  // namespace
}  // namespace weft::test
