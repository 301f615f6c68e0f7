#include "scheduler/knowledge.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <new>
#include <string_view>

namespace weft {

namespace {

SplitSetting readSplit() {
  using Mode = SplitSetting::Mode;
  const char* const text = std::getenv("WEFT_UNIFIED_SPLIT");
  const std::string_view value = text ? text : "";
  if (value == "never") return {.mode = Mode::never};
  if (value == "always") return {.mode = Mode::always};
  if (!value.starts_with("random")) return {};
  SplitSetting setting{.mode = Mode::random, .seed = 1};
  if (const size_t colon = value.find(':'); colon != value.npos)
    std::from_chars(value.data() + colon + 1, value.data() + value.size(), setting.seed);
  return setting;
}

std::atomic<Knowledge*>& current() {
  static std::atomic<Knowledge*> instance{new Knowledge};
  return instance;
}

}  // namespace

SplitSetting SplitSetting::read() {
  SplitSetting setting = readSplit();
  const char* const trace = std::getenv("WEFT_UNIFIED_TRACE");
  setting.trace = trace && std::string_view(trace) == "1";
  return setting;
}

Knowledge& Knowledge::get() { return *current().load(std::memory_order_acquire); }

void Knowledge::renew() {
  auto* const next = new Knowledge;
  next->old_.reset(&get());
  current().store(next, std::memory_order_release);
}

SplitSetting::Mode splitModeOf(const Queue& queue) {
  using Mode = SplitSetting::Mode;
  const auto policy = static_cast<SplitPolicy>(queue.property(split_policy));
  if (policy == SplitPolicy::never) return Mode::never;
  if (policy == SplitPolicy::always) return Mode::always;
  return Knowledge::get().setting.mode;
}

bool balances(const Queue& queue) {
  return !queue.device().members().empty() && splitModeOf(queue) != SplitSetting::Mode::never;
}

profiling::DeviceKey keyOf(const Device& device) {
  constexpr char digits[] = "0123456789abcdef";
  const port::Capabilities& capabilities = device.capabilities();
  std::string uuid;
  for (const uint8_t byte : capabilities.uuid) {
    uuid += digits[byte >> 4];
    uuid += digits[byte & 15];
  }
  // Parts of a device have its number.
  return {uuid + '/' + std::to_string(capabilities.compute_units), capabilities.driver_version};
}

profiling::LinkKey linkBetween(const Device* source, const Device* target) {
  // The unified device's memory is its first member's.
  const auto end = [](const Device* device) {
    if (!device) return std::string("host");
    return keyOf(device->members().empty() ? *device : *device->members().front()).uuid;
  };
  const Device* const driven = target ? target : source;
  return {end(source), end(target), driven ? driven->capabilities().driver_version : ""};
}

profiling::KernelKey keyOf(const DeviceBuild& build, uint32_t kernel,
                           const port::LaunchRecord& record) {
  std::string local;
  for (const uint64_t size : record.local_size)
    local.append(local.empty() ? "" : "x").append(std::to_string(size));
  return {build.code_id + ' ' + build.image->kernels[kernel].name, build.options, local};
}

double estimatedItemTime(const port::Capabilities& device) {
  constexpr double on_cpu_unit = 10, on_gpu_unit = 1;
  const bool gpu = device.device_class == port::DeviceClass::gpu;
  return (gpu ? on_gpu_unit : on_cpu_unit) / static_cast<double>(device.compute_units);
}

// One group of a GPU's unit leaves it waiting for
// memory most of the time.
uint64_t leastGroups(const port::Capabilities& device, const port::LaunchRecord& record) {
  constexpr uint64_t items_of_gpu_unit = 512;
  const uint64_t items = record.local_size[0] * record.local_size[1] * record.local_size[2];
  const bool gpu = device.device_class == port::DeviceClass::gpu;
  const uint64_t groups = gpu ? (items_of_gpu_unit + items - 1) / items : 1;
  return groups * std::max(device.compute_units, 1u);
}

uint64_t groupsOf(const port::LaunchRecord& record) {
  return record.group_count[0] * record.group_count[1] * record.group_count[2];
}

double occupancy(const port::Capabilities& device, const port::LaunchRecord& record,
                 double groups) {
  return std::min(groups / static_cast<double>(leastGroups(device, record)), 1.0);
}

bool sameKind(const Device& one, const Device& another) {
  const port::Capabilities &first = one.capabilities(), &second = another.capabilities();
  return first.name == second.name && first.compute_units == second.compute_units;
}

void recallMeasurements(Platform& platform) {
  platform.background().run([] {
    try {
      Knowledge::get().store.readAhead();
    } catch (const std::bad_alloc&) {  // they are read one by one
    }
  });
}

void keepMeasurements() noexcept {
  try {
    Knowledge::get().store.flush();
  } catch (const std::bad_alloc&) {  // they are measured again
  }
}

void keepMeasurementsSoon(Platform& platform) {
  constexpr size_t worth = 64;
  if (Knowledge::get().store.pending() >= worth)
    platform.background().run([] { keepMeasurements(); });
}

}  // namespace weft
