// Reads what trace_writer.h wrote, and puts together what belongs together.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "profiling/trace_records.h"

namespace weft::profiling {

// Indices into the vectors of TracedProcess.
inline constexpr size_t nobody = std::numeric_limits<size_t>::max();

struct TracedDevice {
  trace::DeviceRecord record;
  std::string name;
};

struct TracedQueue {
  trace::QueueRecord record;
  size_t device = nobody;
};

struct TracedCommand {
  trace::CommandRecord record;
  std::string name;
  size_t device = nobody;
  size_t queue = nobody;
  size_t parent = nobody;
  size_t source = nobody, target = nobody;  // of transfers; nobody: the host
  std::vector<size_t> dependencies;         // commands

  bool is(uint32_t flag) const { return record.flags & flag; }
  // Has it run on a device?
  bool ran() const { return record.started != 0 && record.ended >= record.started; }
  uint64_t duration() const { return ran() ? record.ended - record.started : 0; }
};

struct TracedCall {
  trace::CallRecord record;
  std::string name;
  size_t thread = nobody;
};

struct TracedThread {
  uint32_t number = 0;
  std::string name;
};

// What one process did. Commands are in the order in which they were enqueued.
struct TracedProcess {
  uint32_t number = 0;
  std::string command_line;
  uint64_t began = 0, began_realtime = 0;  // ns, trace::FileHeader
  uint64_t dropped = 0;                    // records that there was no room for
  std::vector<TracedDevice> devices;
  std::vector<TracedQueue> queues;
  std::vector<TracedCommand> commands;
  std::vector<TracedCall> calls;
  std::vector<TracedThread> threads;
};

// Throws std::runtime_error when the file cannot be read or is none of this version.
TracedProcess readTrace(const std::string& path);
// The files of a folder in which processes recorded, by the time when they began.
std::vector<TracedProcess> readTraces(const std::string& folder);

}  // namespace weft::profiling
