#include "backends/level_zero/clock.h"

#include <cmath>
#include <ctime>

namespace weft::level_zero {
namespace {

constexpr port::Nanoseconds base_age = 1'000'000'000;
constexpr int tries = 3;
// How far a counter's frequency may be from what the driver says of it.
constexpr double most_drift = 5e-3;

}  // namespace

port::Nanoseconds hostNow() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

void DeviceClock::describe(uint64_t frequency, uint32_t valid_bits) {
  nominal_ = frequency > 0 ? 1e9 / static_cast<double>(frequency) : 0;
  valid_bits_ = valid_bits == 0 || valid_bits > 64 ? 64 : valid_bits;
}

// The driver's own time of the host may be of another of the host's clocks, so it is read here, and
// the reading that took least is the best.
bool DeviceClock::read(ClockBase& base) const noexcept {
  port::Nanoseconds least = ~port::Nanoseconds{0};
  for (int i = 0; i < tries; ++i) {
    uint64_t driver_host = 0, device = 0;
    const port::Nanoseconds before = hostNow();
    if (api_.deviceGetGlobalTimestamps(device_, &driver_host, &device) != ZE_RESULT_SUCCESS)
      return false;
    const port::Nanoseconds after = hostNow();
    if (after - before >= least) continue;
    least = after - before;
    base.device = device;
    base.host = before + least / 2;
  }
  return true;
}

ClockBase DeviceClock::base(port::Nanoseconds now) noexcept {
  const auto locked = base_.lock();
  if (nominal_ == 0 || (locked->tick != 0 && now < locked->host + base_age)) return *locked;
  ClockBase fresh;
  if (!read(fresh)) return *locked;
  fresh.tick = nominal_;
  const int64_t ticks = between(locked->device, fresh.device);
  if (locked->tick != 0 && ticks > 0) {
    const double rate = static_cast<double>(fresh.host - locked->host) / static_cast<double>(ticks);
    // Where it differs by more, the counter has gone round between the two.
    if (std::abs(rate / nominal_ - 1) < most_drift) fresh.tick = rate;
  }
  return *locked = fresh;
}

int64_t DeviceClock::between(uint64_t from, uint64_t to) const noexcept {
  const uint32_t unused = 64 - valid_bits_;
  return static_cast<int64_t>((to - from) << unused) >> unused;
}

port::Nanoseconds DeviceClock::time(const ClockBase& base, uint64_t ticks) const noexcept {
  if (base.tick == 0) return 0;
  const double since = static_cast<double>(between(base.device, ticks)) * base.tick;
  const double host = static_cast<double>(base.host) + since;
  if (host <= 0) return 0;
  return base.host + static_cast<port::Nanoseconds>(static_cast<int64_t>(since));
}

}  // namespace weft::level_zero
