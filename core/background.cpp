#include "core/background.h"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

namespace weft {
namespace {

// The application's signals are for its own threads, so a new thread starts with all blocked: it
// inherits the mask of the one that makes it.
bool startThread(const std::function<void()>& body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread(body).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

Background::~Background() {
  auto running = running_.lock();
  idle_.wait(running.native(), [&] { return *running == 0; });
}

void Background::run(std::function<void()> work) {
  running_.with([](size_t& count) { ++count; });
  const auto shared = std::make_shared<std::function<void()>>(std::move(work));
  const auto body = [this, shared] {
    std::exchange(*shared, nullptr)();  // what the work holds is gone before it counts as done
    auto running = running_.lock();
    --*running;
    idle_.notify_all();
  };
  if (!startThread(body)) body();
}

}  // namespace weft
