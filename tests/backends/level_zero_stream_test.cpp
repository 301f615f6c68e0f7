// Streams of Level Zero, when its driver refuses something.
#include <gtest/gtest.h>

#include "tests/support/software_gpus.h"
#include "tests/support/test_image.h"
#include "tests/support/test_operation.h"

namespace weft::test {
namespace {

// A stream's list waits for another's event, and the event that would tell so cannot be had: the
// operation ends with that, while its list still stands before the wait. Whatever becomes of the
// first event then, the list must come past it.
TEST(LevelZeroStream, ListsComePastWhatFailedOperationsWaitFor) {
  const auto backend = softwareLevelZero();
  std::vector<port::Diagnostic> diagnostics;
  const std::shared_ptr<port::Device> device = backend->discover(diagnostics).at(0);
  const auto module = device->load(testImage(device->target()));
  const auto one = device->createStream(port::Order::in_order),
             two = device->createStream(port::Order::in_order),
             three = device->createStream(port::Order::in_order);
  const auto memory = device->allocate(256, 128);
  constexpr size_t flag = 128;
  const auto launch = [&](const char* kernel, size_t at) {
    TestLaunch result(*module, kernelIndex(kernel), 1);
    result.memory(memory.get(), at);
    return result;
  };
  const auto run = [](port::Stream& stream, const port::Operation::Work& work) {
    TestOperation operation(work);
    stream.submit(operation);
    EXPECT_TRUE(operation.wait());
    EXPECT_EQ(operation.status, 0);
  };
  port::Fill zeros;
  zeros.memory = memory.get();
  zeros.size = 256;
  run(*three, zeros);
  const TestLaunch waits = launch("wait_flag", 0), sets = launch("set_flag", 0),
                   holds = launch("wait_flag", flag), frees = launch("set_flag", flag),
                   empty(*module, kernelIndex("empty"), 1);
  TestOperation before(waits.whole()), holding(holds.whole()), failing(empty.whole());
  for (TestOperation* each : {&holding, &failing}) each->timed = each->wants_start = false;
  holding.observed = false;
  const port::Operation* const behind[] = {&before};
  failing.behind = behind;
  one->submit(before);
  // What tells of the first operation's end is refused, too, should the stream's thread ask for it
  // before the second is there.
  std::atomic<int>& refused = softwareLevelZeroFaults()->signals.failing;
  refused = 2;
  two->submit(holding);
  two->submit(failing);
  EXPECT_TRUE(failing.wait());
  EXPECT_LT(failing.status, 0);
  refused = 0;
  run(*three, sets.whole());
  EXPECT_TRUE(before.wait());
  // The events of the first stream are used again.
  for (int i = 0; i < 100; ++i) run(*one, empty.whole());
  run(*three, frees.whole());
  run(*two, empty.whole());
}

}  // namespace
}  // namespace weft::test
