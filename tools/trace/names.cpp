#include "tools/trace/names.h"

#include <fmt/core.h>

namespace weft::tools::trace {
namespace {

template <class Sizes>
std::string product(const Sizes& sizes, int dimensions) {
  std::string text = std::to_string(sizes[0]);
  for (int i = 1; i < dimensions; ++i) text += " x " + std::to_string(sizes[i]);
  return text;
}

}  // namespace

std::string duration(uint64_t nanoseconds) {
  const auto ns = static_cast<double>(nanoseconds);
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

std::string size(uint64_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(units); ++unit) amount /= 1024;
  return fmt::format("{:.{}f} {}", amount, unit == 0 ? 0 : 1, units[unit]);
}

std::string deviceName(const profiling::TracedProcess& process, size_t device) {
  if (device >= process.devices.size()) return "host memory";
  return fmt::format("{}: {}", device, process.devices[device].name);
}

std::string range(const profiling::trace::CommandRecord& record) {
  if (record.groups == 0) return {};
  const int dimensions = record.global[2] > 1 ? 3 : record.global[1] > 1 ? 2 : 1;
  return product(record.global, dimensions) + " in groups of " + product(record.local, dimensions);
}

}  // namespace weft::tools::trace
