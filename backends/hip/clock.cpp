#include "backends/hip/clock.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace weft::hip {
namespace {

constexpr port::Nanoseconds base_age = 1'000'000'000;
constexpr int tries = 5;
// A device whose queues are all taken by streams that wait records nothing until they go on. Then
// the old base must do: whoever records may be the one they wait for.
constexpr port::Nanoseconds patience = 1'000'000, first_patience = 20'000'000;

}  // namespace

port::Nanoseconds hostNow() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

TimeBase::~TimeBase() {
  if (!event) return;
  const Current current(api, device);
  api.eventDestroy(event);
}

EventClock::~EventClock() {
  if (!stream_) return;
  const Current current(api_, device_);
  api_.streamDestroy(stream_);
}

std::shared_ptr<const TimeBase> EventClock::base(port::Nanoseconds now) {
  std::shared_ptr<const TimeBase> older;
  {
    auto state = state_.lock();
    const bool due = !state->base || now > state->tried + base_age;
    if (!due || state->busy) return state->base;
    state->busy = true;
    state->tried = now;
    older = state->base;
  }
  std::shared_ptr<TimeBase> fresh = record(older ? patience : first_patience);
  if (fresh && older) compare(*older, *fresh);
  auto state = state_.lock();
  state->busy = false;
  if (fresh) state->base = std::move(fresh);
  return state->base;
}

// The new one says what the older one said, as far as that can be: else the order of what ended
// before and after would depend on which one it was measured from. A rate is worth having only from
// bases far enough apart for their uncertainties.
void EventClock::compare(const TimeBase& older, TimeBase& newer) const {
  constexpr double apart = 0.5e9, most = 5e-4, finest = 1e-5;
  newer.rate = older.rate;
  float milliseconds = 0;
  if (api_.eventElapsedTime(&milliseconds, older.event, newer.event) != success) return;
  const double device = static_cast<double>(milliseconds) * 1e6;
  const auto host = static_cast<double>(newer.host - older.host);
  const auto error = static_cast<double>(older.uncertainty + newer.uncertainty);
  if (host > apart && error < finest * host && std::abs(host / device - 1) < most)
    newer.rate = host / device;
  newer.host = std::clamp(time(older, newer.event), newer.host - newer.uncertainty,
                          newer.host + newer.uncertainty);
}

std::shared_ptr<TimeBase> EventClock::record(port::Nanoseconds limit) {
  if (!stream_ && api_.streamCreateWithFlags(&stream_, stream_non_blocking) != success)
    return nullptr;
  std::shared_ptr<TimeBase> best;
  for (int i = 0; i < tries; ++i) {
    auto base = std::make_shared<TimeBase>(api_, device_);
    if (api_.eventCreateWithFlags(&base->event, 0) != success || !recordOnce(*base, limit)) break;
    if (!best || base->uncertainty < best->uncertainty) best = std::move(base);
  }
  return best;
}

bool EventClock::recordOnce(TimeBase& base, port::Nanoseconds limit) {
  const port::Nanoseconds before = hostNow();
  if (api_.eventRecord(base.event, stream_) != success) return false;
  for (;;) {
    const Status status = api_.eventQuery(base.event);
    const port::Nanoseconds after = hostNow();
    if (status == success) {
      base.uncertainty = (after - before) / 2;
      base.host = before + base.uncertainty;
      return true;
    }
    if (status != not_ready || after > before + limit) return false;
  }
}

port::Nanoseconds EventClock::time(const TimeBase& base, EventHandle event) const {
  float milliseconds = 0;
  if (api_.eventElapsedTime(&milliseconds, base.event, event) != success) return 0;
  return base.host + static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6 * base.rate);
}

}  // namespace weft::hip
