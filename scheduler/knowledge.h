// What all unified devices of the process know of kernels, devices and links. docs/balancing.md.
#pragma once

#include <cstdint>
#include <random>

#include "core/device.h"
#include "core/guarded.h"
#include "profiling/store.h"

namespace weft {

// WEFT_UNIFIED_SPLIT: for tests and measurements. WEFT_UNIFIED_TRACE=1: a line on standard error
// for each launch.
struct SplitSetting {
  enum class Mode : uint8_t { guided, never, always, random } mode = Mode::guided;
  uint64_t seed = 0;
  bool trace = false;

  static SplitSetting read();
};

// Never destroyed: parts of kernels may end at any time. Thread-safe.
struct Knowledge {
  SplitSetting setting = SplitSetting::read();
  profiling::PerformanceStore store{profiling::storeDirectory()};
  Guarded<std::mt19937_64> random{setting.seed};

  static Knowledge& get();
};

profiling::DeviceKey keyOf(const Device& device);
// Of copies; null stands for the host.
profiling::LinkKey linkBetween(const Device* source, const Device* target);

// Writes what was measured to the performance store's file.
void keepMeasurements() noexcept;

}  // namespace weft
