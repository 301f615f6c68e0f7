#include "tools/trace/summary.h"

#include <fmt/core.h>

#include "profiling/trace_analysis.h"
#include "tools/trace/names.h"

namespace weft::tools::trace {
namespace {

using namespace profiling;

// Of kernels and of calls; the rest is in the report.
constexpr size_t most_rows = 12;

std::string shortened(const std::string& text, size_t length) {
  return text.size() <= length ? text : text.substr(0, length - 3) + "...";
}

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

uint64_t mean(uint64_t total, uint64_t count) { return count == 0 ? 0 : total / count; }

double gigabytesPerSecond(uint64_t bytes, uint64_t nanoseconds) {
  return nanoseconds == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(nanoseconds);
}

void printDevices(const TracedProcess& process, const TraceSummary& summary) {
  const uint64_t whole = summary.end - summary.begin;
  fmt::print("\n{:<40} {:>9} {:>7} {:>9} {:>37}\n", "", "", "", "", "idle because");
  fmt::print("{:<40} {:>9} {:>7} {:>9} {:>9} {:>9} {:>9} {:>8} {:>6}\n", "device", "commands",
             "busy", "at once", "nothing", "depends", "moving", "starts", "done");
  for (const DeviceSummary& device : summary.devices) {
    if (device.commands == 0) continue;
    const double at_once = device.busy == 0 ? 0 : double(device.running) / double(device.busy);
    fmt::print(
        "{:<40} {:>9} {:>5.1f} % {:>7.2f} x {:>7.1f} % {:>7.1f} % {:>7.1f} % {:>6.1f} % {:>4.1f} "
        "%\n",
        shortened(deviceName(process, device.device), 40), device.commands,
        percent(device.busy, whole), at_once, percent(device.idle.not_enqueued, whole),
        percent(device.idle.dependencies, whole), percent(device.idle.transfers, whole),
        percent(device.idle.starting, whole), percent(device.done_before_end, whole));
    if (device.failed > 0) fmt::print("{:<40} {:>9} failed\n", "", device.failed);
  }
}

void printKernels(const TracedProcess& process, const TraceSummary& summary) {
  if (summary.kernels.empty()) return;
  fmt::print("\n{:<28} {:<24} {:>8} {:>11} {:>11} {:>11} {:>11}\n", "kernel", "device", "launches",
             "total", "mean", "least", "most");
  for (size_t i = 0; i < summary.kernels.size() && i < most_rows; ++i) {
    const KernelSummary& kernel = summary.kernels[i];
    fmt::print("{:<28} {:<24} {:>8} {:>11} {:>11} {:>11} {:>11}\n", shortened(kernel.name, 28),
               shortened(deviceName(process, kernel.device), 24), kernel.count,
               duration(kernel.total), duration(mean(kernel.total, kernel.count)),
               duration(kernel.least), duration(kernel.most));
  }
  if (summary.kernels.size() > most_rows)
    fmt::print("... and {} more\n", summary.kernels.size() - most_rows);
}

void printLinks(const TracedProcess& process, const TraceSummary& summary) {
  if (summary.links.empty()) return;
  fmt::print("\n{:<28} {:<28} {:>9} {:>12} {:>11} {:>12}\n", "moved from", "to", "transfers",
             "bytes", "busy", "rate");
  for (const LinkSummary& link : summary.links)
    fmt::print("{:<28} {:<28} {:>9} {:>12} {:>11} {:>7.2f} GB/s\n",
               shortened(deviceName(process, link.source), 28),
               shortened(deviceName(process, link.target), 28), link.count, size(link.bytes),
               duration(link.busy), gigabytesPerSecond(link.bytes, link.busy));
}

void printCalls(const TraceSummary& summary) {
  if (summary.calls.empty()) return;
  fmt::print("\n{:<36} {:>9} {:>11} {:>11} {:>11} {:>7}\n", "call", "calls", "total", "mean",
             "most", "failed");
  for (size_t i = 0; i < summary.calls.size() && i < most_rows; ++i) {
    const CallSummary& call = summary.calls[i];
    fmt::print("{:<36} {:>9} {:>11} {:>11} {:>11} {:>7}\n", call.name, call.count,
               duration(call.total), duration(mean(call.total, call.count)), duration(call.most),
               call.failed);
  }
  if (summary.calls.size() > most_rows)
    fmt::print("... and {} more\n", summary.calls.size() - most_rows);
}

}  // namespace

void printSummary(const TracedProcess& process) {
  const TraceSummary summary = summarize(process);
  const LifeSummary& life = summary.life;
  fmt::print("\nweft: process {}: {}\n", process.number, shortened(process.command_line, 90));
  fmt::print("{} commands in {}\n", process.commands.size(), duration(summary.end - summary.begin));
  fmt::print(
      "a command took, in the mean, {} to be submitted, {} to begin, {} to run, {} to be told of\n",
      duration(mean(life.waiting, life.commands)), duration(mean(life.in_stream, life.commands)),
      duration(mean(life.running, life.commands)), duration(mean(life.telling, life.commands)));
  if (summary.divided > 0)
    fmt::print("{} launches were divided into {} parts\n", summary.divided, summary.parts);
  if (process.dropped > 0)
    fmt::print("the recording is full: {} records more are missing (--limit)\n", process.dropped);
  printDevices(process, summary);
  printKernels(process, summary);
  printLinks(process, summary);
  printCalls(summary);
}

}  // namespace weft::tools::trace
