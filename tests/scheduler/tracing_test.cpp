// What commands leave in a recording: on fake devices with a memory each.
#include "scheduler/tracing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "profiling/trace_reader.h"
#include "scheduler/command_buffer.h"
#include "tests/scheduler/fake_platform.h"
#include "tests/scheduler/stencil_kernel.h"
#include "tests/scheduler/unified_machine.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using profiling::TracedCommand;
using profiling::TracedProcess;
using profiling::TraceWriter;
using profiling::trace::flag_has_parts;
using profiling::trace::flag_transfer;

constexpr size_t size = 4096;

// Records while it lives.
class Recorded {
 public:
  Recorded() {
    std::string name = (fs::temp_directory_path() / "weft-tracing-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    TraceWriter::start(folder_, uint64_t{16} << 20);
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  ~Recorded() {
    TraceWriter::stop();
    fs::remove_all(folder_);
  }
  TracedProcess read() const { return profiling::readTraces(folder_).at(0); }

 private:
  std::string folder_;
};

size_t indexOf(const TracedProcess& process, const std::string& name) {
  const auto found = std::ranges::find(process.commands, name, &TracedCommand::name);
  EXPECT_NE(found, process.commands.end()) << name;
  return found - process.commands.begin();
}
const TracedCommand& find(const TracedProcess& process, const std::string& name) {
  return process.commands.at(indexOf(process, name));
}
bool dependsOn(const TracedCommand& command, size_t other) {
  return std::ranges::find(command.dependencies, other) != command.dependencies.end();
}

FakeOptions automatic() {
  FakeOptions options;
  options.manual = false;
  options.max_delay = std::chrono::microseconds(0);
  return options;
}

class TracingTest : public testing::Test {
 protected:
  static Ref<Event> launch(Queue& queue, const Ref<Program>& program, const char* name,
                           Buffer& buffer, WaitList waits = {}) {
    const auto kernel = make<Kernel>(program, name);
    const cl_mem handle = buffer.handle();
    kernel->setArgument(0, sizeof handle, &handle);
    const size_t global[] = {64, 4}, local[] = {16, 2};
    NDRange range;
    range.dimensions = 2;
    range.global = global;
    range.local = local;
    return enqueueLaunch(queue, *kernel, range, waits);
  }

  Recorded recorded;
};

TEST_F(TracingTest, AKernelOnAnotherDeviceWaitsForTheFirstAndForItsBytes) {
  {
    FakePlatform platform({automatic(), automatic()});
    const auto program =
        platform.program({{"produce", {pointerArgument(false, true)}, [](auto&) {}},
                          {"consume", {pointerArgument(true, false)}, [](auto&) {}}});
    const auto first = platform.queue(0), second = platform.queue(1);
    const auto buffer = platform.buffer(size);
    const char zero = 0;
    enqueueFill(*first, *buffer, &zero, 1, 0, size, {});
    const auto produced = launch(*first, program, "produce", *buffer);
    produced->wait();  // or a prefetch might bring the bytes before the next kernel waits for any
    EXPECT_EQ(launch(*second, program, "consume", *buffer, WaitList(&produced, 1))->wait(),
              CL_COMPLETE);
  }
  const TracedProcess process = recorded.read();
  ASSERT_EQ(process.devices.size(), 2u);
  ASSERT_EQ(process.queues.size(), 2u);
  const TracedCommand &fill = find(process, "buffer fill"), &produce = find(process, "produce"),
                      &consume = find(process, "consume");
  EXPECT_EQ(fill.record.bytes, size);
  EXPECT_EQ(fill.queue, 0u);
  EXPECT_EQ(produce.device, 0u);
  EXPECT_EQ(consume.device, 1u);
  EXPECT_EQ(consume.queue, 1u);
  EXPECT_EQ(consume.record.global, (std::array<uint64_t, 3>{64, 4, 1}));
  EXPECT_EQ(consume.record.local, (std::array<uint32_t, 3>{16, 2, 1}));
  EXPECT_EQ(consume.record.groups, 8u);
  EXPECT_TRUE(dependsOn(consume, indexOf(process, "produce")));

  // Without a common reach the bytes take two steps, the second of which the kernel waits for.
  uint64_t moved = 0;
  bool waited_for = false;
  for (size_t i = 0; i < process.commands.size(); ++i) {
    const TracedCommand& command = process.commands[i];
    if (!command.is(flag_transfer)) continue;
    if (command.target == 1u) moved += command.record.bytes;
    waited_for |= command.target == 1u && dependsOn(consume, i);
  }
  EXPECT_EQ(moved, size);
  EXPECT_TRUE(waited_for);

  for (const TracedCommand& command : process.commands) {
    const auto& record = command.record;
    EXPECT_LE(record.queued, record.submitted) << command.name;
    EXPECT_LE(record.submitted, record.started) << command.name;
    EXPECT_LE(record.started, record.ended) << command.name;
    EXPECT_LE(record.ended, record.completed) << command.name;
    EXPECT_EQ(record.status, CL_COMPLETE);
  }
}

TEST_F(TracingTest, WhatNobodyOrderedWaitsForTheWriterOfItsBytes) {
  {
    FakePlatform platform({FakeOptions{}, automatic()});
    const auto program =
        platform.program({{"produce", {pointerArgument(false, true)}, [](auto&) {}},
                          {"consume", {pointerArgument(true, false)}, [](auto&) {}}});
    const auto first = platform.queue(0), second = platform.queue(1);
    const auto buffer = platform.buffer(size);
    const auto produced = launch(*first, program, "produce", *buffer);
    first->flush();
    const auto consumed = launch(*second, program, "consume", *buffer);
    second->flush();
    while (!consumed->done()) platform.fake(0).finishAll();
    EXPECT_EQ(consumed->status(), CL_COMPLETE);
  }
  const TracedProcess process = recorded.read();
  EXPECT_TRUE(dependsOn(find(process, "consume"), indexOf(process, "produce")));
}

TEST_F(TracingTest, UserEventsAndFailuresAreThere) {
  {
    FakePlatform platform({automatic()});
    const auto queue = platform.queue(0);
    const auto buffer = platform.buffer(size);
    const auto user = make<UserEvent>(Ref<Context>(&platform.context()));
    const Ref<Event> gate(user.get());
    const char zero = 0;
    const auto fill = enqueueFill(*queue, *buffer, &zero, 1, 0, size, WaitList(&gate, 1));
    user->setStatus(-7);
    EXPECT_EQ(fill->wait(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  }
  const TracedProcess process = recorded.read();
  ASSERT_EQ(process.commands.size(), 2u);
  EXPECT_EQ(find(process, "user event").record.status, -7);
  const TracedCommand& fill = find(process, "buffer fill");
  EXPECT_EQ(fill.record.status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_TRUE(dependsOn(fill, indexOf(process, "user event")));
  EXPECT_FALSE(fill.ran());
}

TEST_F(TracingTest, ACommandBuffersCommandsAreThere) {
  {
    FakePlatform platform({automatic()});
    const auto queue = platform.queue(0);
    const auto buffer = platform.buffer(size), other = platform.buffer(size);
    const auto commands =
        make<CommandBuffer>(queue, 0, 0, std::vector<cl_command_buffer_properties_khr>{});
    const char zero = 0;
    using Points = std::vector<cl_sync_point_khr>;
    const Points filled{commands->record(
        weft::recorded(FillWork(*buffer, &zero, 1, {{0, 0, 0}, size, size}, {size, 1, 1})), {})};
    commands->record(
        weft::recorded(
            CopyWork{CopyEnd::linear(*buffer, 0), CopyEnd::linear(*other, 0), {size / 2, 1, 1}}),
        filled);
    commands->finalize();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(commands->enqueue(*queue, {})->wait(), CL_COMPLETE);
    }
  }
  const TracedProcess process = recorded.read();
  size_t wholes = 0, fills = 0, copies = 0;
  for (const TracedCommand& command : process.commands) {
    if (command.is(flag_has_parts)) {
      EXPECT_EQ(command.name, "command buffer");
      ++wholes;
      continue;
    }
    ASSERT_LT(command.parent, process.commands.size());
    const TracedCommand& whole = process.commands[command.parent];
    EXPECT_TRUE(whole.is(flag_has_parts));
    EXPECT_GE(command.record.started, whole.record.started);
    EXPECT_LE(command.record.ended, whole.record.ended);
    fills += command.name == "buffer fill" && command.record.bytes == size;
    copies += command.name == "buffer copy" && command.record.bytes == size / 2;
  }
  EXPECT_EQ(wholes, 3u);
  EXPECT_EQ(fills, 3u);
  EXPECT_EQ(copies, 3u);
}

class DividedTracingTest : public UnifiedMachine {
 protected:
  Recorded recorded;
};

TEST_F(DividedTracingTest, PartsKnowTheirLaunch) {
  start(false, {stencil<0>("stencil")});
  std::vector<uint8_t> from(stencil_bytes), to(stencil_bytes);
  const auto source = buffer(stencil_bytes, from.data()), target = buffer(stencil_bytes, to.data());
  // Some of them run whole, to be compared.
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(launchOn(*queue, "stencil", {source.get(), target.get()})->wait(), CL_COMPLETE);
  }
  const TracedProcess process = recorded.read();
  std::map<size_t, uint64_t> groups;  // by launch
  size_t parts = 0;
  for (const TracedCommand& command : process.commands) {
    if (command.name != "stencil" || command.parent == profiling::nobody) continue;
    const TracedCommand& whole = process.commands.at(command.parent);
    EXPECT_TRUE(whole.is(flag_has_parts));
    EXPECT_EQ(whole.name, "stencil");
    EXPECT_NE(command.device, whole.device);
    groups[command.parent] += command.record.groups;
    ++parts;
  }
  EXPECT_GE(groups.size(), 1u);
  EXPECT_GT(parts, groups.size());
  for (const auto& [whole, count] : groups) EXPECT_EQ(count, items / local_size);
}

}  // namespace
}  // namespace weft::test
