#include "scheduler/state.h"

#include <algorithm>

#include "scheduler/knowledge.h"
#include "scheduler/tracing.h"

namespace weft {

State::State(Context& context) {
  profiling::TraceWriter::resume();
  for (const Ref<Device>& device : context.allDevices()) {
    devices_.push_back(std::make_unique<PerDevice>());
    devices_.back()->device = device.get();
    tracing::noteDevice(*device);
    balances_ |= !device->members().empty();
    const port::Capabilities& c = device->capabilities();
    const auto tickets = tickets_.lock();
    if (c.memory_space != port::host_space && !tickets->memoryIn(c.memory_space))
      tickets->memories.emplace_back(c.memory_space, c.global_memory_bytes);
  }
  for (const auto& from : devices_)
    for (const auto& to : devices_)
      needs_staging_ |= !mover(from->device->capabilities().memory_space,
                               to->device->capabilities().memory_space);
  if (balances_) recallMeasurements(context.platform());
}

// What was learned of kernels is worth keeping when the program is done with them.
State::~State() {
  if (balances_) keepMeasurements();
}

DeviceMemory* State::Tickets::memoryIn(port::MemorySpace space) {
  const auto found = std::find_if(memories.begin(), memories.end(),
                                  [&](const DeviceMemory& m) { return m.space() == space; });
  return found == memories.end() ? nullptr : &*found;
}

State::PerDevice& State::find(const Device& device) {
  for (auto& entry : devices_)
    if (entry->device == &device) return *entry;
  throw Error(CL_INVALID_DEVICE, "the device is not one of the context's");
}

uint64_t State::memoryFor(const Device& device) const {
  const port::Capabilities& c = device.capabilities();
  const auto tickets = tickets_.lock();
  const DeviceMemory* const memory = tickets->memoryIn(c.memory_space);
  const uint64_t reserved = memory ? memory->reserved() : 0;
  return c.global_memory_bytes - std::min(reserved, c.global_memory_bytes);
}

DeviceCounters& State::counters(const Device& device) { return find(device).counters; }

Device* State::owner(port::MemorySpace space) const {
  for (const auto& entry : devices_)
    if (entry->device->capabilities().memory_space == space) return entry->device;
  return nullptr;
}

Device* State::mover(port::MemorySpace source, port::MemorySpace target) const {
  Device* const to = owner(target);
  if (to && to->port().reaches(source)) return to;
  Device* const from = owner(source);
  if (from && from->port().reaches(target)) return from;
  return nullptr;
}

double State::transferTime(const Device* source, const Device* target, uint64_t bytes) {
  constexpr double estimated_ns = 10'000, estimated_bytes_per_ns = 10;
  profiling::PerformanceStore& store = Knowledge::get().store;
  const auto link = links_.with([&](auto& links) {
    const Ends ends{source, target};
    const auto known = links.find(ends);
    if (known != links.end()) return known->second;
    return links.emplace(ends, store.link(linkBetween(source, target))).first->second;
  });
  const auto time = store.transferTime(link, bytes);
  return time ? time->nanoseconds
              : estimated_ns + static_cast<double>(bytes) / estimated_bytes_per_ns;
}

port::Stream& State::streamOf(LazyStream& stream, Device& device) {
  return stream.get([&] { return device.port().createStream(port::Order::unordered); });
}

void State::pollTransfers(const Device& device) noexcept {
  for (const auto& entry : devices_)
    if (port::Stream* const made = entry->device == &device ? entry->transfers.made() : nullptr)
      made->poll();
}

std::unique_ptr<ContextState> makeContextState(Context& context) {
  return std::make_unique<State>(context);
}

DeviceStatistics statistics(const Context& context, const Device& device) {
  const DeviceCounters& counters = State::of(context).counters(device);
  constexpr auto order = std::memory_order_relaxed;
  const auto [commands, busy_ns] = counters.work.total();
  return {commands,
          busy_ns,
          counters.bytes_in.load(order),
          counters.bytes_out.load(order),
          counters.transfers.load(order),
          counters.evictions.load(order)};
}

}  // namespace weft
