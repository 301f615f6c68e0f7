#include "scheduler/split_check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "scheduler/command.h"
#include "scheduler/enqueue.h"
#include "scheduler/state.h"

namespace weft {
namespace {

using Bytes = std::vector<std::byte>;

// Bytes that the launch may write.
struct Written {
  size_t argument;
  Ref<MemObject> object;
  size_t begin;  // in the object
  Bytes before, divided, whole;

  Buffer& buffer() const { return static_cast<Buffer&>(*object); }
};
using Results = std::vector<Written>;

// Can no other command run meanwhile?
bool runsAlone(const Queue& queue) {
  return !queue.outOfOrder() &&
         State::of(queue.context()).queues().with([](auto& all) { return all.size() == 1; });
}

Results writtenBy(const DeviceKernel& kernel, const ArgumentSet& arguments,
                  const port::LaunchRecord& record, bool whole_objects) {
  Results results;
  const auto& values = arguments.values;
  const auto launch = kernel.accesses.of(record, {values.begin(), values.end()});
  for (const auto& [argument, range] : launch->touched) {
    MemObject* const object = values[argument].memory();
    if (!range.writes || !object->kernelMayWrite()) continue;
    const auto same = [&](const Written& other) { return other.object.get() == object; };
    if (whole_objects && std::ranges::any_of(results, same)) continue;
    const size_t begin = whole_objects ? 0 : range.begin;
    const Bytes room(whole_objects ? object->size() : range.end - begin);
    results.push_back({argument, Ref<MemObject>(object), begin, room, room, room});
  }
  return results;
}

class Comparison final : public Command {
 public:
  Comparison(Queue& queue, cl_command_type type, std::shared_ptr<Results> results,
             std::string kernel)
      : Command(queue, type), results_(std::move(results)), kernel_(std::move(kernel)) {}

 private:
  void prepare() override {
    for (const Written& one : *results_) {
      const auto [at, other] = std::ranges::mismatch(one.divided, one.whole);
      if (at == one.divided.end()) continue;
      const std::string why = "divided, it leaves another byte at " +
                              std::to_string(one.begin + (at - one.divided.begin())) +
                              " of argument " + std::to_string(one.argument) + " than whole";
      std::fprintf(stderr, "weft: %s: %s\n", what().c_str(), why.c_str());
      throw Error(CL_OUT_OF_RESOURCES, why);
    }
  }
  std::string what() const override { return "kernel " + kernel_; }
  void finalize(cl_int) noexcept override { results_ = nullptr; }

  std::shared_ptr<Results> results_;
  std::string kernel_;
};

// Each command after the one before, whatever the queue's order.
class Chain {
 public:
  Chain(WaitList waits) : last_(waits.begin(), waits.end()) {}
  WaitList last() const { return last_; }
  // Those that the next one waits for, together.
  void then(std::vector<Ref<Event>> events) {
    if (!events.empty()) last_ = std::move(events);
  }

 private:
  std::vector<Ref<Event>> last_;
};

}  // namespace

bool checksSplits() {
  static const bool wanted = [] {
    const char* const setting = std::getenv("WEFT_CHECK_SPLIT");
    return setting && std::string_view(setting) == "1";
  }();
  return wanted;
}

Ref<Event> enqueueChecked(WaitList waits, Queue& queue, cl_command_type type,
                          const DeviceKernel& kernel, const ArgumentSet& arguments,
                          const port::LaunchRecord& record, const LaunchWay& divided,
                          const LaunchWay& whole) {
  const auto results =
      std::make_shared<Results>(writtenBy(kernel, arguments, record, runsAlone(queue)));
  Chain chain(waits);
  const auto forAll = [&](auto&& enqueue) {
    std::vector<Ref<Event>> events;
    for (Written& one : *results) events.push_back(enqueue(one));
    chain.then(std::move(events));
  };
  const auto read = [&](Bytes Written::* into) {
    forAll([&](Written& one) {
      return enqueueRead(queue, one.buffer(), one.begin, one.before.size(), (one.*into).data(),
                         chain.last());
    });
  };
  read(&Written::before);
  chain.then({divided(chain.last())});
  read(&Written::divided);
  forAll([&](Written& one) {
    return enqueueWrite(queue, one.buffer(), one.begin, one.before.size(), one.before.data(),
                        chain.last());
  });
  chain.then({whole(chain.last())});
  read(&Written::whole);
  return enqueueCommand<Comparison>(chain.last(), queue, type, results, kernel.info().name);
}

}  // namespace weft
