// A command that goes on with what another one began, where the application enqueued but one.
#pragma once

#include <utility>

#include "scheduler/command.h"

namespace weft {

// Its event has the times of both, and the first one's failure. Keeps that until it has ended.
class NextStep : public Command {
 protected:
  // `first` may be null: then there is none before. The command has to be enqueued behind it.
  NextStep(Queue& queue, cl_command_type type, Ref<Event> first)
      : Command(queue, type), first_(std::move(first)) {}

  void finalize(cl_int status) noexcept override {
    if (first_ && status == CL_COMPLETE) takeTimesOfFirst();
    first_ = nullptr;
  }
  cl_int dependencyFailure() const noexcept override {
    const cl_int failure = first_ ? first_->status() : CL_COMPLETE;
    return failure < 0 ? failure : Command::dependencyFailure();
  }

 private:
  void takeTimesOfFirst() noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    const EventTimes& first = first_->times();
    times_.queued.store(first.queued.load(relaxed), relaxed);
    times_.submitted.store(first.submitted.load(relaxed), relaxed);
    times_.started.store(first.started.load(relaxed), relaxed);
  }

  Ref<Event> first_;
};

}  // namespace weft
