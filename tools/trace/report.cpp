#include "tools/trace/report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "profiling/trace_analysis.h"
#include "tools/trace/names.h"
#include "tools/trace/report_page.h"

namespace weft::tools::trace {
namespace {

using namespace profiling;
using Json = nlohmann::ordered_json;

// What a browser still draws at once. Of more the longest are kept; the tables count all.
constexpr size_t most_spans = 60000;
constexpr std::string_view data_mark = "/*DATA*/";

class ProcessReport {
 public:
  explicit ProcessReport(const TracedProcess& process)
      : process_(process), summary_(summarize(process)) {}

  Json make() {
    Json lanes = makeLanes();
    return {{"process", process_.number},
            {"command", process_.command_line},
            {"commands", process_.commands.size()},
            {"dropped", process_.dropped},
            {"divided", summary_.divided},
            {"parts", summary_.parts},
            {"span", summary_.end - summary_.begin},
            {"life", makeLife()},
            {"devices", makeDevices()},
            {"kernels", makeKernels()},
            {"links", makeLinks()},
            {"calls", makeCalls()},
            {"lanes", std::move(lanes)},
            {"left_out", left_out_},
            {"names", names_}};
  }

 private:
  Json makeLife() const {
    const LifeSummary& life = summary_.life;
    return {{"commands", life.commands},
            {"waiting", life.waiting},
            {"in_stream", life.in_stream},
            {"running", life.running},
            {"telling", life.telling}};
  }

  Json makeDevices() const {
    Json list = Json::array();
    for (const DeviceSummary& device : summary_.devices) {
      if (device.commands == 0) continue;
      list.push_back({{"name", deviceName(process_, device.device)},
                      {"commands", device.commands},
                      {"failed", device.failed},
                      {"busy", device.busy},
                      {"running", device.running},
                      {"in", device.bytes_in},
                      {"out", device.bytes_out},
                      {"not_enqueued", device.idle.not_enqueued},
                      {"dependencies", device.idle.dependencies},
                      {"transfers", device.idle.transfers},
                      {"starting", device.idle.starting},
                      {"done", device.done_before_end}});
    }
    return list;
  }

  Json makeKernels() const {
    Json list = Json::array();
    for (const KernelSummary& kernel : summary_.kernels)
      list.push_back({kernel.name, deviceName(process_, kernel.device), kernel.count, kernel.total,
                      kernel.least, kernel.most});
    return list;
  }
  Json makeLinks() const {
    Json list = Json::array();
    for (const LinkSummary& link : summary_.links)
      list.push_back({deviceName(process_, link.source), deviceName(process_, link.target),
                      link.count, link.bytes, link.busy});
    return list;
  }
  Json makeCalls() const {
    Json list = Json::array();
    for (const CallSummary& call : summary_.calls)
      list.push_back({call.name, call.count, call.total, call.most, call.failed});
    return list;
  }

  // --- the timeline: rows of [begin, duration, name, note] ---

  Json makeLanes() {
    findLeast();
    Json lanes = Json::array();
    for (size_t device = 0; device < process_.devices.size(); ++device) {
      addLanes(lanes, device, false, "");
      addLanes(lanes, device, true, " transfers");
    }
    for (size_t thread = 0; thread < process_.threads.size(); ++thread) addThread(lanes, thread);
    return lanes;
  }

  // The shortest that is drawn.
  void findLeast() {
    std::vector<uint64_t> durations;
    for (const TracedCommand& command : process_.commands)
      if (!command.is(profiling::trace::flag_has_parts)) durations.push_back(command.duration());
    for (const TracedCall& call : process_.calls)
      durations.push_back(call.record.ended - call.record.began);
    if (durations.size() <= most_spans) return;
    const auto nth = durations.begin() + most_spans;
    std::ranges::nth_element(durations, nth, std::greater<>());
    least_ = *nth + 1;
  }

  void addLanes(Json& lanes, size_t device, bool transfers, const char* kind) {
    const std::vector<size_t> executions = executionsOn(process_, device, transfers);
    const std::vector<unsigned> rows = rowsOf(process_, executions);
    if (rows.empty()) return;
    const std::string name = deviceName(process_, device) + kind;
    std::vector<Json> spans(*std::ranges::max_element(rows) + 1, Json::array());
    for (size_t i = 0; i < executions.size(); ++i) {
      const TracedCommand& command = process_.commands[executions[i]];
      add(spans[rows[i]], command.record.started, command.duration(), command.name,
          noteOf(command));
    }
    for (Json& row : spans)
      if (!row.empty()) lanes.push_back({{"name", name}, {"spans", std::move(row)}});
  }

  void addThread(Json& lanes, size_t thread) {
    Json spans = Json::array();
    for (const TracedCall& call : process_.calls)
      if (call.thread == thread && call.record.ended > summary_.begin)
        add(spans, call.record.began, call.record.ended - call.record.began, call.name,
            call.record.code < 0 ? "failed with " + std::to_string(call.record.code) : "");
    if (!spans.empty())
      lanes.push_back(
          {{"name", "calls by " + process_.threads[thread].name}, {"spans", std::move(spans)}});
  }

  void add(Json& row, uint64_t begin, uint64_t time, const std::string& name,
           const std::string& note) {
    if (time < least_) {
      ++left_out_;
      return;
    }
    // A call may have begun before the first command.
    row.push_back(
        {static_cast<int64_t>(begin - summary_.begin), time, indexOf(name), indexOf(note)});
  }

  std::string noteOf(const TracedCommand& command) const {
    const profiling::trace::CommandRecord& record = command.record;
    std::string note = range(record);
    const auto append = [&](const std::string& text) {
      note.append(note.empty() ? "" : "; ").append(text);
    };
    if (record.bytes > 0) append(size(record.bytes));
    if (command.is(profiling::trace::flag_transfer))
      append("from " + deviceName(process_, command.source) + " to " +
             deviceName(process_, command.target));
    if (command.queue != nobody) append("queue " + std::to_string(command.queue));
    if (record.status < 0) append("failed with " + std::to_string(record.status));
    return note;
  }

  size_t indexOf(const std::string& text) {
    const auto [found, is_new] = indices_.try_emplace(text, names_.size());
    if (is_new) names_.push_back(text);
    return found->second;
  }

  const TracedProcess& process_;
  const TraceSummary summary_;
  uint64_t least_ = 0;
  size_t left_out_ = 0;
  std::vector<std::string> names_;
  std::map<std::string, size_t> indices_;
};

}  // namespace

void writeReport(std::ostream& out, const std::vector<TracedProcess>& processes) {
  Json data = Json::array();
  for (const TracedProcess& process : processes) data.push_back(ProcessReport(process).make());
  std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  // A name may say "</script>".
  for (size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.replace(at, 2, "<\\/");
  const std::string_view page = report_page;
  const size_t mark = page.find(data_mark);
  out << page.substr(0, mark) << text << page.substr(mark + data_mark.size());
}

}  // namespace weft::tools::trace
