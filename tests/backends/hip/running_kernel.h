// A kernel that a test lets end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

#include "tests/backends/hip/hip_test.h"

namespace weft::test {

// A kernel that runs until it is told to end, also on a device that is lost.
class RunningKernel {
 public:
  RunningKernel(hip::Device& device, port::Module& module)
      : page_(std::aligned_alloc(bytes, bytes), std::free),
        words_(new(page_.get()) std::atomic<uint32_t>[2]{}),
        memory_(device.import(page_.get(), bytes)),
        launch_(module, "await", {1, 1, 1}, {1, 1, 1}) {
    launch_.memory(memory_.get());
  }
  port::Launch launch() const { return launch_.whole(); }
  void awaitBegin() const {
    for (int i = 0; i < 60'000 && words_[1].load() == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_NE(words_[1].load(), 0u);
  }
  void end() { words_[0].store(1); }

 private:
  static constexpr size_t bytes = 4096;
  std::unique_ptr<void, decltype(&std::free)> page_;
  std::atomic<uint32_t>* words_;
  std::unique_ptr<port::Memory> memory_;
  GpuLaunchCase launch_;
};

}  // namespace weft::test
