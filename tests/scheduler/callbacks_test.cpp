#include "scheduler/callbacks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>

#include "core/errand.h"

namespace weft::test {
namespace {

using At = Callbacks::At;

// The test's thread stands in for a worker at the end of a command.
class CallbacksTest : public testing::Test {
 protected:
  CallbacksTest() { callbacks.start(); }
  // Which thread the call ran on.
  std::future<std::thread::id> post(At at = At::command_end) {
    auto promise = std::make_shared<std::promise<std::thread::id>>();
    callbacks.post([promise] { promise->set_value(std::this_thread::get_id()); }, at);
    return promise->get_future();
  }
  // Whether brief calls have become this thread's; on a busy machine a call may seem long.
  bool becomesOurs() {
    for (int i = 0; i < 10'000 && !errands.any(); ++i) {
      last = post();
      if (!errands.any()) last.get();
    }
    return errands.any();
  }

  const std::thread::id here = std::this_thread::get_id();
  Errands errands;
  const Errands::Open open{&errands};
  std::future<std::thread::id> last;
  Callbacks callbacks;
};

TEST_F(CallbacksTest, FirstOnesAreTheThreads) {
  for (int i = 0; i < 8; ++i) {
    auto call = post();
    EXPECT_FALSE(errands.any());
    EXPECT_NE(call.get(), here);
  }
}

TEST_F(CallbacksTest, BriefOnesBecomeTheWorkers) {
  ASSERT_TRUE(becomesOurs());
  auto next = post(At::elsewhere);  // behind it
  errands.run();
  EXPECT_EQ(last.get(), here);
  EXPECT_FALSE(errands.any());
  next.get();  // on either thread: the first may have seemed long
}

TEST_F(CallbacksTest, WhatAWorkerDeclinesIsTheThreads) {
  ASSERT_TRUE(becomesOurs());
  errands.decline();
  EXPECT_NE(last.get(), here);
}

TEST_F(CallbacksTest, WithinACommandTheyAreTheThreads) {
  ASSERT_TRUE(becomesOurs());
  errands.run();
  EXPECT_NE(post(At::elsewhere).get(), here);
}

TEST_F(CallbacksTest, LongOnesGoBackToTheThread) {
  ASSERT_TRUE(becomesOurs());
  errands.run();
  std::promise<void> ended;
  callbacks.post(
      [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ended.set_value();
      },
      At::elsewhere);
  ended.get_future().get();
  EXPECT_NE(post().get(), here);
}

// Its worker would make the call beside the one that is under way.
TEST_F(CallbacksTest, NoneBesideALongOne) {
  ASSERT_TRUE(becomesOurs());
  errands.run();
  std::promise<void> begun, end;
  callbacks.post(
      [&] {
        begun.set_value();
        end.get_future().wait();
      },
      At::elsewhere);
  begun.get_future().wait();
  auto next = post();
  EXPECT_FALSE(errands.any());
  end.set_value();
  EXPECT_NE(next.get(), here);
}

TEST_F(CallbacksTest, OneAfterTheOther) {
  std::atomic<bool> within{false};
  std::atomic<int> overlaps{0}, calls{0};
  constexpr int all = 2000;
  for (int i = 0; i < all; ++i) {
    callbacks.post(
        [&] {
          if (within.exchange(true)) ++overlaps;
          within = false;
          ++calls;
        },
        i % 3 == 0 ? At::elsewhere : At::command_end);
    if (errands.any()) i % 2 == 0 ? errands.run() : errands.decline();
  }
  while (calls != all) std::this_thread::yield();
  EXPECT_EQ(overlaps, 0);
}

TEST(CallbacksEndTest, TheLastCallMayEndThem) {
  Errands errands;
  const Errands::Open open{&errands};
  for (int round = 0; round < 100; ++round) {
    auto callbacks = std::make_shared<Callbacks>();
    callbacks->start();
    for (int i = 0; i < 20; ++i) {
      std::promise<void> called;
      callbacks->post([&] { called.set_value(); }, At::command_end);
      if (errands.any()) errands.run();
      called.get_future().get();
    }
    std::promise<void> left, ended;
    callbacks->post(
        [held = callbacks, left = left.get_future().share(), &ended] {
          left.wait();
          ended.set_value();
        },
        At::command_end);
    callbacks.reset();
    left.set_value();
    if (errands.any()) errands.run();
    ended.get_future().get();
  }
}

}  // namespace
}  // namespace weft::test
