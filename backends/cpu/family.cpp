#include "backends/cpu/family.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backends/cpu/clock.h"
#include "backends/cpu/executor.h"
#include "backends/cpu/pixels/pixel_functions.h"
#include "backends/cpu/runner.h"
#include "core/error.h"
#include "core/geometry.h"
#include "core/printf.h"

namespace weft::cpu {
namespace {

uint64_t roomFor(const port::DeviceRequest& request) {
  return sizeof(Child) + request.block_bytes + request.wait_count * sizeof(EventLink) +
         (uint64_t{request.local_count} + 1) * sizeof(port::LaunchArgument);
}

port::DeviceQueue* queueOf(const port::DeviceRequest& request) {
  return reinterpret_cast<port::DeviceQueue*>(request.queue);
}

// "... if event_wait_list is NULL and num_events_in_wait_list > 0, or event_wait_list is not NULL
// and num_events_in_wait_list is 0".
bool hasWaitList(const port::DeviceRequest& request) {
  return (request.wait_count == 0) == (request.waits == nullptr);
}

}  // namespace

Run::Run(Family& owner, CommandScope* own) : family(owner), scope(own) {
  print = &printToStdout;
  device_queue = &Family::call;
}

void Child::finished(port::OperationStatus status, port::Nanoseconds start,
                     port::Nanoseconds end) noexcept {
  family.ended(*this, this, status, start, end);
}

void Family::Root::finished(port::OperationStatus status, port::Nanoseconds start,
                            port::Nanoseconds end) noexcept {
  family.start_ = start;
  family.end_ = end;
  family.ended(*this, nullptr, status, start, end);
}

bool Family::isNeeded(const port::Operation& operation) noexcept {
  const auto* launch = std::get_if<port::Launch>(&operation.work);
  if (!launch || launch->record->services) return false;
  const Kernel* kernel = static_cast<Module*>(launch->module)->kernel(launch->kernel);
  return kernel && kernel->info.uses_device_queue;
}

Family* Family::take(Executor& executor, StreamCore& stream, port::Operation& operation) noexcept {
  try {
    return new Family(executor, stream, operation);
  } catch (...) {
    return nullptr;
  }
}

Family::Family(Executor& executor, StreamCore& stream, port::Operation& operation)
    : EnqueuedCommands(port::max_device_events),
      executor_(executor),
      host_stream_(stream),
      in_order_(stream.order == port::Order::in_order),
      operation_(operation),
      stream_(Ref<StreamCore>::adopt(new StreamCore(executor, port::Order::unordered))) {
  port::Launch launch = std::get<port::Launch>(operation.work);
  root_.record = *launch.record;
  root_.record.services = &root_;
  root_.arguments.assign(launch.arguments.begin(), launch.arguments.end());
  root_.images.reserve(root_.arguments.size());
  for (port::LaunchArgument& argument : root_.arguments) {
    if (argument.kind != ArgumentKind::image) continue;
    root_.images.push_back(
        imageAt(argument.value, argument.memory->deviceAddress() + argument.offset));
    argument.kind = ArgumentKind::value;
    argument.value = &root_.images.back();
    argument.size = sizeof root_.images.back();
  }
  launch.record = &root_.record;
  launch.arguments = root_.arguments;
  root_.work = launch;
}

const Module& Family::module() const noexcept {
  return *static_cast<const Module*>(std::get<port::Launch>(root_.work).module);
}

int64_t Family::call(const port::HostServices* self, port::DeviceRequest* request) noexcept {
  // In the order of port::DeviceCall.
  static constexpr Call calls[] = {
      &Family::enqueueKernel,   &Family::enqueueMarker,     &Family::defaultQueue,
      &Family::createUserEvent, &Family::retainEvent,       &Family::releaseEvent,
      &Family::setEventStatus,  &Family::isValidEvent,      &Family::captureProfiling,
      &Family::workGroupSize,   &Family::workGroupMultiple, &Family::subGroupCount,
      &Family::subGroupSize,    &Family::subGroupLocalSize, &Family::maxSubGroups,
  };
  Run& run = *const_cast<Run*>(static_cast<const Run*>(self));
  try {
    return (run.family.*calls[size_t(request->call)])(run, *request);
  } catch (...) {
    return port::device_out_of_resources;
  }
}

std::optional<port::LaunchRecord> Family::recordOf(const port::DeviceRange& range,
                                                   uint32_t kernel) const try {
  if (range.dimensions < 1 || range.dimensions > 3) return std::nullopt;
  const bool chooses = std::all_of(range.local, range.local + 3, [](auto n) { return n == 0; });
  const NDRange sizes{range.dimensions, range.offset, range.global,
                      chooses ? nullptr : range.local};
  return makeLaunchRecord(sizes, module().kernel(kernel)->info, executor_.capabilities());
} catch (const Error&) {
  return std::nullopt;
}

std::unique_ptr<Child> Family::childIn(port::DeviceQueue& queue, uint64_t room) {
  if (!queue.take(room)) return nullptr;
  try {
    return std::make_unique<Child>(*this, queue, room);
  } catch (...) {
    queue.give(room);
    throw;
  }
}

int64_t Family::enqueueKernel(Run& run, port::DeviceRequest& request) {
  port::DeviceQueue* const queue = queueOf(request);
  if (!queue) return port::device_invalid_queue;
  const auto kernel = module().find(request.kernel);
  if (!kernel) return port::device_enqueue_failure;
  const auto record = recordOf(*request.range, *kernel);
  if (!record) return port::device_invalid_range;
  if (!hasWaitList(request)) return port::device_invalid_wait_list;
  const uint64_t room = roomFor(request);
  std::unique_ptr<Child> child = childIn(*queue, room);
  if (!child) return port::device_queue_full;
  if (const int64_t code = fill(*child, request, *kernel, *record)) return code;
  return place(run, std::move(child), request);
}

int64_t Family::fill(Child& child, const port::DeviceRequest& request, uint32_t kernel,
                     const port::LaunchRecord& record) const {
  const KernelInfo& info = module().kernel(kernel)->info;
  constexpr size_t least_alignment = 16;
  const size_t alignment =
      std::bit_ceil(std::max<size_t>(request.block_alignment, least_alignment));
  const size_t bytes =
      (std::max<size_t>(request.block_bytes, 1) + alignment - 1) / alignment * alignment;
  child.block.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)));
  if (!child.block) return port::device_out_of_resources;
  if (request.block_bytes) std::memcpy(child.block.get(), request.block, request.block_bytes);
  child.block_address = child.block.get();
  if (info.arguments.size() != size_t{request.local_count} + 1)
    return port::device_invalid_arg_size;
  port::LaunchArgument& first = child.arguments.emplace_back();
  first.value = &child.block_address;
  first.size = sizeof child.block_address;
  uint64_t local = info.local_bytes;
  for (uint32_t i = 0; i < request.local_count; ++i) {
    const uint64_t size = request.local_sizes[i];
    if (size == 0) return port::device_invalid_arg_size;
    port::LaunchArgument& argument = child.arguments.emplace_back();
    argument.kind = ArgumentKind::local_pointer;
    argument.size = size;
    local = size > UINT64_MAX - local ? UINT64_MAX : local + size;
  }
  if (local > executor_.capabilities().local_memory_bytes) return port::device_out_of_resources;
  child.record = record;
  child.record.services = &child;
  if (std::find(record.group_count, record.group_count + 3, 0u) != record.group_count + 3) return 0;
  port::GroupBox box;
  std::copy_n(record.group_count, 3, box.end);
  const auto& parent = std::get<port::Launch>(root_.work);
  child.work = port::Launch{parent.module, kernel, &child.record, box, child.arguments, nullptr};
  return 0;
}

int64_t Family::enqueueMarker(Run& run, port::DeviceRequest& request) {
  // "event_ret must not be NULL as otherwise this is a no-op."
  if (!request.returned_event) return port::device_success;
  port::DeviceQueue* const queue = queueOf(request);
  if (!queue) return port::device_invalid_queue;
  if (!hasWaitList(request)) return port::device_invalid_wait_list;
  std::unique_ptr<Child> child = childIn(*queue, roomFor(request));
  if (!child) return port::device_queue_full;
  request.value = port::device_no_wait;
  return place(run, std::move(child), request);
}

int64_t Family::place(Run& run, std::unique_ptr<Child> child, port::DeviceRequest& request) {
  child->links.resize(request.wait_count);
  const std::span waits(request.waits, request.wait_count);
  Freed freed;
  {
    const std::lock_guard lock(mutex_);
    if (!areValid(waits)) return port::device_invalid_wait_list;
    if (request.returned_event) {
      child->event = events().make();
      if (!child->event) return port::device_event_allocation_failure;
    }
    Child& entered = *child.release();
    enter(*run.scope, entered, waits);
    // Which the program may have given as what to wait for, too.
    if (request.returned_event) *request.returned_event = entered.event->number;
    entered.scope = entered.within;
    if (request.value != port::device_no_wait) hold(run, entered, request.value);
    arrive(entered, false, freed);
    settle(freed);
  }
  go(freed);
  return port::device_success;
}

// Until its parent, or the groups that the thread runs of it, have ended.
void Family::hold(Run& run, Child& child, int32_t flags) noexcept {
  ++child.waits;
  EnqueuedCommand*& held =
      flags == port::device_wait_work_group ? Runner::current().held : run.held;
  child.after = std::exchange(held, &child);
}

port::Nanoseconds Family::now() const noexcept { return cpu::now(); }

void Family::writeProfile(uint64_t address, DeviceEvent::Profile profile) noexcept {
  auto* const written = reinterpret_cast<uint64_t*>(address);
  written[0] = profile.run;
  written[1] = profile.whole;
}

void Family::ended(Run& run, Child* child, port::OperationStatus status, port::Nanoseconds start,
                   port::Nanoseconds end) noexcept {
  Freed freed;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    arriveAll(std::exchange(run.held, nullptr), freed);
    ran(*run.scope, child, status, start, end, freed);
    last = isOver();
  }
  go(freed);
  if (last) finish();
}

void Family::arriveAll(EnqueuedCommand* list, Freed& freed) noexcept {
  while (EnqueuedCommand* const command = list) {
    list = command->after;
    arrive(*command, false, freed);
  }
}

void Family::groupsEnded(const port::HostServices& services) noexcept {
  EnqueuedCommand* const list = std::exchange(Runner::current().held, nullptr);
  if (list) static_cast<const Run&>(services).family.letGo(list);
}

void Family::letGo(EnqueuedCommand* list) noexcept {
  Freed freed;
  {
    const std::lock_guard lock(mutex_);
    arriveAll(list, freed);
    settle(freed);
  }
  go(freed);
}

void Family::go(Freed& freed) noexcept {
  EnqueuedCommand* first = freed.takeReady();
  if (!first) return;  // what keeps the family then are others' commands
  const Ref<StreamCore> stream = stream_;
  Executor& executor = executor_;
  while (first) {
    Child& child = static_cast<Child&>(*std::exchange(first, first->after));
    executor.submit(*stream, child);
  }
}

void Family::finish() noexcept {
  Executor& executor = executor_;
  // That of an unordered operation may go with it.
  StreamCore* const stream = in_order_ ? &host_stream_ : nullptr;
  port::Operation& operation = operation_;
  const port::OperationStatus status = outermost().status;
  const port::Nanoseconds start = start_, end = end_;
  delete this;
  operation.finished(status, start, end);
  if (stream) executor.resume(*stream);
}

}  // namespace weft::cpu
