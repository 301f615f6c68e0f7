// What a recorded process did with its time, worked out from its trace. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiling/trace_reader.h"

namespace weft::profiling {

// Times in ns.

// Why a device stood still between two commands: what the later one of them waited for.
struct IdleTime {
  uint64_t not_enqueued = 0;  // the application had not enqueued it
  uint64_t dependencies = 0;  // commands that it depends on, on other devices or of the host
  uint64_t transfers = 0;     // bytes that were on their way to it
  uint64_t starting = 0;      // nothing else: what it takes to start it

  uint64_t total() const { return not_enqueued + dependencies + transfers + starting; }
};

struct DeviceSummary {
  size_t device = nobody;
  uint64_t commands = 0;  // that ran here, transfers not counted
  uint64_t failed = 0;
  uint64_t busy = 0;     // at least one was running
  uint64_t running = 0;  // the sum over all of them: more than `busy` where they overlap
  uint64_t bytes_in = 0, bytes_out = 0;  // by transfers
  IdleTime idle;                         // up to its last command
  uint64_t done_before_end = 0;          // of the process' last command
};

struct KernelSummary {
  std::string name;
  size_t device = nobody;
  uint64_t count = 0, total = 0, least = 0, most = 0;
  uint64_t groups = 0;
};

// From one memory to another; nobody: the host's.
struct LinkSummary {
  size_t source = nobody, target = nobody;
  uint64_t count = 0, bytes = 0;
  uint64_t busy = 0;  // at least one transfer was running
};

struct CallSummary {
  std::string name;
  uint64_t count = 0, total = 0, most = 0, failed = 0;
};

// Over all commands of queues that ran.
struct LifeSummary {
  uint64_t commands = 0;
  uint64_t waiting = 0;    // from its enqueue to its device's stream
  uint64_t in_stream = 0;  // until it began
  uint64_t running = 0;
  uint64_t telling = 0;  // from its end until its event was complete
};

struct TraceSummary {
  uint64_t begin = 0, end = 0;         // from the first enqueue to the last end
  std::vector<DeviceSummary> devices;  // all, in the process' order
  std::vector<KernelSummary> kernels;  // longest in total first
  std::vector<LinkSummary> links;
  std::vector<CallSummary> calls;  // longest in total first
  LifeSummary life;
  uint64_t divided = 0;  // launches that ran in parts
  uint64_t parts = 0;
};

TraceSummary summarize(const TracedProcess& process);

// Commands that ran on the device themselves and took time, transfers or the others; by when they
// began.
std::vector<size_t> executionsOn(const TracedProcess& process, size_t device, bool transfers);

// The first row in which each of these commands overlaps none before it.
std::vector<unsigned> rowsOf(const TracedProcess& process, const std::vector<size_t>& executions);

}  // namespace weft::profiling
