#include "scheduler/knowledge.h"

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

}  // namespace

SplitSetting SplitSetting::read() {
  SplitSetting setting = readSplit();
  const char* const trace = std::getenv("WEFT_UNIFIED_TRACE");
  setting.trace = trace && std::string_view(trace) == "1";
  return setting;
}

Knowledge& Knowledge::get() {
  static Knowledge* const instance = new Knowledge;
  return *instance;
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
  const auto end = [](const Device* device) { return device ? keyOf(*device).uuid : "host"; };
  const Device* const driven = target ? target : source;
  return {end(source), end(target), driven ? driven->capabilities().driver_version : ""};
}

void keepMeasurements() noexcept {
  try {
    Knowledge::get().store.flush();
  } catch (const std::bad_alloc&) {  // they are measured again
  }
}

}  // namespace weft
