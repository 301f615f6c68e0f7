#include "tests/scheduler/interleaver.h"

#include <algorithm>
#include <thread>

#include "scheduler/step.h"

namespace weft::test {
namespace {

// What the thread runs for, if it is one of an Interleaver's.
thread_local Interleaver* interleaver = nullptr;
thread_local void* worker_here = nullptr;
thread_local int quiet = 0;

}  // namespace

size_t Interleaver::choose(size_t count) {
  if (at_ == path_.size()) path_.push_back({0, count});
  return std::min(path_[at_++].chosen, count - 1);
}

bool Interleaver::next() {
  while (!path_.empty() && path_.back().chosen + 1 >= path_.back().count) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().chosen;
  return true;
}

std::string Interleaver::describe() const {
  std::string text = "schedule";
  for (const Choice& choice : path_) text += " " + std::to_string(choice.chosen);
  return text;
}

Interleaver::Worker* Interleaver::pick(Worker* current) {
  const auto able = [](const Worker& worker) {
    return !worker.finished && (!worker.waits_for || worker.waits_for());
  };
  std::vector<Worker*> others;
  for (const auto& worker : workers_)
    if (worker.get() != current && able(*worker)) others.push_back(worker.get());
  if (current && able(*current)) {
    if (left_ == 0 || others.empty()) return current;
    const size_t chosen = choose(others.size() + 1);
    if (chosen == 0) return current;
    --left_;
    return others[chosen - 1];
  }
  if (others.empty()) return nullptr;
  return others.size() == 1 ? others[0] : others[choose(others.size())];
}

void Interleaver::hand(Worker* from, Worker* to) {
  if (to == from) return;
  if (to)
    to->go.release();
  else
    ended_.release();
  if (from && !from->finished) from->go.acquire();
}

void Interleaver::point() noexcept {
  if (!interleaver || quiet) return;
  auto* const self = static_cast<Worker*>(worker_here);
  interleaver->hand(self, interleaver->pick(self));
}

void Interleaver::await(Condition condition) {
  auto* const self = static_cast<Worker*>(worker_here);
  self->waits_for = std::move(condition);
  Worker* const to = pick(self);
  stuck_ = !to;
  hand(self, to);
  self->waits_for = nullptr;
}

void Interleaver::runWorker(Worker& worker, const Body& body) {
  worker.go.acquire();
  interleaver = this;
  worker_here = &worker;
  body();
  interleaver = nullptr;
  worker.finished = true;
  Worker* const to = pick(&worker);
  stuck_ = !to && std::any_of(workers_.begin(), workers_.end(),
                              [](const auto& other) { return !other->finished; });
  hand(&worker, to);
}

bool Interleaver::run(std::vector<Body> bodies) {
  at_ = 0;
  left_ = preemptions_;
  workers_.clear();
  for (size_t i = 0; i < bodies.size(); ++i) workers_.push_back(std::make_unique<Worker>());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < bodies.size(); ++i)
    threads.emplace_back([this, i, &bodies] { runWorker(*workers_[i], bodies[i]); });
  hand(nullptr, pick(nullptr));
  ended_.acquire();
  for (std::thread& thread : threads) stuck_ ? thread.detach() : thread.join();
  return !stuck_;
}

}  // namespace weft::test

namespace weft::step {

void point() noexcept { test::Interleaver::point(); }
Quiet::Quiet() noexcept { ++test::quiet; }
Quiet::~Quiet() { --test::quiet; }

}  // namespace weft::step
