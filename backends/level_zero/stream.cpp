#include "backends/level_zero/stream.h"

#include <algorithm>

#include "backends/level_zero/module.h"
#include "core/reaper.h"

namespace weft::level_zero {
namespace {

constexpr size_t unordered_width = 2;
// How long the thread looks for an end before it sleeps, and how long it sleeps before it looks
// whether there is more to append.
constexpr port::Nanoseconds spin_ns = 30'000, sleep_ns = 500'000;

bool isHosts(const port::Operation::Work& work) {
  if (const auto* launch = std::get_if<port::Launch>(&work))
    return static_cast<const Module*>(launch->module)->prints(launch->kernel);
  if (const auto* copy = std::get_if<port::Copy>(&work)) return Transfers::needsHost(*copy);
  if (const auto* fill = std::get_if<port::Fill>(&work)) return Transfers::needsHost(*fill);
  return std::holds_alternative<port::HostCall>(work);
}

}  // namespace

InOrderStream::Core::Core(std::shared_ptr<DeviceContext> shared)
    : context(std::move(shared)), api(context->api), transfers(context) {}

InOrderStream::InOrderStream(std::shared_ptr<DeviceContext> context)
    : core_(std::make_shared<Core>(std::move(context))), thread_([core = core_] { core->run(); }) {}

InOrderStream::~InOrderStream() {
  core_->queue.lock()->stop = true;
  core_->changed.notify_one();
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

void InOrderStream::submit(port::Operation& operation) noexcept {
  core_->pending.fetch_add(1, std::memory_order_relaxed);
  {
    auto queue = core_->queue.lock();
    queue->operations.push_back(&operation);
    core_->queued.fetch_add(1, std::memory_order_relaxed);
  }
  core_->changed.notify_one();
}

port::Operation* InOrderStream::Core::next(bool wait) {
  auto locked = queue.lock();
  while (wait && locked->operations.empty() && !locked->stop) changed.wait(locked.native());
  if (locked->operations.empty()) return nullptr;
  port::Operation* const operation = locked->operations.front();
  locked->operations.pop_front();
  queued.fetch_sub(1, std::memory_order_relaxed);
  return operation;
}

void InOrderStream::Core::run() noexcept {
  for (;;) {
    if (port::Operation* const operation = next(flights.empty()))
      perform(*operation);
    else if (flights.empty())
      return;
    else if (awaitOldest(false))
      completeOldest(ZE_RESULT_SUCCESS);
  }
}

void InOrderStream::Core::perform(port::Operation& operation) noexcept {
  if (isHosts(operation.work)) {
    drain();
    return onHost(operation);
  }
  Flight flight;
  flight.operation = &operation;
  flight.end = context->events.take();
  if (!flight.end) return refuse(operation, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  flight.result = append(operation.work);
  const ze_result_t ended = api.commandListAppendBarrier(transfers.list(), flight.end, 0, nullptr);
  if (ended != ZE_RESULT_SUCCESS) {
    context->events.give(flight.end);
    return refuse(operation, ended);
  }
  if (flights.empty()) begin(flight);
  flights.push_back(flight);
}

// Commands of a list may overlap; the barrier behind each operation keeps it from that.
ze_result_t InOrderStream::Core::append(const port::Operation::Work& work) noexcept {
  if (const auto* launch = std::get_if<port::Launch>(&work)) {
    const auto& module = *static_cast<const Module*>(launch->module);
    return module.launch(transfers.list(), *launch, nullptr);
  }
  if (const auto* copy = std::get_if<port::Copy>(&work)) return transfers.append(*copy);
  if (const auto* fill = std::get_if<port::Fill>(&work)) return transfers.append(*fill);
  return ZE_RESULT_SUCCESS;
}

void InOrderStream::Core::refuse(port::Operation& operation, ze_result_t result) noexcept {
  drain();
  const port::Nanoseconds start = hostNow();
  operation.started(start);
  finish(operation, operationStatus(result), start);
}

void InOrderStream::Core::begin(Flight& flight) noexcept {
  flight.start = hostNow();
  flight.operation->started(flight.start);
}

void InOrderStream::Core::onHost(port::Operation& operation) noexcept {
  const port::Nanoseconds start = hostNow();
  operation.started(start);
  port::OperationStatus status = 0;
  try {
    if (const auto* call = std::get_if<port::HostCall>(&operation.work)) {
      const RuntimeScope scope;
      call->function(call->user);
    } else if (const auto* copy = std::get_if<port::Copy>(&operation.work)) {
      transfers.perform(*copy);
    } else if (const auto* fill = std::get_if<port::Fill>(&operation.work)) {
      transfers.perform(*fill);
    } else {
      transfers.perform(std::get<port::Launch>(operation.work));
    }
  } catch (const Error& error) {
    status = error.code();
  } catch (const std::exception&) {
    status = CL_OUT_OF_HOST_MEMORY;
  }
  finish(operation, status, start);
}

bool InOrderStream::Core::awaitOldest(bool until_it_ends) noexcept {
  const ze_event_handle_t end = flights.front().end;
  const port::Nanoseconds sleep_from = hostNow() + spin_ns;
  for (;;) {
    const bool spin = hostNow() < sleep_from;
    const ze_result_t result =
        spin ? api.eventQueryStatus(end) : api.eventHostSynchronize(end, sleep_ns);
    if (result == ZE_RESULT_SUCCESS) return true;
    if (result != ZE_RESULT_NOT_READY) return completeOldest(result), false;
    if (!until_it_ends && queued.load(std::memory_order_relaxed) > 0) return false;
  }
}

// The next one starts behind this one's end.
void InOrderStream::Core::completeOldest(ze_result_t result) noexcept {
  const Flight flight = flights.front();
  flights.pop_front();
  context->events.give(flight.end);
  if (flight.result != ZE_RESULT_SUCCESS) result = flight.result;
  finish(*flight.operation, operationStatus(result), flight.start);
  if (!flights.empty()) begin(flights.front());
}

void InOrderStream::Core::drain() noexcept {
  while (!flights.empty())
    if (awaitOldest(true)) completeOldest(ZE_RESULT_SUCCESS);
}

void InOrderStream::Core::finish(port::Operation& operation, port::OperationStatus status,
                                 port::Nanoseconds start) noexcept {
  const port::Nanoseconds end = hostNow();
  pending.fetch_sub(1, std::memory_order_relaxed);
  operation.finished(status, start, end);
}

UnorderedStream::UnorderedStream(const std::shared_ptr<DeviceContext>& context) {
  for (size_t i = 0; i < unordered_width; ++i)
    streams_.push_back(std::make_unique<InOrderStream>(context));
}

void UnorderedStream::submit(port::Operation& operation) noexcept {
  const size_t first = turn_.fetch_add(1, std::memory_order_relaxed);
  InOrderStream* best = streams_[first % streams_.size()].get();
  for (const auto& stream : streams_)
    if (stream->pending() < best->pending()) best = stream.get();
  best->submit(operation);
}

}  // namespace weft::level_zero
