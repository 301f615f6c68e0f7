// Every schedule of every small program: all orders in which the host's calls, the operations and
// transfers on two devices and a user event can follow each other, and in each of them every single
// operation and allocation failing in turn. The reference is the model's (model.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include <CL/cl.h>

#include "tests/scheduler/model_run.h"

namespace weft::test::model {
namespace {

// All sequences of choices, depth first. Choices that turn out fewer than the last time are the
// same as the last of them: the runtime may try equals in the order of their addresses.
class AllChoices final : public Choices {
 public:
  size_t choose(size_t count) override {
    if (at_ == path_.size()) path_.push_back({0, count});
    return std::min(path_[at_++].chosen, count - 1);
  }
  // False when there is no other sequence.
  bool next() {
    at_ = 0;
    while (!path_.empty() && path_.back().chosen + 1 >= path_.back().count) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().chosen;
    return true;
  }
  std::string describe() const {
    std::string text = "choices";
    for (const Choice& choice : path_) text += " " + std::to_string(choice.chosen);
    return text + "\n";
  }

 private:
  struct Choice {
    size_t chosen, count;
  };
  std::vector<Choice> path_;
  size_t at_ = 0;
};

constexpr size_t plenty = 16 * root_bytes, tight = 2 * root_bytes;  // a device's memory

struct Step {
  Kind kind;
  int device;
  int to;  // object; -1: host memory
  int from;
  uint64_t flags = 0;
};

bool conflict(const Step& a, const Step& b) {
  const auto touches = [](const Step& step, int object) {
    return object >= 0 && (step.to == object || step.from == object);
  };
  return touches(b, a.to) || touches(a, b.to);
}

Call callOf(const Step& step) {
  Call call;
  call.kind = step.kind;
  call.queue = step.device;
  call.to.object = step.to;
  call.from.object = step.from;
  call.region[0] = root_bytes;
  call.flags = step.flags;
  if (step.kind == Kind::fill) call.modulo = 4;
  if (step.kind == Kind::kernel) {
    call.multiplier = 3;
    call.addend = 7;
  }
  return call;
}

enum class Gate : uint8_t { none, opens, fails };  // a user event that the first command waits for

Plan planOf(const std::vector<Step>& steps, Gate gate, size_t memory, bool failures, bool fences) {
  // So many that they do not fit where there is little memory.
  const int objects = memory == tight ? 3 : 2;
  Plan plan;
  plan.options.failures = failures;
  plan.options.max_devices = 2;
  plan.devices = {{0, fences, memory, fences}, {1, fences, plenty, fences}};
  plan.queues = {{0, false, 0}, {1, false, 0}};
  for (int i = 0; i < objects; ++i) plan.objects.push_back({i, 0, root_bytes, Contents::copied});
  Call event;
  event.kind = Kind::user_event;
  if (gate != Gate::none) plan.calls.push_back(event);
  const int first = int(plan.calls.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    Call call = callOf(steps[i]);
    if (gate != Gate::none && i == 0) call.waits.push_back(0);
    for (size_t before = 0; before < i; ++before)
      if (steps[before].device != steps[i].device && conflict(steps[before], steps[i]))
        call.waits.push_back(first + int(before));
    plan.calls.push_back(std::move(call));
  }
  event.kind = Kind::set_user_event;
  event.target = 0;
  event.status = gate == Gate::fails ? -1001 : CL_COMPLETE;
  if (gate != Gate::none) plan.calls.push_back(event);
  for (int object = 0; object < objects; ++object) {
    Call read = callOf({Kind::read, 0, -1, object});
    read.blocking = true;
    plan.calls.push_back(std::move(read));
  }
  return plan;
}

struct Explored {
  size_t programs = 0, schedules = 0;
  bool right = true;

  void add(const Plan& plan, int failures) {
    ++programs;
    AllChoices choices;
    do {
      ++schedules;
      const RunResult result = run(plan, choices, failures);
      const std::string wrong = result.wrong + compare(plan, result.outcome);
      right = right && wrong.empty();
      if (!wrong.empty()) ADD_FAILURE() << wrong << "\n" << choices.describe() << describe(plan);
    } while (right && choices.next());
  }
  void report() const { std::printf("%zu programs, %zu schedules\n", programs, schedules); }
};

constexpr Step steps_of_two_objects[] = {{Kind::copy, 0, 1, 0},    {Kind::copy, 1, 0, 1},
                                         {Kind::kernel, 0, 0, 0},  {Kind::kernel, 1, 1, 1},
                                         {Kind::fill, 1, 0, -1},   {Kind::read, 0, -1, 1},
                                         {Kind::migrate, 1, 0, -1}};

// For a device with room for two of three.
constexpr Step steps_of_one_object[] = {{Kind::kernel, 0, 0, 0},
                                        {Kind::kernel, 0, 1, 1},
                                        {Kind::fill, 0, 2, -1},
                                        {Kind::kernel, 1, 0, 0},
                                        {Kind::migrate, 0, 2, -1, CL_MIGRATE_MEM_OBJECT_HOST}};

// One of so many programs is taken: every one, but where a sanitizer makes each a hundred times
// slower.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr size_t stride = 11;
#else
constexpr size_t stride = 1;
#endif

// All programs of so many steps.
template <class F>
void forPrograms(std::span<const Step> alphabet, size_t length, F&& function) {
  std::vector<size_t> letters(length);
  for (size_t count = 0;; ++count) {
    std::vector<Step> program;
    for (const size_t letter : letters) program.push_back(alphabet[letter]);
    if (count % stride == 0) function(program);
    size_t place = 0;
    while (place < length && ++letters[place] == alphabet.size()) letters[place++] = 0;
    if (place == length) return;
  }
}

// On devices that wait for each other, too.
class ExploreTest : public testing::TestWithParam<bool> {};

TEST_P(ExploreTest, EveryOrderOfThreeCommands) {
  Explored explored;
  forPrograms(steps_of_two_objects, 3, [&](const auto& program) {
    if (explored.right) explored.add(planOf(program, Gate::none, plenty, false, GetParam()), 0);
  });
  explored.report();
}

TEST_P(ExploreTest, EveryOrderBehindAUserEvent) {
  Explored explored;
  for (const Gate gate : {Gate::opens, Gate::fails})
    forPrograms(steps_of_two_objects, 3, [&](const auto& program) {
      const bool fails = gate == Gate::fails;
      if (explored.right) explored.add(planOf(program, gate, plenty, fails, GetParam()), 0);
    });
  explored.report();
}

TEST_P(ExploreTest, EveryOrderInAFullDevice) {
  Explored explored;
  forPrograms(steps_of_one_object, 3, [&](const auto& program) {
    if (explored.right) explored.add(planOf(program, Gate::none, tight, false, GetParam()), 0);
  });
  explored.report();
}

TEST_P(ExploreTest, EveryFailureInEveryOrder) {
  Explored explored;
  forPrograms(steps_of_two_objects, 2, [&](const auto& program) {
    if (explored.right) explored.add(planOf(program, Gate::none, plenty, true, GetParam()), 1);
  });
  forPrograms(steps_of_one_object, 2, [&](const auto& program) {
    if (explored.right) explored.add(planOf(program, Gate::opens, tight, true, GetParam()), 1);
  });
  explored.report();
}

INSTANTIATE_TEST_SUITE_P(Devices, ExploreTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Fences" : "NoFences"; });

}  // namespace
}  // namespace weft::test::model
