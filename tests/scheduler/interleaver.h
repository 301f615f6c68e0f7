// Runs threads one at a time, from step to step (scheduler/step.h), in an order that is chosen: all
// orders with so many preemptions at most, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

namespace weft::test {

class Interleaver {
 public:
  using Body = std::function<void()>;
  using Condition = std::function<bool()>;

  explicit Interleaver(int preemptions) : preemptions_(preemptions) {}

  // One schedule: runs the bodies, each on a thread of its own, until all have returned. False when
  // those that have not wait for ever; their threads are then left behind.
  bool run(std::vector<Body> bodies);
  // Is there another schedule?
  bool next();
  std::string describe() const;

  // For the bodies: until the condition holds. It is only asked while no thread runs.
  void await(Condition condition);
  // Called by scheduler/step.h.
  static void point() noexcept;

 private:
  struct Worker {
    std::binary_semaphore go{0};
    Condition waits_for;
    bool finished = false;
  };
  struct Choice {
    size_t chosen, count;
  };

  size_t choose(size_t count);
  // The worker that goes next; it is `current` or, counted as a preemption, another one that could.
  Worker* pick(Worker* current);
  void hand(Worker* from, Worker* to);
  void runWorker(Worker& worker, const Body& body);

  int preemptions_;
  int left_ = 0;
  std::vector<Choice> path_;
  size_t at_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::binary_semaphore ended_{0};
  bool stuck_ = false;
};

}  // namespace weft::test
