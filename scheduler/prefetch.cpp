// Data ahead of use: what a command reads is brought to its space while it still waits for others.
//
// A command that has to wait announces what it is going to write. The bytes that one reads are
// final when nobody announced before it may still write them; until then a prefetch waits for
// whoever does. It starts when the command is the next of its in-order queue, or when all that an
// unordered one waits for is under way. It is a command of its own that claims and moves as others
// do, but gives up where it would have to wait or to take memory from somebody: then the bytes move
// when the command itself is admitted, as they would have without it.
#include <algorithm>
#include <utility>

#include "scheduler/command.h"
#include "scheduler/residency.h"
#include "scheduler/state.h"
#include "scheduler/step.h"

namespace weft {
namespace {

class PrefetchCommand final : public Command {
 public:
  PrefetchCommand(Command& wanting, Device& device, port::MemorySpace space, uint64_t announced,
                  AccessList wanted)
      : Command(wanting.context(), device, false),
        wanting_(&wanting),
        announced_(announced),
        wanted_(std::move(wanted)) {
    setSpace(space);
    for (const Access& access : wanted_) objects_.emplace_back(access.object);
  }

  void after(Event& writer) { waitFor(writer, false); }
  void launch() noexcept {
    retain();  // the graph's reference, given up on completion
    releaseGuard();
  }

 private:
  void accesses(AccessList& list) override { list = wanted_; }
  uint64_t prefetchesFor() const override { return announced_; }
  bool comesTooLate() const override { return wanting_->done(); }
  std::string what() const override { return "a prefetch"; }
  void finalize(cl_int) noexcept override {
    objects_.clear();
    wanting_ = nullptr;
  }

  Ref<Command> wanting_;
  uint64_t announced_;
  AccessList wanted_;
  std::vector<Ref<MemObject>> objects_;
};

// What a command reads and has not got.
struct Wanted {
  AccessList now;
  AccessList later;  // when these are done
  std::vector<Ref<Event>> writers;

  // Under the ticket lock, both.
  static bool has(const Access& access, port::MemorySpace space, uint64_t announced) {
    if (!access.reads) return false;
    Residency& residency = Residency::of(*access.object);
    const auto writer = residency.writerBefore(announced, access.begin, access.end);
    return writer.event ? writer.space != space
                        : residency.isStale(access.begin, access.end, space);
  }
  void add(const Access& access, port::MemorySpace space, uint64_t announced) {
    if (!access.reads) return;
    Residency& residency = Residency::of(*access.object);
    const Access read{access.object, access.begin, access.end, true, false};
    const auto writer = residency.writerBefore(announced, access.begin, access.end);
    if (!writer.event) {
      if (residency.isStale(access.begin, access.end, space)) now.push_back(read);
    } else if (writer.space != space) {
      later.push_back(read);
      writers.emplace_back(writer.event);
    }
  }
};

}  // namespace

void Command::announce(const Ref<Event>& predecessor, WaitList waits) noexcept {
  if (unfinishedDependencies() == 0) return;  // claims them right now
  try {
    auto forecasted = std::make_unique<Resolution>();
    forecasted->final = forecast(forecasted->accesses);
    forecasted->dropWhatStays();
    if (forecasted->accesses.empty()) return;
    bool wants = false;  // otherwise it has all that it reads, or those before it bring it
    {
      const auto tickets = State::of(context()).tickets().lock();
      resolution_ = std::move(forecasted);
      const uint64_t number = resolution_->announced = ++tickets->announced;
      for (const Access& access : resolution_->accesses) {
        wants = wants || Wanted::has(access, space_, number);
        if (access.writes) Residency::of(*access.object).announce(number, *this, space_);
      }
    }
    if (!wants) return;
    step::point();
    if (isNear(predecessor, waits)) prefetch();
  } catch (...) {  // it does without
  }
}

// Otherwise the predecessor in the queue starts the prefetch when it is submitted.
bool Command::isNear(const Ref<Event>& predecessor, WaitList waits) {
  if (predecessor) {
    Command* under_way = nullptr;
    auto& successor = static_cast<Command&>(*predecessor).successor_;
    return !successor.compare_exchange_strong(under_way, this, std::memory_order_acq_rel) ||
           predecessor->done();
  }
  return std::all_of(waits.begin(), waits.end(), [](const Ref<Event>& event) {
    return event->done() || (event->status() <= CL_SUBMITTED && event->type() != CL_COMMAND_USER);
  });
}

void Command::prefetch() noexcept {
  if (prefetched_.exchange(true) || runsWhereTheBytesAre()) return;
  try {
    step::point();
    Wanted wanted;
    const uint64_t announced = resolution_->announced;
    {
      const auto tickets = State::of(context()).tickets().lock();
      for (const Access& access : resolution_->accesses) wanted.add(access, space_, announced);
    }
    if (!wanted.now.empty())
      make<PrefetchCommand>(*this, *device_, space_, announced, std::move(wanted.now))->launch();
    // Where there is nothing else to wait for, the command itself is as early.
    if (wanted.later.empty() || unfinishedDependencies() <= wanted.writers.size()) return;
    const auto later =
        make<PrefetchCommand>(*this, *device_, space_, announced, std::move(wanted.later));
    for (const Ref<Event>& writer : wanted.writers) later->after(*writer);
    later->launch();
  } catch (...) {  // it does without
  }
}

}  // namespace weft
