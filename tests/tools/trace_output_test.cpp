// The files that weft trace writes, for a recording made by hand.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/trace/chrome.h"
#include "tools/trace/names.h"
#include "tools/trace/report.h"

namespace weft::tools::trace {
namespace {

using namespace profiling;
using Json = nlohmann::json;

constexpr uint32_t kernel_type = 0x11F0;

// Two kernels side by side on one device, bytes that move, and a kernel on the other that waits.
TracedProcess example() {
  TracedProcess process;
  process.number = 42;
  process.command_line = "program </script>";
  process.began = 1000;
  process.devices.resize(2);
  process.devices[0].name = "one \"fast\" device";
  process.devices[1].name = "the other";
  process.threads.push_back({77, "main"});
  const auto add = [&](const char* name, size_t device, uint64_t queued, uint64_t began,
                       uint64_t ended) -> TracedCommand& {
    TracedCommand& command = process.commands.emplace_back();
    command.name = name;
    command.device = device;
    command.queue = 0;
    command.record.type = kernel_type;
    command.record.queued = command.record.submitted = queued;
    command.record.started = began;
    command.record.ended = command.record.completed = ended;
    return command;
  };
  process.queues.resize(1);
  add("first", 0, 2000, 3000, 5000);
  add("second", 0, 2100, 4000, 6000);
  TracedCommand& move = add("transfer", 1, 2200, 6100, 6500);
  move.queue = nobody;
  move.source = 0;
  move.target = 1;
  move.record.bytes = 4096;
  move.record.flags = profiling::trace::flag_transfer;
  move.dependencies = {1};
  TracedCommand& third = add("third", 1, 2300, 6600, 7000);
  third.dependencies = {0, 2};
  third.record.global = {64, 8, 1};
  third.record.local = {16, 1, 1};
  third.record.groups = 32;
  TracedCall& call = process.calls.emplace_back();
  call.name = "clFinish";
  call.thread = 0;
  call.record.began = 900;  // before the recording itself
  call.record.ended = 7100;
  call.record.code = -5;
  return process;
}

Json chromeTrace() {
  std::ostringstream out;
  writeChromeTrace(out, {example()});
  return Json::parse(out.str()).at("traceEvents");
}

Json eventNamed(const Json& events, const std::string& name) {
  for (const Json& event : events)
    if (event.at("ph") == "X" && event.at("name") == name) return event;
  ADD_FAILURE() << name;
  return {};
}

TEST(ChromeTrace, SlicesOfARowOverlapNothing) {
  std::map<std::pair<int, int>, double> ends;
  size_t slices = 0;
  for (const Json& event : chromeTrace()) {
    if (event.at("ph") != "X") continue;
    ++slices;
    const double begin = event.at("ts"), length = event.at("dur");
    EXPECT_GE(begin, 0.0);
    double& end = ends[{event.at("pid"), event.at("tid")}];
    EXPECT_LE(end, begin) << event;
    end = begin + length;
  }
  EXPECT_EQ(slices, 5u);
}

TEST(ChromeTrace, SaysWhatACommandDid) {
  const Json events = chromeTrace();
  const Json third = eventNamed(events, "third");
  EXPECT_DOUBLE_EQ(third.at("ts"), 5.7);  // us from the first call on
  EXPECT_DOUBLE_EQ(third.at("dur"), 0.4);
  EXPECT_EQ(third.at("args").at("range"), "64 x 8 in groups of 16 x 1");
  EXPECT_DOUBLE_EQ(third.at("args").at("queued us before"), 4.3);
  const Json move = eventNamed(events, "transfer");
  EXPECT_EQ(move.at("args").at("bytes"), 4096);
  EXPECT_EQ(move.at("args").at("from"), "0: one \"fast\" device");
  EXPECT_EQ(move.at("args").at("to"), "1: the other");
  EXPECT_EQ(eventNamed(events, "clFinish").at("args").at("failed"), -5);
}

// Each arrow begins in a slice and ends in one, or viewers drop it.
TEST(ChromeTrace, ArrowsBeginAndEndInSlices) {
  const Json events = chromeTrace();
  const auto in_a_slice = [&](const Json& flow) {
    for (const Json& slice : events)
      if (slice.at("ph") == "X" && slice.at("pid") == flow.at("pid") &&
          slice.at("tid") == flow.at("tid") && double(flow.at("ts")) >= double(slice.at("ts")) &&
          double(flow.at("ts")) <= double(slice.at("ts")) + double(slice.at("dur")))
        return true;
    return false;
  };
  std::map<int, int> ends_of;
  for (const Json& event : events)
    if (event.at("ph") == "s" || event.at("ph") == "f") {
      EXPECT_TRUE(in_a_slice(event)) << event;
      ++ends_of[event.at("id")];
    }
  EXPECT_EQ(ends_of.size(), 3u);
  for (const auto& [id, ends] : ends_of) EXPECT_EQ(ends, 2);
}

TEST(ChromeTrace, CountsWhatIsUnderWay) {
  int most = 0, last = -1;
  for (const Json& event : chromeTrace())
    if (event.at("ph") == "C" && event.at("pid") == 1) {
      last = event.at("args").at("commands");
      most = std::max(most, last);
    }
  EXPECT_EQ(most, 2);
  EXPECT_EQ(last, 0);
}

TEST(Report, IsOnePageWithItsData) {
  std::ostringstream out;
  writeReport(out, {example()});
  const std::string page = out.str();
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("/*DATA*/"), std::string::npos);
  // The only end of a script is the page's own.
  EXPECT_EQ(page.find("</script>"), page.rfind("</script>"));
  const std::string before = "const processes = ";
  const size_t begin = page.find(before) + before.size();
  const Json data = Json::parse(page.substr(begin, page.find(";\n", begin) - begin)).at(0);
  EXPECT_EQ(data.at("command"), "program </script>");
  EXPECT_EQ(data.at("lanes").size(), 5u);  // two rows, one, one of transfers, one thread
  EXPECT_EQ(data.at("left_out"), 0);
  EXPECT_EQ(data.at("devices").size(), 2u);
  EXPECT_EQ(data.at("links").at(0).at(3), 4096);
}

TEST(Names, AmountsAreReadable) {
  EXPECT_EQ(duration(999), "999 ns");
  EXPECT_EQ(duration(1500), "1.50 us");
  EXPECT_EQ(duration(2'000'000), "2.00 ms");
  EXPECT_EQ(duration(3'210'000'000), "3.21 s");
  EXPECT_EQ(size(1023), "1023 B");
  EXPECT_EQ(size(1536), "1.5 KiB");
  EXPECT_EQ(size(uint64_t{5} << 30), "5.0 GiB");
}

}  // namespace
}  // namespace weft::tools::trace
