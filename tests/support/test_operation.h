// Operations for tests: they record what the backend tells them, and can be waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "core/ports/device.h"

namespace weft::test {

class TestOperation final : public port::Operation {
 public:
  TestOperation() = default;
  explicit TestOperation(const Work& work_) { work = work_; }

  void started(port::Nanoseconds when) noexcept override;
  void finished(port::OperationStatus status, port::Nanoseconds start,
                port::Nanoseconds end) noexcept override;

  // False when it takes longer than a test should.
  bool wait(std::chrono::milliseconds limit = std::chrono::seconds(60));
  bool isFinished() const { return finishes.load(std::memory_order_acquire) != 0; }

  // Runs at the end of finished(), on the backend's thread.
  std::function<void()> on_finished;

  std::atomic<int> starts{0};
  std::atomic<int> finishes{0};
  port::OperationStatus status = 1;
  port::Nanoseconds start_told = 0;
  port::Nanoseconds start = 0;
  port::Nanoseconds end = 0;
  uint64_t rank = 0;  // among all finished operations of the process, from 1

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

// A launch of one dimension with one work-item a group, or any record, that owns its arguments.
class TestLaunch {
 public:
  TestLaunch(port::Module& module, uint32_t kernel, uint64_t groups);

  TestLaunch& memory(port::Memory* memory, size_t offset = 0);
  TestLaunch& value(uint64_t value);
  TestLaunch& local(size_t bytes);

  port::LaunchRecord record;
  // The launch of the whole range; valid while this object lives.
  port::Launch whole() const;
  port::Launch slice(const port::GroupBox& box) const;

 private:
  port::Module* module_;
  uint32_t kernel_;
  std::vector<port::LaunchArgument> arguments_;
  std::vector<std::unique_ptr<uint64_t>> values_;
};

port::Copy copyToHost(port::Memory& from, void* to, size_t bytes, size_t offset = 0);
port::Copy copyToDevice(const void* from, port::Memory& to, size_t bytes, size_t offset = 0);

}  // namespace weft::test
