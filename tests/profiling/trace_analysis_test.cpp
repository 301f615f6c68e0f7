// What is worked out from a recording, for recordings made by hand.
#include "profiling/trace_analysis.h"

#include <gtest/gtest.h>

namespace weft::profiling {
namespace {

using namespace trace;

constexpr uint32_t kernel_type = 0x11F0;  // CL_COMMAND_NDRANGE_KERNEL

class TraceAnalysisTest : public testing::Test {
 protected:
  TraceAnalysisTest() { process.devices.resize(2); }

  struct Times {
    uint64_t queued, submitted, started, ended;
  };
  // Its place. Commands have to come in the order of their enqueues.
  size_t add(const char* name, size_t device, Times times) {
    TracedCommand& command = process.commands.emplace_back();
    command.name = name;
    command.device = device;
    command.queue = 0;
    command.record.type = kernel_type;
    command.record.queued = times.queued;
    command.record.submitted = times.submitted;
    command.record.started = times.started;
    command.record.ended = command.record.completed = times.ended;
    return process.commands.size() - 1;
  }
  size_t addTransfer(size_t source, size_t target, uint64_t bytes, Times times) {
    const size_t index = add("transfer", target, times);
    TracedCommand& transfer = process.commands[index];
    transfer.queue = nobody;
    transfer.source = source;
    transfer.target = target;
    transfer.record.type = 0;
    transfer.record.bytes = bytes;
    transfer.record.flags = flag_transfer;
    return index;
  }

  TracedProcess process;
};

TEST_F(TraceAnalysisTest, NothingAtAll) {
  const TraceSummary summary = summarize(process);
  EXPECT_EQ(summary.begin, summary.end);
  EXPECT_EQ(summary.devices.size(), 2u);
  EXPECT_TRUE(summary.kernels.empty());
}

TEST_F(TraceAnalysisTest, ADeviceIsBusyWhileAnythingRuns) {
  add("a", 0, {100, 100, 100, 200});
  add("b", 0, {100, 100, 150, 250});
  add("c", 0, {100, 100, 300, 400});
  add("d", 1, {100, 100, 100, 500});
  const TraceSummary summary = summarize(process);
  EXPECT_EQ(summary.end - summary.begin, 400u);
  EXPECT_EQ(summary.devices[0].commands, 3u);
  EXPECT_EQ(summary.devices[0].busy, 250u);
  EXPECT_EQ(summary.devices[0].running, 300u);
  EXPECT_EQ(summary.devices[0].idle.starting, 50u);
  EXPECT_EQ(summary.devices[0].done_before_end, 100u);
  EXPECT_EQ(summary.devices[1].busy, 400u);
  EXPECT_EQ(summary.devices[1].idle.total(), 0u);
}

// Busy, idle for any of the reasons, or done: together all of the time.
TEST_F(TraceAnalysisTest, SaysWhyADeviceStoodStill) {
  add("a", 0, {100, 100, 100, 200});
  const size_t b = add("b", 1, {210, 210, 220, 300});
  const size_t move = addTransfer(1, 0, 4096, {215, 300, 310, 350});
  const size_t c = add("c", 0, {230, 350, 360, 400});
  process.commands[c].dependencies = {b, move};
  const TraceSummary summary = summarize(process);
  const DeviceSummary& first = summary.devices[0];
  EXPECT_EQ(first.idle.not_enqueued, 30u);  // 200 to 230
  EXPECT_EQ(first.idle.dependencies, 70u);  // to 300
  EXPECT_EQ(first.idle.transfers, 50u);     // to 350
  EXPECT_EQ(first.idle.starting, 10u);      // to 360
  EXPECT_EQ(first.bytes_in, 4096u);
  const DeviceSummary& second = summary.devices[1];
  EXPECT_EQ(second.bytes_out, 4096u);
  EXPECT_EQ(second.idle.not_enqueued, 110u);
  EXPECT_EQ(second.idle.starting, 10u);
  for (const DeviceSummary& device : summary.devices)
    EXPECT_EQ(device.busy + device.idle.total() + device.done_before_end,
              summary.end - summary.begin);
}

TEST_F(TraceAnalysisTest, APartWaitsForWhatItsLaunchDoes) {
  const size_t before = add("before", 1, {100, 100, 100, 300});
  const size_t whole = add("split", 1, {120, 300, 310, 400});
  process.commands[whole].record.flags = flag_has_parts;
  process.commands[whole].dependencies = {before};
  const size_t part = add("split", 0, {305, 305, 310, 400});
  process.commands[part].parent = whole;
  const TraceSummary summary = summarize(process);
  EXPECT_EQ(summary.divided, 1u);
  EXPECT_EQ(summary.parts, 1u);
  EXPECT_EQ(summary.devices[0].idle.not_enqueued, 20u);
  EXPECT_EQ(summary.devices[0].idle.dependencies, 180u);
  EXPECT_EQ(summary.devices[1].busy, 200u);  // the launch itself runs nowhere
  ASSERT_EQ(summary.kernels.size(), 2u);
  EXPECT_EQ(summary.life.commands, 2u);  // of the application's
}

TEST_F(TraceAnalysisTest, KernelsAreCountedByNameAndDevice) {
  add("long", 0, {10, 10, 10, 110});
  add("short", 0, {10, 10, 110, 120});
  add("short", 0, {10, 10, 120, 150});
  add("short", 1, {10, 10, 10, 15});
  add("never", 1, {10, 0, 0, 0});  // it failed before it began
  const TraceSummary summary = summarize(process);
  ASSERT_EQ(summary.kernels.size(), 3u);
  EXPECT_EQ(summary.kernels[0].name, "long");
  EXPECT_EQ(summary.kernels[1].name, "short");
  EXPECT_EQ(summary.kernels[1].count, 2u);
  EXPECT_EQ(summary.kernels[1].total, 40u);
  EXPECT_EQ(summary.kernels[1].least, 10u);
  EXPECT_EQ(summary.kernels[1].most, 30u);
  EXPECT_EQ(summary.kernels[2].device, 1u);
}

TEST_F(TraceAnalysisTest, LinksAreCountedByTheirEnds) {
  addTransfer(nobody, 0, 100, {1, 1, 10, 20});
  addTransfer(nobody, 0, 200, {1, 1, 15, 30});
  addTransfer(0, 1, 50, {1, 1, 30, 40});
  const size_t failed = addTransfer(0, 1, 50, {1, 1, 40, 50});
  process.commands[failed].record.status = -5;
  const TraceSummary summary = summarize(process);
  ASSERT_EQ(summary.links.size(), 2u);
  EXPECT_EQ(summary.links[0].source, 0u);
  EXPECT_EQ(summary.links[0].bytes, 50u);
  EXPECT_EQ(summary.links[1].source, nobody);
  EXPECT_EQ(summary.links[1].bytes, 300u);
  EXPECT_EQ(summary.links[1].busy, 20u);
  EXPECT_EQ(summary.devices[1].failed, 1u);
}

TEST_F(TraceAnalysisTest, RowsOverlapNothing) {
  add("a", 0, {1, 1, 10, 30});
  add("b", 0, {1, 1, 20, 40});
  add("c", 0, {1, 1, 30, 50});
  add("d", 0, {1, 1, 35, 60});
  const std::vector<size_t> executions = executionsOn(process, 0, false);
  EXPECT_EQ(rowsOf(process, executions), (std::vector<unsigned>{0, 1, 0, 2}));
}

TEST_F(TraceAnalysisTest, CallsAreSummedUp) {
  for (const auto& [began, ended, code] : {std::tuple{10, 20, 0}, {30, 70, -5}}) {
    TracedCall& call = process.calls.emplace_back();
    call.name = "clFinish";
    call.record.began = began;
    call.record.ended = ended;
    call.record.code = code;
  }
  const TraceSummary summary = summarize(process);
  ASSERT_EQ(summary.calls.size(), 1u);
  EXPECT_EQ(summary.calls[0].count, 2u);
  EXPECT_EQ(summary.calls[0].total, 50u);
  EXPECT_EQ(summary.calls[0].most, 40u);
  EXPECT_EQ(summary.calls[0].failed, 1u);
}

}  // namespace
}  // namespace weft::profiling
