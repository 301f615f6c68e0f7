// What a family has to submit, and the memory that it needs for that: without its lock.
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/reaper.h"
#include "scheduler/device_family_parts.h"

namespace weft {

// Memory for what the round asks for, and for the next one: without the lock, as that takes a
// driver long, and as long as the device may be at something where it has to give back what it
// keeps. Nothing changes meanwhile. A family that waits holds nothing but its blocks.
DeviceFamily::Memory DeviceFamily::takeMemory(cl_int& failure) noexcept {
  for (bool again = false;; again = true) {
    try {
      requests_.clear();
      JournalEntry entry;
      for (size_t at = 0; journal_.next(at, entry);) requests_.push_back(entry);
      block_bytes_ = blocksOf(requests_);
      if (!block_bytes_.empty()) block_memory_ = allocate(block_bytes_.size());
      if (!memory_) {
        memory_ = allocateJournal();
        has_new_memory_ = true;
      }
      return Memory::there;
    } catch (...) {
      failure = currentFailure();
    }
    block_memory_ = nullptr;
    memory_ = nullptr;
    if (failure != CL_MEM_OBJECT_ALLOCATION_FAILURE || again) return Memory::missing;
    if (turns_.waitForMemory(*this)) return Memory::awaited;
  }
}

DeviceFamily* DeviceFamily::proceed(Lock lock) noexcept {
  if (submitting_) return nullptr;
  submitting_ = true;
  retain();
  while (!orders_.empty()) {
    const bool alone = isAlone(orders_);
    const Orders orders = std::exchange(orders_, {});
    const std::shared_ptr<Step> last_step = last_step_;
    lock.unlock();
    submit(orders, last_step, alone);
    cl_int failure = CL_SUCCESS;
    const Memory memory = orders.plays ? takeMemory(failure) : Memory::awaited;
    lock.lock();
    if (std::exchange(has_new_memory_, false)) known_.forget();
    if (memory != Memory::awaited) closeRound(memory == Memory::there ? CL_SUCCESS : failure);
  }
  submitting_ = false;
  const bool finished = isOver() && in_flight_ == 0;
  port::Operation& whole = whole_;
  FamilyTurns& turns = turns_;
  const port::OperationStatus status = outermost().status;
  const port::Nanoseconds start = root_->start, end = root_->end;
  // Another thread may still be on its way out here.
  if (finished) memory_ = root_->images = nullptr;
  lock.unlock();
  release(finished ? 2 : 1);  // run()'s, too
  if (!finished) return nullptr;
  DeviceFamily* const next = turns.leave();
  whole.finished(status, start, end);
  return next;
}

// One kernel, and nothing of the family beside it: then the order of the queue's stream is that of
// the operations, and whoever waits for the queue sees to it.
bool DeviceFamily::isAlone(const Orders& orders) const noexcept {
  if (&streams_.own == &streams_.others || !orders.reads.empty() || orders.plays) return false;
  const bool one_leaf = orders.kernels && !orders.kernels->after;
  const bool one_writer = orders.opens_round && round_.size() == 1;
  const size_t operations = orders.steps.size() + one_leaf + 2 * one_writer;
  return one_leaf != one_writer && in_flight_ == operations;
}

void DeviceFamily::submit(const Orders& orders, const std::shared_ptr<Step>& last_step,
                          bool alone) noexcept {
  port::Stream& stream = alone ? streams_.own : streams_.others;
  for (const auto& step : orders.steps) {
    const port::Operation* const before = step->before.get();
    if (before) step->behind = {&before, 1};
    step->observed = !alone;
    stream.submit(*step);
    broken_ |= step->refused.load(std::memory_order_relaxed);
  }
  const port::Operation* const last = last_step.get();
  // What a kernel finds there would be anything.
  const auto start = [&](Kernel& kernel) {
    if (last) kernel.behind = {&last, 1};
    if (broken_)
      refuse(kernel, CL_OUT_OF_RESOURCES);
    else
      stream.submit(kernel);
  };
  Freed kernels{.ready = orders.kernels};
  for (EnqueuedCommand* command = kernels.takeReady(); command;)
    start(static_cast<Child&>(*std::exchange(command, command->after)));
  if (orders.opens_round) {
    for (Kernel* kernel : round_) {
      kernel->observed = !alone;
      kernel->awaited = true;
      start(*kernel);
    }
    if (broken_)
      refuse(*reading_, CL_OUT_OF_RESOURCES);
    else
      read(stream);
  }
  for (Reading* const reading : orders.reads) stream.submit(*reading);
}

// Behind the round's kernels: in each lane the last one is behind the others.
void DeviceFamily::read(port::Stream& stream) noexcept {
  last_.clear();
  for (const Kernel* kernel : round_) {
    const auto same = std::ranges::find(
        last_, kernel->place.lane, [](const port::Operation* other) { return other->place.lane; });
    if (same == last_.end())
      last_.push_back(kernel);
    else if ((*same)->place.number < kernel->place.number)
      *same = kernel;
  }
  reading_->behind = last_;
  stream.submit(*reading_);
}

}  // namespace weft
