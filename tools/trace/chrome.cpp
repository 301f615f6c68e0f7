#include "tools/trace/chrome.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "profiling/trace_analysis.h"
#include "tools/trace/names.h"

namespace weft::tools::trace {
namespace {

using namespace profiling;
using Json = nlohmann::ordered_json;

// Rows of a device's transfers stand below those of its commands.
constexpr unsigned first_transfer_row = 1000;

// What each device and the host are in the trace: a "process" with "threads".
class ChromeTrace {
 public:
  explicit ChromeTrace(std::ostream& out) : out_(out) { out_ << "{\"traceEvents\":[\n"; }
  void finish() { out_ << "\n],\"displayTimeUnit\":\"ns\"}\n"; }

  void add(const TracedProcess& process, uint64_t origin, size_t of_processes) {
    process_ = &process;
    origin_ = origin;
    suffix_ = of_processes > 1 ? " (process " + std::to_string(process.number) + ")" : "";
    places_.assign(process.commands.size(), {});
    for (size_t device = 0; device < process.devices.size(); ++device) addDevice(device);
    addHost();
    addFlows();
  }

 private:
  struct Place {
    unsigned group = 0;  // 0: nowhere
    unsigned row = 0;
  };

  double microseconds(uint64_t time) const {
    return static_cast<double>(static_cast<int64_t>(time - origin_)) / 1000.0;
  }

  void put(const Json& event) {
    out_ << (std::exchange(first_, false) ? "" : ",\n")
         << event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  void name(const char* what, unsigned group, unsigned row, const std::string& name) {
    put({{"ph", "M"}, {"name", what}, {"pid", group}, {"tid", row}, {"args", {{"name", name}}}});
  }

  void addDevice(size_t device) {
    const unsigned group = ++groups_;
    const auto add = [&](bool transfers, unsigned first_row, const char* rows_name) {
      const std::vector<size_t> executions = executionsOn(*process_, device, transfers);
      const std::vector<unsigned> rows = rowsOf(*process_, executions);
      for (size_t i = 0; i < executions.size(); ++i)
        addExecution(executions[i], {group, first_row + rows[i]});
      const unsigned used = rows.empty() ? 0 : *std::ranges::max_element(rows) + 1;
      for (unsigned row = 0; row < used; ++row)
        name("thread_name", group, first_row + row, rows_name);
      return used > 0;
    };
    bool any = add(false, 1, "commands");
    any |= add(true, first_transfer_row, "transfers");
    any |= addWholes(device, group);
    if (!any) return;
    name("process_name", group, 0, deviceName(*process_, device) + suffix_);
    addUnderWay(device, group);
  }

  // Of unified devices, and of command buffers: what others ran for them.
  bool addWholes(size_t device, unsigned group) {
    std::vector<size_t> wholes;
    for (size_t i = 0; i < process_->commands.size(); ++i) {
      const TracedCommand& command = process_->commands[i];
      if (command.device == device && command.is(profiling::trace::flag_has_parts) &&
          command.duration() > 0)
        wholes.push_back(i);
    }
    std::ranges::stable_sort(wholes, {},
                             [&](size_t i) { return process_->commands[i].record.started; });
    const std::vector<unsigned> rows = rowsOf(*process_, wholes);
    for (size_t i = 0; i < wholes.size(); ++i) {
      addExecution(wholes[i], {group, 2 * first_transfer_row + rows[i]});
      name("thread_name", group, 2 * first_transfer_row + rows[i], "made of parts");
    }
    return !wholes.empty();
  }

  void addExecution(size_t index, Place place) {
    const TracedCommand& command = process_->commands[index];
    const profiling::trace::CommandRecord& record = command.record;
    places_[index] = place;
    Json args{{"queued us before", microseconds(record.started) - microseconds(record.queued)}};
    if (record.submitted != 0)
      args["submitted us before"] = microseconds(record.started) - microseconds(record.submitted);
    if (const std::string sizes = range(record); !sizes.empty()) {
      args["range"] = sizes;
      args["groups"] = record.groups;
    }
    if (record.bytes > 0) args["bytes"] = record.bytes;
    if (command.is(profiling::trace::flag_transfer)) {
      args["from"] = deviceName(*process_, command.source);
      args["to"] = deviceName(*process_, command.target);
    }
    if (command.queue != nobody) args["queue"] = command.queue;
    if (record.status < 0) args["failed"] = record.status;
    put({{"ph", "X"},
         {"name", command.name},
         {"cat", command.is(profiling::trace::flag_transfer) ? "transfer" : "command"},
         {"pid", place.group},
         {"tid", place.row},
         {"ts", microseconds(record.started)},
         {"dur", static_cast<double>(command.duration()) / 1000.0},
         {"args", std::move(args)}});
  }

  // How many of its commands are enqueued and have not ended.
  void addUnderWay(size_t device, unsigned group) {
    std::vector<std::pair<uint64_t, int>> changes;
    for (const TracedCommand& command : process_->commands) {
      if (command.device != device || command.queue == nobody) continue;
      changes.emplace_back(command.record.queued, 1);
      changes.emplace_back(command.record.completed, -1);
    }
    std::ranges::sort(changes);
    int64_t count = 0;
    for (const auto& [time, change] : changes) {
      count += change;
      put({{"ph", "C"},
           {"name", "commands enqueued"},
           {"pid", group},
           {"ts", microseconds(time)},
           {"args", {{"commands", count}}}});
    }
  }

  void addHost() {
    if (process_->calls.empty()) return;
    const unsigned group = ++groups_;
    name("process_name", group, 0, "host threads" + suffix_);
    for (const TracedThread& thread : process_->threads)
      name("thread_name", group, thread.number, thread.name);
    for (const TracedCall& call : process_->calls) {
      Json args = Json::object();
      if (call.record.code < 0) args["failed"] = call.record.code;
      put({{"ph", "X"},
           {"name", call.name},
           {"cat", "call"},
           {"pid", group},
           {"tid", process_->threads[call.thread].number},
           {"ts", microseconds(call.record.began)},
           {"dur", static_cast<double>(call.record.ended - call.record.began) / 1000.0},
           {"args", std::move(args)}});
    }
  }

  // An arrow from the end of a command to the begin of each that depends on it.
  void addFlows() {
    for (size_t i = 0; i < process_->commands.size(); ++i)
      for (const size_t other : process_->commands[i].dependencies) addFlow(other, i);
  }
  void addFlow(size_t from, size_t to) {
    if (places_[from].group == 0 || places_[to].group == 0) return;
    const uint64_t id = ++flows_;
    const auto end = [&](const char* phase, const Place& place, uint64_t time) {
      Json event{
          {"ph", phase},        {"name", "dependency"}, {"cat", "dependency"},     {"id", id},
          {"pid", place.group}, {"tid", place.row},     {"ts", microseconds(time)}};
      if (*phase == 'f') event["bp"] = "e";
      put(event);
    };
    // Within the slice, or it would not belong to it.
    end("s", places_[from], process_->commands[from].record.ended - 1);
    end("f", places_[to], process_->commands[to].record.started);
  }

  std::ostream& out_;
  bool first_ = true;
  unsigned groups_ = 0;
  uint64_t flows_ = 0;
  const TracedProcess* process_ = nullptr;
  uint64_t origin_ = 0;
  std::string suffix_;
  std::vector<Place> places_;
};

}  // namespace

void writeChromeTrace(std::ostream& out, const std::vector<TracedProcess>& processes) {
  ChromeTrace trace(out);
  // Times are counted from the first of all, so that they stay exact and none is negative: the call
  // that began to record began before that.
  uint64_t origin = ~uint64_t{0};
  for (const TracedProcess& process : processes) {
    origin = std::min(origin, process.began);
    if (!process.calls.empty()) origin = std::min(origin, process.calls.front().record.began);
  }
  for (const TracedProcess& process : processes) trace.add(process, origin, processes.size());
  trace.finish();
}

}  // namespace weft::tools::trace
