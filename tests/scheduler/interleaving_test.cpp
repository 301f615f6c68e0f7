// The protocols of the graph and of residency, step by step: the scheduler's own code, on threads
// that run one at a time in every order of their atomic steps with few preemptions.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <set>

#include "scheduler/queue.h"
#include "tests/scheduler/fake_platform.h"
#include "tests/scheduler/interleaver.h"

namespace weft::test {
namespace {

// Runs `once` under every schedule with one preemption, and under those with more for as long as
// there is time. It gets the interleaver and says what is wrong, if anything.
template <class F>
void forSchedules(F&& once) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (const int preemptions : {1, 2, 3}) {
    Interleaver interleaver(preemptions);
    size_t schedules = 0;
    bool more = true;
    for (; more; more = interleaver.next()) {
      if (preemptions > 1 && std::chrono::steady_clock::now() > end) break;
      ++schedules;
      const std::string wrong = once(interleaver);
      ASSERT_EQ(wrong, "") << interleaver.describe();
    }
    std::printf("%d preemptions: %zu schedules%s\n", preemptions, schedules, more ? "" : ", all");
  }
}

void require(Interleaver& interleaver, std::vector<Interleaver::Body> bodies) {
  if (interleaver.run(std::move(bodies))) return;
  // The threads that wait for ever use what the test would now destroy.
  std::fprintf(stderr, "threads wait for ever: %s\n", interleaver.describe().c_str());
  std::abort();
}

class Node final : public Event {
 public:
  explicit Node(const Ref<Context>& context, bool manual = false)
      : Event(*context, nullptr, CL_COMMAND_MARKER, CL_QUEUED), manual_(manual) {}

  void after(Event& dependency, bool carries_failure) { waitFor(dependency, carries_failure); }
  void launch() {
    retain();
    releaseGuard();
  }
  void finish(cl_int status) { complete(status); }
  int timesReady() const { return times_ready_; }

 private:
  void ready() noexcept override {
    ++times_ready_;
    if (!manual_) complete(CL_COMPLETE);
  }
  bool manual_;
  std::atomic<int> times_ready_{0};
};

class InterleavingTest : public testing::Test {
 protected:
  Ref<Node> node(bool manual = false) { return make<Node>(context, manual); }
  FakePlatform platform{{FakeOptions{}}};
  Ref<Context> context{&platform.context()};
};

TEST_F(InterleavingTest, LinkingWhileTheDependencyFails) {
  constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  forSchedules([&](Interleaver& interleaver) -> std::string {
    const auto failing = node(true), waiter = node(), ordered = node(), behind = node();
    failing->launch();
    require(interleaver, {[&] { failing->finish(-5); },
                          [&] {
                            waiter->after(*failing, true);
                            waiter->launch();
                            ordered->after(*failing, false);
                            ordered->launch();
                          },
                          [&] {
                            behind->after(*waiter, true);
                            behind->after(*ordered, true);
                            behind->launch();
                          }});
    if (waiter->status() != dependent || waiter->timesReady() != 0) return "the waiter ran";
    if (ordered->status() != CL_COMPLETE || ordered->timesReady() != 1) return "order failed";
    return behind->status() == dependent ? "" : "failure did not go on";
  });
}

TEST_F(InterleavingTest, ADiamondRunsOnce) {
  forSchedules([&](Interleaver& interleaver) -> std::string {
    const auto left = node(true), right = node(true), sink = node(), late = node();
    left->launch();
    right->launch();
    require(interleaver, {[&] { left->finish(CL_COMPLETE); }, [&] { right->finish(CL_COMPLETE); },
                          [&] {
                            sink->after(*left, true);
                            sink->after(*right, false);
                            sink->launch();
                            late->after(*sink, true);
                            late->launch();
                          }});
    return sink->timesReady() == 1 && late->timesReady() == 1 && late->done() ? "" : "not once";
  });
}

TEST_F(InterleavingTest, AUserEventIsSetOnceWhateverRaces) {
  forSchedules([&](Interleaver& interleaver) -> std::string {
    const auto event = make<UserEvent>(context);
    const auto waiter = node();
    int refused = 0;
    const auto set = [&](cl_int status) {
      try {
        event->setStatus(status);
      } catch (const Error&) {
        ++refused;
      }
    };
    require(interleaver, {[&] { set(CL_COMPLETE); }, [&] { set(-1); },
                          [&] {
                            waiter->after(*event, true);
                            waiter->launch();
                          }});
    const bool failed = event->status() < 0;
    if (refused != 1 || !waiter->done()) return "set twice or never";
    return (waiter->status() < 0) == failed ? "" : "the waiter saw another status";
  });
}

TEST_F(InterleavingTest, AJoinWaitsForAllThatArrive) {
  forSchedules([&](Interleaver& interleaver) -> std::string {
    const auto join = make<Join>(*context);
    const auto marker = node();
    int arrived = 0, seen = -1;
    join->expect();
    join->expect();
    const auto arrive = [&] {
      ++arrived;
      join->arrive();
    };
    require(interleaver, {arrive, arrive, [&] {
                            marker->after(*join, false);
                            join->close();
                            marker->launch();
                            seen = marker->done() ? arrived : 2;
                          }});
    return seen == 2 && marker->done() ? "" : "the marker was early";
  });
}

// --- memory ---

constexpr size_t size = 64;
constexpr int object_count = 3;

struct Order {
  int to, from;  // objects; from -1: a fill with `value`
  char value = 0;

  friend std::ostream& operator<<(std::ostream& out, const Order& order) {
    return out << order.from << '>' << order.to;
  }
};
using Contents = std::array<char, object_count>;
using Program = std::array<std::vector<Order>, 2>;  // of each device's thread

constexpr Contents initial = {1, 2, 3};

// What any order of the two threads' commands leaves.
void outcomes(const Program& program, size_t a, size_t b, Contents now, std::set<Contents>& all) {
  if (a == program[0].size() && b == program[1].size()) all.insert(now);
  for (const size_t thread : {0, 1}) {
    const size_t at = thread == 0 ? a : b;
    if (at == program[thread].size()) continue;
    const Order& order = program[thread][at];
    Contents next = now;
    next[order.to] = order.from < 0 ? order.value : now[order.from];
    outcomes(program, a + (thread == 0), b + (thread == 1), next, all);
  }
}

FakeOptions options(bool fences) {
  FakeOptions options;
  options.runs_ahead = options.fences = options.reaches_peers = fences;
  return options;
}

// Two host threads, each with a device and an in-order queue of its own, whose commands nothing
// orders, and the devices, which can wait for each other or not.
class Unordered {
 public:
  explicit Unordered(bool fences) : platform_({options(fences), options(fences)}) {
    for (int i = 0; i < object_count; ++i) {
      std::vector<char> bytes(size, initial[i]);
      objects_.push_back(platform_.buffer(size, CL_MEM_COPY_HOST_PTR, bytes.data()));
    }
    for (const size_t i : {0, 1}) queues_.push_back(platform_.queue(i));
  }

  std::string run(const Program& program, Interleaver& interleaver) {
    require(interleaver, {[&] { host(program, 0); }, [&] { host(program, 1); },
                          [&] { device(interleaver, 0); }, [&] { device(interleaver, 1); }});
    for (const auto& event : events_)
      if (event->status() != CL_COMPLETE) return "a command failed";
    if (platform_.fake(0).violations() + platform_.fake(1).violations() != 0)
      return "a device was misused";
    Contents contents{};
    for (int i = 0; i < object_count; ++i)
      if (!read(i, contents[i])) return "a command's bytes are mixed with another's";
    std::set<Contents> all;
    outcomes(program, 0, 0, initial, all);
    return all.contains(contents) ? "" : "no order of the commands leaves this";
  }

 private:
  void host(const Program& program, size_t thread) {
    for (const Order& order : program[thread]) {
      Buffer& to = *objects_[order.to];
      events_.push_back(
          order.from < 0
              ? enqueueFill(*queues_[thread], to, &order.value, 1, 0, size, {})
              : enqueueCopy(*queues_[thread], *objects_[order.from], to, 0, 0, size, {}));
    }
    ++hosts_done_;
  }
  bool ended() const {
    return hosts_done_ == 2 && std::all_of(events_.begin(), events_.end(),
                                           [](const auto& event) { return event->done(); });
  }
  void device(Interleaver& interleaver, size_t index) {
    FakeDevice& fake = platform_.fake(index);
    for (;;) {
      interleaver.await([&] { return fake.able() != 0 || ended(); });
      if (!fake.finish()) return;
    }
  }
  bool read(int object, char& value) {
    std::vector<char> bytes(size);
    const auto event = enqueueRead(*queues_[0], *objects_[object], 0, size, bytes.data(), {});
    while (platform_.fake(0).finishAll() + platform_.fake(1).finishAll() != 0) {
    }
    value = bytes[0];
    return event->status() == CL_COMPLETE && bytes == std::vector<char>(size, value);
  }

  FakePlatform platform_;
  std::vector<Ref<Buffer>> objects_;
  std::vector<Ref<Queue>> queues_;
  std::vector<Ref<Event>> events_;  // only one thread runs at a time
  int hosts_done_ = 0;
};

class UnorderedTest : public testing::TestWithParam<std::tuple<Program, bool>> {};

TEST_P(UnorderedTest, EveryScheduleIsASequence) {
  const auto& [program, fences] = GetParam();
  forSchedules(
      [&](Interleaver& interleaver) { return Unordered(fences).run(program, interleaver); });
}

const Program programs[] = {
    {{{{0, -1, 7}, {1, 0}}, {{0, 1}}}},  // a write and its reader
    {{{{1, 0}, {2, 1}}, {{0, 2}}}},      // a ring, with a prefetch in it
    {{{{2, -1, 8}, {1, 0}}, {{0, -1, 9}}}},
    {{{{0, -1, 7}, {0, -1, 8}}, {{1, 0}, {0, 2}}}},  // overwritten while it is fetched
};

std::string nameOf(const testing::TestParamInfo<UnorderedTest::ParamType>& info) {
  return std::string(std::get<bool>(info.param) ? "Fences" : "Plain") +
         std::to_string(info.index / 2);
}

INSTANTIATE_TEST_SUITE_P(OppositeCopies, UnorderedTest,
                         testing::Combine(testing::Values(Program{{{{1, 0}}, {{0, 1}}}}),
                                          testing::Bool()),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Programs, UnorderedTest,
                         testing::Combine(testing::ValuesIn(programs), testing::Bool()), nameOf);

}  // namespace
}  // namespace weft::test
