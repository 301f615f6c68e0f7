// Processes end cleanly whatever was leaked and whatever still runs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace weft::test {
namespace {

using namespace std::chrono_literals;

class ExitTest : public ::testing::TestWithParam<const char*> {};

// The exit status; -1 when the process was killed or took too long.
int runProbe(const char* way) {
  char* arguments[] = {const_cast<char*>(WEFT_EXIT_PROBE), const_cast<char*>(way), nullptr};
  pid_t child;
  if (posix_spawn(&child, WEFT_EXIT_PROBE, nullptr, nullptr, arguments, environ) != 0) return -1;
  int status = 0;
  for (const auto end = std::chrono::steady_clock::now() + 60s;;) {
    if (waitpid(child, &status, WNOHANG) == child) break;
    if (std::chrono::steady_clock::now() > end) kill(child, SIGKILL);
    std::this_thread::sleep_for(5ms);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_P(ExitTest, IsClean) {
  // What goes wrong at exit is often a race.
  for (int i = 0; i < 5; ++i) ASSERT_EQ(runProbe(GetParam()), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, ExitTest,
                         ::testing::Values("idle", "return", "exit", "exit-from-thread", "fork",
                                           "fork-release"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace weft::test
