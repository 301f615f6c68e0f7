#include "tests/support/test_operation.h"

#include <memory>

namespace weft::test {
namespace {

std::atomic<uint64_t> finished_count{0};

}  // namespace

void TestOperation::started(port::Nanoseconds when) noexcept {
  start_told = when;
  starts.fetch_add(1, std::memory_order_relaxed);
}

void TestOperation::finished(port::OperationStatus status_, port::Nanoseconds start_,
                             port::Nanoseconds end_) noexcept {
  status = status_;
  start = start_;
  end = end_;
  rank = finished_count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (on_finished) on_finished();
  // Notified under the lock: the waiter may destroy this as soon as it has seen the count.
  const std::lock_guard lock(mutex_);
  finishes.fetch_add(1, std::memory_order_release);
  changed_.notify_all();
}

bool TestOperation::wait(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return isFinished(); });
}

TestLaunch::TestLaunch(port::Module& module, uint32_t kernel, uint64_t groups)
    : module_(&module), kernel_(kernel) {
  record.global_size[0] = record.group_count[0] = groups;
}

TestLaunch& TestLaunch::memory(port::Memory* memory, size_t offset) {
  port::LaunchArgument argument;
  argument.kind = ArgumentKind::global_pointer;
  argument.memory = memory;
  argument.offset = offset;
  arguments_.push_back(argument);
  return *this;
}

TestLaunch& TestLaunch::value(uint64_t value) {
  values_.push_back(std::make_unique<uint64_t>(value));
  port::LaunchArgument argument;
  argument.kind = ArgumentKind::value;
  argument.value = values_.back().get();
  argument.size = sizeof value;
  arguments_.push_back(argument);
  return *this;
}

TestLaunch& TestLaunch::local(size_t bytes) {
  port::LaunchArgument argument;
  argument.kind = ArgumentKind::local_pointer;
  argument.size = bytes;
  arguments_.push_back(argument);
  return *this;
}

port::Launch TestLaunch::whole() const {
  port::GroupBox box;
  for (int d = 0; d < 3; ++d) box.end[d] = record.group_count[d];
  return slice(box);
}

port::Launch TestLaunch::slice(const port::GroupBox& box) const {
  return {module_, kernel_, &record, box, arguments_};
}

port::Copy copyToHost(port::Memory& from, void* to, size_t bytes, size_t offset) {
  port::Copy copy;
  copy.source.memory = &from;
  copy.source.offset = offset;
  copy.destination.host = static_cast<std::byte*>(to);
  copy.region = {bytes, 1, 1};
  return copy;
}

port::Copy copyToDevice(const void* from, port::Memory& to, size_t bytes, size_t offset) {
  port::Copy copy;
  copy.source.host = static_cast<std::byte*>(const_cast<void*>(from));
  copy.destination.memory = &to;
  copy.destination.offset = offset;
  copy.region = {bytes, 1, 1};
  return copy;
}

}  // namespace weft::test
