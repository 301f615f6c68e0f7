#include "backends/cpu/topology.h"

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/error.h"

namespace weft::cpu {
namespace {

hwloc_topology_t native(void* topology) { return static_cast<hwloc_topology_t>(topology); }

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

const Topology& Topology::get() {
  static const Topology* topology = new Topology;
  return *topology;
}

Topology::Topology() {
  hwloc_topology_t topology;
  require(hwloc_topology_init(&topology) == 0, CL_OUT_OF_HOST_MEMORY, "hwloc_topology_init");
  // Devices on buses are other backends' business and slow to list.
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(topology) != 0) {
    hwloc_topology_destroy(topology);
    throw Error(CL_DEVICE_NOT_FOUND, "hwloc cannot read the machine's topology");
  }
  topology_ = topology;
  // hwloc's allowed set knows control groups; the affinity mask of the process comes on top.
  hwloc_bitmap_t usable = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
  hwloc_bitmap_t bound = hwloc_bitmap_alloc();
  if (hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0 && !hwloc_bitmap_iszero(bound))
    hwloc_bitmap_and(usable, usable, bound);
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu));)
    if (hwloc_bitmap_isset(usable, pu->os_index)) pus_.push_back(pu->os_index);
  hwloc_bitmap_free(bound);
  hwloc_bitmap_free(usable);
  if (pus_.empty()) throw Error(CL_DEVICE_NOT_FOUND, "no usable processor");
}

Caches Topology::caches(const std::vector<unsigned>& pus) const {
  std::optional<uint64_t> l1, l2, last;
  Caches caches;
  for (const unsigned index : pus) {
    hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(native(topology_), index);
    for (; object; object = object->parent) {
      if (!hwloc_obj_type_is_dcache(object->type)) continue;
      const auto& cache = object->attr->cache;
      if (cache.size == 0) continue;
      if (cache.linesize) caches.line_bytes = cache.linesize;
      if (object->type == HWLOC_OBJ_L1CACHE) l1 = std::min(l1.value_or(cache.size), cache.size);
      if (object->type == HWLOC_OBJ_L2CACHE) l2 = std::min(l2.value_or(cache.size), cache.size);
      last = std::max(last.value_or(0), cache.size);
    }
  }
  caches.l1_bytes = l1.value_or(caches.l1_bytes);
  caches.l2_bytes = l2.value_or(caches.l2_bytes);
  caches.last_level_bytes = last.value_or(caches.last_level_bytes);
  return caches;
}

bool Topology::bindThread(unsigned pu) const noexcept {
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  if (!set) return false;
  const bool bound = hwloc_bitmap_only(set, pu) == 0 &&
                     hwloc_set_cpubind(native(topology_), set, HWLOC_CPUBIND_THREAD) == 0;
  hwloc_bitmap_free(set);
  return bound;
}

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

}  // namespace weft::cpu
