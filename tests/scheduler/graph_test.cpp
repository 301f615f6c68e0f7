// The command graph by itself: nodes without devices.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "scheduler/context_state.h"
#include "scheduler/event.h"
#include "scheduler/queue.h"

namespace weft {
namespace {

Ref<Context> emptyContext() {
  static auto* const platform = new Platform({}, nullptr);
  auto context = make<Context>(*platform, std::vector<Ref<Device>>{},
                               std::vector<cl_context_properties>{}, nullptr, nullptr);
  context->setState(makeContextState(*context));
  return context;
}

// Ready at once or when the test says so.
class Node final : public Event {
 public:
  enum class Mode { automatic, manual };

  Node(const Ref<Context>& context, Mode mode = Mode::automatic)
      : Event(*context, nullptr, CL_COMMAND_MARKER, CL_QUEUED), mode_(mode) {}

  void after(Event& dependency, bool carries_failure = true) {
    waitFor(dependency, carries_failure);
  }
  // The graph's reference is taken over here, as Command::enqueue does.
  void launch() {
    retain();
    releaseGuard();
  }
  void finish(cl_int status = CL_COMPLETE) { complete(status); }
  bool isReady() const { return ready_; }
  std::function<void()> on_ready;

 private:
  void ready() noexcept override {
    ready_ = true;
    if (on_ready) on_ready();
    if (mode_ == Mode::automatic) complete(CL_COMPLETE);
  }
  Mode mode_;
  std::atomic<bool> ready_{false};
};

class GraphTest : public testing::Test {
 protected:
  Ref<Node> node(Node::Mode mode = Node::Mode::automatic) { return make<Node>(context, mode); }
  Ref<Context> context = emptyContext();
};

TEST_F(GraphTest, NodeWithoutDependenciesRunsAtOnce) {
  auto a = node();
  a->launch();
  EXPECT_EQ(a->status(), CL_COMPLETE);
}

TEST_F(GraphTest, WaitsForEveryDependency) {
  auto a = node(Node::Mode::manual), b = node(Node::Mode::manual), c = node();
  c->after(*a);
  c->after(*b);
  c->launch();
  a->launch();
  b->launch();
  a->finish();
  EXPECT_FALSE(c->isReady());
  b->finish();
  EXPECT_EQ(c->status(), CL_COMPLETE);
}

TEST_F(GraphTest, LinkingToAFinishedNodeDoesNotWait) {
  auto a = node();
  a->launch();
  auto b = node();
  b->after(*a);
  b->launch();
  EXPECT_EQ(b->status(), CL_COMPLETE);
}

TEST_F(GraphTest, MoreDependenciesThanInlineEdges) {
  std::vector<Ref<Node>> sources;
  auto sink = node();
  for (int i = 0; i < 100; ++i) {
    sources.push_back(node(Node::Mode::manual));
    sink->after(*sources.back());
    sources.back()->launch();
  }
  sink->launch();
  for (auto& source : sources) {
    EXPECT_FALSE(sink->isReady());
    source->finish();
  }
  EXPECT_TRUE(sink->isReady());
}

TEST_F(GraphTest, FailureTravelsAlongWaitListsOnly) {
  auto a = node(Node::Mode::manual), in_list = node(), in_order = node(), behind = node();
  in_list->after(*a, true);
  in_order->after(*a, false);
  behind->after(*in_list, true);
  for (auto* n : {&in_list, &in_order, &behind, &a}) (*n)->launch();
  a->finish(CL_OUT_OF_RESOURCES);
  EXPECT_EQ(a->status(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(in_list->status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_FALSE(in_list->isReady());
  EXPECT_EQ(behind->status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(in_order->status(), CL_COMPLETE);
}

TEST_F(GraphTest, FailureOfAFinishedDependencyCounts) {
  auto a = node(Node::Mode::manual), b = node();
  a->launch();
  a->finish(CL_OUT_OF_RESOURCES);
  b->after(*a, true);
  b->launch();
  EXPECT_EQ(b->status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

TEST_F(GraphTest, FailedNodeWaitsForItsOtherDependencies) {
  auto bad = node(Node::Mode::manual), slow = node(Node::Mode::manual), c = node();
  c->after(*bad);
  c->after(*slow);
  for (auto* n : {&c, &bad, &slow}) (*n)->launch();
  bad->finish(CL_OUT_OF_RESOURCES);
  EXPECT_FALSE(c->done());
  slow->finish();
  EXPECT_EQ(c->status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

TEST_F(GraphTest, AMillionNodesInAChainNeedNoStack) {
  constexpr int length = 1'000'000;
  auto first = node(Node::Mode::manual);
  first->launch();
  Ref<Node> last = first;
  for (int i = 0; i < length; ++i) {
    auto next = node();
    next->after(*last);
    next->launch();
    last = std::move(next);
  }
  EXPECT_FALSE(last->done());
  std::thread small_stack([&] { first->finish(); });
  small_stack.join();
  EXPECT_EQ(last->status(), CL_COMPLETE);
}

TEST_F(GraphTest, LinkingRacesWithCompletion) {
  for (int round = 0; round < 2000; ++round) {
    auto source = node(Node::Mode::manual);
    source->launch();
    std::vector<Ref<Node>> sinks;
    for (int i = 0; i < 8; ++i) sinks.push_back(node());
    std::thread finisher([&] { source->finish(); });
    for (auto& sink : sinks) {
      sink->after(*source);
      sink->launch();
    }
    finisher.join();
    for (auto& sink : sinks) ASSERT_EQ(sink->wait(), CL_COMPLETE);
  }
}

TEST_F(GraphTest, RandomGraphRunsInATopologicalOrder) {
  std::mt19937 random(7);
  constexpr int count = 5000;
  std::vector<Ref<Node>> nodes;
  std::vector<std::vector<int>> before(count);
  std::vector<int> position(count, -1);
  std::atomic<int> clock{0};
  auto gate = make<UserEvent>(context);
  for (int i = 0; i < count; ++i) {
    auto n = node();
    n->on_ready = [&, i] { position[i] = clock++; };
    n->after(*gate);
    for (int k = 0; i > 0 && k < 5; ++k) {
      const int dependency = static_cast<int>(random() % i);
      before[i].push_back(dependency);
      n->after(*nodes[dependency]);
    }
    n->launch();
    nodes.push_back(std::move(n));
  }
  gate->setStatus(CL_COMPLETE);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(nodes[i]->wait(), CL_COMPLETE);
    for (int dependency : before[i]) ASSERT_LT(position[dependency], position[i]);
  }
}

TEST_F(GraphTest, UserEventIsSetOnce) {
  auto event = make<UserEvent>(context);
  EXPECT_EQ(event->status(), CL_SUBMITTED);
  event->setStatus(CL_COMPLETE);
  EXPECT_THROW(event->setStatus(CL_COMPLETE), Error);
  EXPECT_EQ(event->status(), CL_COMPLETE);
}

TEST_F(GraphTest, UserEventReleasedUnsetFailsItsWaiters) {
  auto event = make<UserEvent>(context);
  auto waiter = node();
  waiter->after(*event);
  waiter->launch();
  event->releaseHandle();
  (void)event.detach();  // the application's reference was the last
  EXPECT_EQ(waiter->status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

TEST_F(GraphTest, WaitWakesASleeper) {
  auto event = make<UserEvent>(context);
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    event->setStatus(-77);
  });
  EXPECT_EQ(event->wait(), -77);
  setter.join();
}

TEST_F(GraphTest, CallbacksRunOnceEachOffTheCompletingThread) {
  struct Seen {
    std::atomic<int> calls{0};
    std::atomic<cl_int> status{1};
    std::thread::id thread;
  };
  auto callback = [](cl_event, cl_int status, void* user) {
    auto& seen = *static_cast<Seen*>(user);
    seen.thread = std::this_thread::get_id();
    seen.status = status;
    ++seen.calls;
  };
  Seen early, late, failed;
  auto event = make<UserEvent>(context);
  event->addCallback(CL_COMPLETE, callback, &early);
  EXPECT_EQ(early.calls, 0);
  event->setStatus(CL_COMPLETE);
  event->addCallback(CL_COMPLETE, callback, &late);
  auto bad = make<UserEvent>(context);
  bad->addCallback(CL_COMPLETE, callback, &failed);
  bad->setStatus(-5);
  while (!early.calls || !late.calls || !failed.calls) std::this_thread::yield();
  EXPECT_EQ(early.status, CL_COMPLETE);
  EXPECT_EQ(failed.status, -5);
  EXPECT_NE(early.thread, std::this_thread::get_id());
}

TEST_F(GraphTest, ContextMayEndInsideItsOwnCallback) {
  std::atomic<bool> called{false};
  auto* event = make<UserEvent>(std::exchange(context, nullptr)).detach();
  event->addCallback(
      CL_COMPLETE,
      [](cl_event, cl_int, void* user) { *static_cast<std::atomic<bool>*>(user) = true; }, &called);
  event->setStatus(CL_COMPLETE);
  event->releaseHandle();  // the callback now holds the last reference
  while (!called) std::this_thread::yield();
}

TEST_F(GraphTest, JoinCompletesWhenAllArrivedAndItWasClosed) {
  auto join = make<Join>(*context);
  for (int i = 0; i < 3; ++i) join->expect();
  join->arrive();
  join->arrive();
  join->close();
  EXPECT_FALSE(join->done());
  join->arrive();
  EXPECT_EQ(join->status(), CL_COMPLETE);
}

TEST_F(GraphTest, JoinExpectsAnyNumber) {
  for (const int late : {0, 1, 7}) {
    auto join = make<Join>(*context, 3);
    for (int i = 0; i < 10; ++i) {
      join->expect();
      if (i >= late) join->arrive();
    }
    EXPECT_FALSE(join->done());
    join->close();
    for (int i = 0; i < late; ++i) {
      EXPECT_FALSE(join->done());
      join->arrive();
    }
    EXPECT_EQ(join->status(), CL_COMPLETE);
  }
}

}  // namespace
}  // namespace weft
