// Ends a process in ways that a library must survive. Run by exit_test.cpp with the way's name.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "backends/cpu/backend.h"
#include "tests/support/test_image.h"
#include "tests/support/test_operation.h"

// LeakSanitizer asks: leaking is what this program is for.
extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier)
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return 1; }

namespace weft::test {
namespace {

// All of it is leaked on purpose: the process ends with commands in flight.
struct Everything {
  std::shared_ptr<port::Device> device;
  std::unique_ptr<port::Module> module;
  std::vector<std::unique_ptr<port::Memory>> memories;
  std::vector<std::unique_ptr<port::Stream>> streams;
  std::vector<std::unique_ptr<TestLaunch>> launches;
  std::vector<std::unique_ptr<TestOperation>> operations;
};

Everything& build() {
  auto& all = *new Everything;
  std::vector<port::Diagnostic> diagnostics;
  all.device = cpu::makeBackend()->discover(diagnostics).at(0);
  all.module = all.device->load(testImage(all.device->target()));
  return all;
}

TestOperation& submit(Everything& all, port::Order order, uint64_t nanoseconds) {
  all.streams.push_back(all.device->createStream(order));
  all.memories.push_back(all.device->allocate(1 << 20, 128));
  all.launches.push_back(std::make_unique<TestLaunch>(*all.module, kernelIndex("busy"), 100'000));
  all.launches.back()->value(nanoseconds).memory(all.memories.back().get());
  all.operations.push_back(std::make_unique<TestOperation>(all.launches.back()->whole()));
  all.streams.back()->submit(*all.operations.back());
  return *all.operations.back();
}

// Two launches that are far from done: one group each in pieces of a millisecond.
void keepBusy(Everything& all) {
  submit(all, port::Order::in_order, 1'000'000);
  submit(all, port::Order::unordered, 1'000'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
}

int childStatus(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

int run(const std::string& way) {
  Everything& all = build();
  if (way == "idle") {
    submit(all, port::Order::in_order, 0).wait();
    return 0;
  }
  keepBusy(all);
  if (way == "return") return 0;
  if (way == "exit") std::exit(0);
  if (way == "exit-from-thread") {
    std::thread([] { std::exit(0); }).detach();
    for (;;) pause();
  }
  if (way == "fork") {
    // The child has the objects but none of the threads.
    if (const pid_t child = fork(); child != 0) return childStatus(child);
    std::exit(0);
  }
  if (way == "fork-release") {
    if (const pid_t child = fork(); child != 0) return childStatus(child);
    all.streams.clear();
    all.module.reset();
    all.memories.clear();
    all.device.reset();
    std::exit(0);
  }
  return 2;
}

}  // namespace
}  // namespace weft::test

int main(int argc, char** argv) { return argc == 2 ? weft::test::run(argv[1]) : 2; }
