// What all unified devices of the process know of kernels, devices and links. docs/balancing.md.
#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "core/guarded.h"
#include "core/platform.h"
#include "core/program.h"
#include "profiling/store.h"
#include "scheduler/queue.h"

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
  // For tests: from now on nothing is known, and the setting is read again.
  static void renew();

 private:
  std::unique_ptr<Knowledge> old_;  // somebody may still have it
};

// What the queue asks for, or else the user.
SplitSetting::Mode splitModeOf(const Queue& queue);
// May the queue's commands run on another device than its own, or on several?
bool balances(const Queue& queue);

// Confidence from which on a prediction counts as one.
inline constexpr double trusted = 0.3;

profiling::DeviceKey keyOf(const Device& device);
profiling::KernelKey keyOf(const DeviceBuild& build, uint32_t kernel,
                           const port::LaunchRecord& record);
// Of copies; null stands for the host.
profiling::LinkKey linkBetween(const Device* source, const Device* target);

// Nanoseconds of a work-item, of a kernel that nobody has measured: good for comparing devices.
double estimatedItemTime(const port::Capabilities& device);
// The work-groups of a launch.
uint64_t groupsOf(const port::LaunchRecord& record);
// Work-groups that a device needs to be well used.
uint64_t leastGroups(const port::Capabilities& device, const port::LaunchRecord& record);
// The part of a device that so many groups of a launch keep busy, at most 1: so many such run
// beside each other.
double occupancy(const port::Capabilities& device, const port::LaunchRecord& record, double groups);
// Are they equally fast at anything?
bool sameKind(const Device& one, const Device& another);

// Reads what earlier processes measured, in the background.
void recallMeasurements(Platform& platform);
// Writes what was measured to the performance store's file.
void keepMeasurements() noexcept;
// In the background, once that is worth it.
void keepMeasurementsSoon(Platform& platform);

}  // namespace weft
