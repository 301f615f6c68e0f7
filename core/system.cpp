#include "core/system.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>

namespace weft {
namespace {

// The value after `key` and a colon, in files like /proc/cpuinfo and /proc/meminfo.
std::optional<std::string> field(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return std::nullopt;
}

std::optional<uint64_t> number(const std::string& path) {
  std::ifstream file(path);
  uint64_t value;
  if (file >> value) return value;
  return std::nullopt;
}

struct GroupMemory {
  std::optional<uint64_t> limit;
  uint64_t used = 0;
};

// The control group's memory limit, in either version's place; absent when unlimited.
GroupMemory groupMemory() {
  static constexpr const char* places[][2] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
       "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
  };
  for (const auto& [limit, used] : places) {
    const auto bytes = number(limit);
    if (bytes && *bytes < uint64_t(1) << 60) return {bytes, number(used).value_or(0)};
  }
  return {};
}

}  // namespace

ProcessorInfo processorInfo() {
  ProcessorInfo info;
  info.model = field("/proc/cpuinfo", "model name").value_or("CPU");
  info.vendor = field("/proc/cpuinfo", "vendor_id").value_or("unknown");
  if (const auto khz = number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"))
    info.max_clock_mhz = uint32_t(*khz / 1000);
  else if (const auto mhz = field("/proc/cpuinfo", "cpu MHz"))
    info.max_clock_mhz = uint32_t(std::lround(std::atof(mhz->c_str())));
  return info;
}

uint64_t physicalMemoryBytes() {
  const uint64_t machine = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  return std::min(machine, groupMemory().limit.value_or(machine));
}

uint64_t availableMemoryBytes() {
  uint64_t available = physicalMemoryBytes();
  if (const auto kib = field("/proc/meminfo", "MemAvailable"))
    available = std::min<uint64_t>(available, std::strtoull(kib->c_str(), nullptr, 10) * 1024);
  const GroupMemory group = groupMemory();
  if (group.limit)
    available = std::min(available, *group.limit - std::min(*group.limit, group.used));
  return available;
}

}  // namespace weft
