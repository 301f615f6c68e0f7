#include "core/background.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <thread>

namespace weft {
namespace {

TEST(Background, DestructorWaitsForAllWork) {
  std::atomic<int> done{0};
  {
    Background background;
    for (int i = 0; i < 20; ++i)
      background.run([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++done;
      });
  }
  EXPECT_EQ(done, 20);
}

TEST(Background, WhatTheWorkHoldsIsGoneWhenItIsDone) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  {
    Background background;
    background.run([held = std::move(held)] {});
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Background, WorkRunsOnAThreadThatTakesNoSignals) {
  std::thread::id id;
  sigset_t mask;
  sigemptyset(&mask);
  {
    Background background;
    background.run([&] {
      id = std::this_thread::get_id();
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    });
  }
  EXPECT_NE(id, std::this_thread::get_id());
  EXPECT_TRUE(sigismember(&mask, SIGINT));
  EXPECT_TRUE(sigismember(&mask, SIGCHLD));
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_FALSE(sigismember(&mask, SIGINT));
}

}  // namespace
}  // namespace weft
