// Recordings, written and read again.
#include "profiling/trace_writer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "profiling/clock.h"
#include "profiling/trace_reader.h"

namespace weft::profiling {
namespace {

namespace fs = std::filesystem;
using namespace trace;

class TraceWriterTest : public testing::Test {
 protected:
  static constexpr uint64_t room = uint64_t{16} << 20;

  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft-trace-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    scratch = folder = name;
  }
  void TearDown() override {
    TraceWriter::stop();
    fs::remove_all(scratch);
  }

  static void writeCommand(uint64_t number, uint64_t queued) {
    CommandRecord record;
    record.command = number;
    record.queued = queued;
    record.bytes = number * 3;
    TraceWriter::active()->write(record, "command " + std::to_string(number));
  }
  TracedProcess read() const {
    const std::vector<TracedProcess> processes = readTraces(folder);
    EXPECT_EQ(processes.size(), 1u);
    return processes.empty() ? TracedProcess{} : processes.front();
  }

  std::string scratch;
  std::string folder;  // where traces go: `scratch` unless a test says otherwise
};

TEST_F(TraceWriterTest, NothingIsRecordedUnlessAskedFor) {
  EXPECT_EQ(TraceWriter::active(), nullptr);
  EXPECT_TRUE(readTraces(folder).empty());
}

TEST_F(TraceWriterTest, SaysWhichProcessItWas) {
  TraceWriter::start(folder, room);
  const TracedProcess process = read();
  EXPECT_EQ(process.number, static_cast<uint32_t>(getpid()));
  EXPECT_NE(process.command_line.find("profiling_test"), std::string::npos);
  EXPECT_GT(process.began, 0u);
  EXPECT_LE(process.began, now());
  EXPECT_TRUE(process.commands.empty());
}

TEST_F(TraceWriterTest, MakesTheFolder) {
  folder += "/new";
  TraceWriter::start(folder, room);
  writeCommand(1, 1);
  EXPECT_EQ(read().commands.size(), 1u);
}

TEST_F(TraceWriterTest, AFolderThatCannotBeIsAnError) {
  EXPECT_THROW(TraceWriter::start("/proc/absent", room), std::system_error);
  EXPECT_EQ(TraceWriter::active(), nullptr);
}

// More than a chunk of each, so some get several; all arrive, each thread's in their order.
TEST_F(TraceWriterTest, ThreadsWriteSideBySide) {
  constexpr uint64_t threads = 4, each = 2000;
  TraceWriter::start(folder, room);
  std::vector<std::thread> writers;
  for (uint64_t t = 0; t < threads; ++t)
    writers.emplace_back([=] {
      for (uint64_t i = 0; i < each; ++i) writeCommand(t * each + i + 1, t * each + i + 1);
    });
  for (std::thread& writer : writers) writer.join();
  const TracedProcess process = read();
  ASSERT_EQ(process.commands.size(), threads * each);
  EXPECT_EQ(process.dropped, 0u);
  EXPECT_EQ(process.threads.size(), threads);
  for (uint64_t i = 0; i < threads * each; ++i) {
    EXPECT_EQ(process.commands[i].record.command, i + 1);
    EXPECT_EQ(process.commands[i].record.bytes, 3 * (i + 1));
    EXPECT_EQ(process.commands[i].name, "command " + std::to_string(i + 1));
  }
}

TEST_F(TraceWriterTest, WhatThereIsNoRoomForIsCounted) {
  TraceWriter::start(folder, 1);  // the least that there is: 4 MiB
  constexpr uint64_t count = 40000;
  for (uint64_t i = 1; i <= count; ++i) writeCommand(i, i);
  const TracedProcess process = read();
  EXPECT_GT(process.dropped, 0u);
  EXPECT_GT(process.commands.size(), 0u);
  EXPECT_EQ(process.commands.size() + process.dropped, count);
}

TEST_F(TraceWriterTest, LongNamesAreCutOff) {
  TraceWriter::start(folder, room);
  TraceWriter::active()->write(CommandRecord{}, std::string(5 * most_text, 'x'));
  TraceWriter::active()->write(CommandRecord{}, "");
  const TracedProcess process = read();
  ASSERT_EQ(process.commands.size(), 2u);
  EXPECT_EQ(process.commands[0].name, std::string(most_text, 'x'));
  EXPECT_EQ(process.commands[1].name, "");
}

// As after a crash: nobody has closed anything.
TEST_F(TraceWriterTest, AProcessThatDiesLeavesWhatItDid) {
  const pid_t child = fork();
  if (child == 0) {
    TraceWriter::start(folder, room);
    writeCommand(1, 1);
    kill(getpid(), SIGKILL);
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const TracedProcess process = read();
  EXPECT_EQ(process.number, static_cast<uint32_t>(child));
  EXPECT_EQ(process.commands.size(), 1u);
}

TEST_F(TraceWriterTest, AForkedChildLeavesNothingUntilItUsesWeft) {
  TraceWriter::start(folder, room);
  TraceWriter::resume();  // nobody's child
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_GT(child, 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(readTraces(folder).size(), 1u);
}

TEST_F(TraceWriterTest, AForkedChildHasAFileOfItsOwn) {
  TraceWriter::start(folder, room);
  writeCommand(1, 1);
  const pid_t child = fork();
  if (child == 0) {
    if (TraceWriter::active()) _exit(1);
    TraceWriter::resume();
    TraceWriter::resume();
    writeCommand(2, 2);
    writeCommand(3, 3);
    _exit(0);
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  writeCommand(4, 4);
  const std::vector<TracedProcess> processes = readTraces(folder);
  ASSERT_EQ(processes.size(), 2u);
  ASSERT_EQ(processes[0].commands.size(), 2u);
  EXPECT_EQ(processes[0].commands[1].record.command, 4u);
  ASSERT_EQ(processes[1].commands.size(), 2u);
  EXPECT_EQ(processes[1].commands[0].record.command, 2u);
  EXPECT_EQ(processes[1].number, static_cast<uint32_t>(child));
}

// Addresses come again: what is meant is who was there last.
TEST_F(TraceWriterTest, AddressesAreToldApartByTime) {
  TraceWriter::start(folder, room);
  TraceWriter& writer = *TraceWriter::active();
  const auto device = [&](uint64_t when, const char* name) {
    DeviceRecord record;
    record.device = 7;
    record.when = when;
    writer.write(record, name);
  };
  const auto command = [&](uint64_t address, uint64_t queued) {
    CommandRecord record;
    record.command = address;
    record.device = 7;
    record.queued = queued;
    writer.write(record);
  };
  device(10, "first");
  device(50, "second");
  command(100, 20);
  command(100, 60);
  command(200, 30);
  command(300, 70);
  for (const auto& [who, when] : {std::pair{200, 31}, {300, 71}}) {
    DependencyRecord record;
    record.command = who;
    record.other = 100;
    record.when = when;
    writer.write(record);
  }
  const TracedProcess process = read();
  ASSERT_EQ(process.commands.size(), 4u);  // 20, 30, 60, 70
  ASSERT_EQ(process.devices.size(), 2u);
  EXPECT_EQ(process.devices[process.commands[0].device].name, "first");
  EXPECT_EQ(process.devices[process.commands[3].device].name, "second");
  EXPECT_EQ(process.commands[1].dependencies, std::vector<size_t>{0});
  EXPECT_EQ(process.commands[3].dependencies, std::vector<size_t>{2});
}

TEST_F(TraceWriterTest, OtherFilesAreRefused) {
  const std::string path = folder + "/1" + file_suffix;
  EXPECT_THROW(readTrace(path), std::runtime_error);  // absent
  std::ofstream(path) << "short";
  EXPECT_THROW(readTrace(path), std::runtime_error);
  std::ofstream(path) << std::string(2 * chunk_bytes, 'x');
  EXPECT_THROW(readTrace(path), std::runtime_error);
  EXPECT_THROW(readTraces(folder + "/absent"), std::runtime_error);
}

// Whatever stands in it, reading it ends, and what came before the damage is there.
TEST_F(TraceWriterTest, DamagedChunksEndEarly) {
  TraceWriter::start(folder, room);
  for (uint64_t i = 1; i <= 100; ++i) writeCommand(i, i);
  const std::string path = TraceWriter::active()->file();
  TraceWriter::stop();
  for (const uint32_t size : {1u, 15u, ~0u, uint32_t{2 * chunk_bytes}}) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const std::streamoff record = sizeof(CommandRecord) + 16;  // with its name, rounded up
    file.seekp(chunk_bytes + sizeof(ChunkHeader) + 50 * record);
    file.write(reinterpret_cast<const char*>(&size), sizeof size);
    file.close();
    EXPECT_EQ(read().commands.size(), 50u) << size;
  }
}

}  // namespace
}  // namespace weft::profiling
