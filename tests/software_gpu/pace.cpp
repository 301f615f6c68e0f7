#include "tests/software_gpu/pace.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/ports/launch.h"

namespace weft::software {
namespace {

void sleepFor(double nanoseconds) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(nanoseconds));
}

// A thread that sleeps is woken late, so not to the end.
void waitUntil(Nanoseconds end) {
  constexpr Nanoseconds late = 200'000;
  if (const Nanoseconds begin = now(); end > begin + late)
    sleepFor(static_cast<double>(end - begin - late));
  while (now() < end) std::this_thread::yield();
}

// What kernels know of their place is their last parameter.
port::GpuLaunch launchOf(const LaunchRequest& request) {
  port::GpuLaunch launch;
  std::memcpy(&launch, request.parameters.data() + request.parameter_bytes - sizeof launch,
              sizeof launch);
  return launch;
}

}  // namespace

// In work-groups of average work.
double Pace::workOf(const LaunchRequest& request) const {
  const auto& grid = request.grid;
  const double groups = double(grid[0]) * grid[1] * grid[2];
  if (profile_ == Profile::flat || request.parameter_bytes < sizeof(port::GpuLaunch)) return groups;
  const port::GpuLaunch launch = launchOf(request);
  const size_t d = std::max(launch.record.work_dim, 1u) - 1;
  const auto layers = static_cast<double>(launch.record.group_count[d]);
  double work = 0;
  for (uint64_t i = launch.box.begin[d]; i < launch.box.end[d]; ++i) {
    const double x = (static_cast<double>(i) + 0.5) / layers;
    work += 0.25 + 4.5 * x * (1 - x);
  }
  return work * groups / std::max<double>(grid[d], 1);
}

void Pace::spend(const LaunchRequest& request) {
  const auto time = static_cast<Nanoseconds>(group_ns_ * workOf(request));
  Nanoseconds end = 0;
  {
    const std::lock_guard one(mutex_);
    end = free_ = std::max(now(), free_) + time;
  }
  waitUntil(end);
}

void Pace::stretch(Nanoseconds ran) const {
  const auto time = static_cast<double>(ran);
  if (speed_ < 1) sleepFor(time / speed_ - time);
}

}  // namespace weft::software
