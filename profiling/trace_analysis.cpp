#include "profiling/trace_analysis.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

namespace weft::profiling {
namespace {

using namespace trace;

// cl_command_type, of which this folder knows no more.
constexpr uint32_t command_ndrange_kernel = 0x11F0, command_task = 0x11F1;

bool isKernel(const TracedCommand& command) {
  return command.record.type == command_ndrange_kernel || command.record.type == command_task;
}

// Time in which at least one of some intervals was under way, given in the order of their begins.
class Union {
 public:
  explicit Union(uint64_t begin) : end_(begin) {}

  // How long there was none before this one.
  uint64_t add(uint64_t begin, uint64_t end) {
    const uint64_t gap = begin > end_ ? begin - end_ : 0;
    const uint64_t from = std::max(begin, end_);
    if (end > from) length_ += end - from;
    end_ = std::max(end_, end);
    return gap;
  }
  uint64_t length() const { return length_; }
  uint64_t end() const { return end_; }

 private:
  uint64_t end_;
  uint64_t length_ = 0;
};

// Cuts [begin, end) at `at`, gives what is before it, and leaves the rest.
uint64_t takeUntil(uint64_t& begin, uint64_t end, uint64_t at) {
  const uint64_t cut = std::clamp(at, begin, end);
  return cut - std::exchange(begin, cut);
}

// The device stood still from `begin` until `next` began.
void explain(const TracedProcess& process, const TracedCommand& next, uint64_t begin,
             IdleTime& idle) {
  uint64_t dependencies_end = 0, transfers_end = 0;
  // A part waits for what its launch does.
  const auto look = [&](const TracedCommand& command) {
    for (const size_t i : command.dependencies) {
      const TracedCommand& other = process.commands[i];
      if (other.is(flag_transfer))
        transfers_end = std::max(transfers_end, other.record.completed);
      else
        dependencies_end = std::max(dependencies_end, other.record.completed);
    }
  };
  look(next);
  if (next.parent != nobody) look(process.commands[next.parent]);
  const uint64_t queued =
      next.parent != nobody ? process.commands[next.parent].record.queued : next.record.queued;
  const uint64_t end = next.record.started;
  idle.not_enqueued += takeUntil(begin, end, queued);
  idle.dependencies += takeUntil(begin, end, dependencies_end);
  idle.transfers += takeUntil(begin, end, transfers_end);
  idle.starting += end - begin;
}

DeviceSummary summarizeDevice(const TracedProcess& process, size_t device, uint64_t begin,
                              uint64_t end) {
  DeviceSummary summary;
  summary.device = device;
  Union busy(begin);
  for (const size_t i : executionsOn(process, device, false)) {
    const TracedCommand& command = process.commands[i];
    const CommandRecord& record = command.record;
    ++summary.commands;
    summary.running += command.duration();
    const uint64_t still_since = busy.end();
    if (busy.add(record.started, record.ended) > 0)
      explain(process, command, still_since, summary.idle);
  }
  summary.busy = busy.length();
  if (summary.commands > 0 && end > busy.end()) summary.done_before_end = end - busy.end();
  for (const TracedCommand& command : process.commands) {
    if (command.device == device && command.record.status < 0) ++summary.failed;
    if (!command.is(flag_transfer) || command.record.status < 0) continue;
    if (command.source == device) summary.bytes_out += command.record.bytes;
    if (command.target == device) summary.bytes_in += command.record.bytes;
  }
  return summary;
}

template <class Summary>
void sortByTotal(std::vector<Summary>& list) {
  std::ranges::stable_sort(list, std::greater<>(), &Summary::total);
}

std::vector<KernelSummary> summarizeKernels(const TracedProcess& process) {
  std::map<std::pair<std::string_view, size_t>, KernelSummary> found;
  for (const TracedCommand& command : process.commands) {
    if (!isKernel(command) || !command.ran() || command.is(flag_has_parts)) continue;
    KernelSummary& kernel = found[{command.name, command.device}];
    const uint64_t time = command.duration();
    kernel.least = kernel.count == 0 ? time : std::min(kernel.least, time);
    kernel.most = std::max(kernel.most, time);
    kernel.total += time;
    kernel.groups += command.record.groups;
    ++kernel.count;
  }
  std::vector<KernelSummary> list;
  for (auto& [key, kernel] : found) {
    kernel.name = key.first;
    kernel.device = key.second;
    list.push_back(std::move(kernel));
  }
  sortByTotal(list);
  return list;
}

std::vector<LinkSummary> summarizeLinks(const TracedProcess& process) {
  std::map<std::pair<size_t, size_t>, std::vector<const CommandRecord*>> found;
  for (const TracedCommand& command : process.commands)
    if (command.is(flag_transfer) && command.ran() && command.record.status >= 0)
      found[{command.source, command.target}].push_back(&command.record);
  std::vector<LinkSummary> list;
  for (auto& [ends, records] : found) {
    std::ranges::sort(records, {}, &CommandRecord::started);
    LinkSummary link{ends.first, ends.second, records.size()};
    Union busy(records.front()->started);
    for (const CommandRecord* record : records) {
      link.bytes += record->bytes;
      busy.add(record->started, record->ended);
    }
    link.busy = busy.length();
    list.push_back(link);
  }
  return list;
}

std::vector<CallSummary> summarizeCalls(const TracedProcess& process) {
  std::map<std::string_view, CallSummary> found;
  for (const TracedCall& call : process.calls) {
    CallSummary& summary = found[call.name];
    const uint64_t time = call.record.ended - call.record.began;
    ++summary.count;
    summary.total += time;
    summary.most = std::max(summary.most, time);
    if (call.record.code < 0) ++summary.failed;
  }
  std::vector<CallSummary> list;
  for (auto& [name, summary] : found) {
    summary.name = name;
    list.push_back(std::move(summary));
  }
  sortByTotal(list);
  return list;
}

uint64_t between(uint64_t from, uint64_t to) { return from != 0 && to > from ? to - from : 0; }

void summarizeLives(const TracedProcess& process, TraceSummary& summary) {
  LifeSummary& life = summary.life;
  for (const TracedCommand& command : process.commands) {
    const CommandRecord& record = command.record;
    if (command.queue == nobody || command.parent != nobody || !command.ran()) continue;
    ++life.commands;
    life.waiting += between(record.queued, record.submitted);
    life.in_stream += between(record.submitted, record.started);
    life.running += command.duration();
    life.telling += between(record.ended, record.completed);
  }
}

}  // namespace

std::vector<size_t> executionsOn(const TracedProcess& process, size_t device, bool transfers) {
  std::vector<size_t> found;
  for (size_t i = 0; i < process.commands.size(); ++i) {
    const TracedCommand& command = process.commands[i];
    if (command.device == device && command.is(flag_transfer) == transfers &&
        !command.is(flag_has_parts) && command.duration() > 0)
      found.push_back(i);
  }
  std::ranges::stable_sort(found, {}, [&](size_t i) { return process.commands[i].record.started; });
  return found;
}

std::vector<unsigned> rowsOf(const TracedProcess& process, const std::vector<size_t>& executions) {
  std::vector<unsigned> rows;
  using Running = std::pair<uint64_t, unsigned>;  // until when, in which row
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free;
  unsigned used = 0;
  for (const size_t i : executions) {
    const CommandRecord& record = process.commands[i].record;
    for (; !running.empty() && running.top().first <= record.started; running.pop())
      free.push(running.top().second);
    unsigned row = used;
    if (free.empty()) {
      ++used;
    } else {
      row = free.top();
      free.pop();
    }
    rows.push_back(row);
    running.emplace(record.ended, row);
  }
  return rows;
}

TraceSummary summarize(const TracedProcess& process) {
  TraceSummary summary;
  if (!process.commands.empty()) summary.begin = process.commands.front().record.queued;
  std::vector<bool> divided(process.commands.size());
  for (const TracedCommand& command : process.commands) {
    summary.end = std::max(summary.end, command.record.completed);
    if (command.parent == nobody || !isKernel(process.commands[command.parent])) continue;
    ++summary.parts;
    divided[command.parent] = true;
  }
  summary.divided = std::ranges::count(divided, true);
  for (size_t device = 0; device < process.devices.size(); ++device)
    summary.devices.push_back(summarizeDevice(process, device, summary.begin, summary.end));
  summary.kernels = summarizeKernels(process);
  summary.links = summarizeLinks(process);
  summary.calls = summarizeCalls(process);
  summarizeLives(process, summary);
  return summary;
}

}  // namespace weft::profiling
