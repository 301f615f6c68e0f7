#include "backends/cpu/family.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backends/cpu/clock.h"
#include "backends/cpu/executor.h"
#include "backends/cpu/runner.h"
#include "core/error.h"
#include "core/geometry.h"
#include "core/printf.h"

namespace weft::cpu {
namespace {

constexpr int32_t refused_state = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

uint64_t roomFor(const port::DeviceRequest& request) {
  return sizeof(Child) + request.block_bytes + request.wait_count * sizeof(Link) +
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

Run::Run(Family& owner, Scope* own) : family(owner), scope(own) {
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
    : executor_(executor),
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
    port::ImageDescriptor& image = root_.images.emplace_back();
    std::memcpy(&image, argument.value, sizeof image);
    image.address = argument.memory->deviceAddress() + argument.offset;
    argument.kind = ArgumentKind::value;
    argument.value = &image;
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
    return std::make_unique<Child>(*this, nullptr, queue, room);
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
  Freed freed;
  {
    const std::lock_guard lock(mutex_);
    if (!waitsAreValid(request)) return port::device_invalid_wait_list;
    if (request.returned_event) {
      child->event = events_.make();
      if (!child->event) return port::device_event_allocation_failure;
      *request.returned_event = child->event->number;
    }
    Child& linked = *child.release();
    link(run, linked, request);
    arrive(linked, false, freed);
    settle(freed);
  }
  go(freed);
  return port::device_success;
}

bool Family::waitsAreValid(const port::DeviceRequest& request) {
  return std::all_of(request.waits, request.waits + request.wait_count,
                     [&](uint64_t number) { return events_.find(number) != nullptr; });
}

// Leaves one wait behind, for the caller to end.
void Family::link(Run& run, Child& child, const port::DeviceRequest& request) {
  ++waiting_;
  ++run.scope->pending;
  child.scope = run.scope;
  if (child.event) {
    child.event->outer = run.scope;
    child.event->pending = 1;
    child.scope = child.event;
  }
  child.waits = 1;
  for (uint32_t i = 0; i < request.wait_count; ++i) {
    DeviceEvent& event = *events_.find(request.waits[i]);
    if (event.done()) {
      child.refused |= event.state < DeviceEvent::complete;
      continue;
    }
    child.links[i] = {&child, event.waiters};
    event.waiters = &child.links[i];
    ++child.waits;
  }
  if (request.value == port::device_no_wait) return;
  ++child.waits;
  Child*& held = request.value == port::device_wait_work_group ? Runner::current().held : run.held;
  child.next = std::exchange(held, &child);
}

void Family::arrive(Child& child, bool failed, Freed& freed) noexcept {
  child.refused |= failed;
  if (--child.waits != 0) return;
  --waiting_;
  const bool runs = !child.refused && !std::holds_alternative<std::monostate>(child.work);
  if (runs) ++running_;
  Child*& list = runs ? freed.ready : freed.settling;
  child.next = std::exchange(list, &child);
}

// Ends what does not run, and what that leads to. The dead go here, with the lock held: once the
// family is through, the application may release the queues that they were in.
void Family::settle(Freed& freed) noexcept {
  while (Child* const child = freed.settling) {
    freed.settling = child->next;
    child->next = std::exchange(freed.dead, child);
    if (child->event) child->event->refused = child->refused;
    endOne(*child->scope, 0, freed);
  }
  Child* dead = std::exchange(freed.dead, nullptr);
  while (dead) delete std::exchange(dead, dead->next);
}

// One of what the scope holds has ended.
void Family::endOne(Scope& scope, port::OperationStatus status, Freed& freed) noexcept {
  for (Scope* at = &scope;;) {
    if (at->status == 0) at->status = status;
    if (--at->pending != 0 || !at->outer) return;
    auto& event = static_cast<DeviceEvent&>(*at);
    status = event.status;
    at = event.outer;
    const int32_t state = event.refused ? refused_state : DeviceEvent::complete;
    finishEvent(event, status < 0 ? status : state, freed);
    if (event.handles == 0) events_.drop(event);
  }
}

void Family::finishEvent(DeviceEvent& event, int32_t state, Freed& freed) noexcept {
  event.state = state;
  for (Link* link = std::exchange(event.waiters, nullptr); link;) {
    Link* const next = link->next;
    arrive(*link->child, state < DeviceEvent::complete, freed);
    link = next;
  }
  if (event.user) return;
  event.completed = now();
  event.writeProfiles();
}

// Nothing runs that could end what is waited for.
void Family::giveUp(Freed& freed) noexcept {
  if (outermost_.status == 0) outermost_.status = refused_state;
  events_.forEach([&](DeviceEvent& event) {
    for (Link* link = std::exchange(event.waiters, nullptr); link;) {
      Link* const next = link->next;
      arrive(*link->child, true, freed);
      link = next;
    }
  });
}

void Family::ended(Run& run, Child* child, port::OperationStatus status, port::Nanoseconds start,
                   port::Nanoseconds end) noexcept {
  Freed freed;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    for (Child* held = std::exchange(run.held, nullptr); held;) {
      Child* const next = held->next;
      arrive(*held, false, freed);
      held = next;
    }
    --running_;
    if (child) {
      child->next = std::exchange(freed.dead, child);
      if (child->event) {
        child->event->start = start;
        child->event->end = end;
      }
    }
    endOne(*run.scope, status, freed);
    settle(freed);
    if (running_ == 0 && waiting_ != 0) {
      giveUp(freed);
      settle(freed);
    }
    last = outermost_.pending == 0;
  }
  go(freed);
  if (last) finish();
}

void Family::groupsEnded(const port::HostServices& services) noexcept {
  Child* const list = std::exchange(Runner::current().held, nullptr);
  if (list) static_cast<const Run&>(services).family.letGo(list);
}

void Family::letGo(Child* list) noexcept {
  Freed freed;
  {
    const std::lock_guard lock(mutex_);
    while (Child* const child = list) {
      list = child->next;
      arrive(*child, false, freed);
    }
    settle(freed);
  }
  go(freed);
}

void Family::go(const Freed& freed) noexcept {
  // Newest first, as they were collected.
  Child* first = nullptr;
  for (Child* child = freed.ready; child;) {
    Child* const next = child->next;
    child->next = std::exchange(first, child);
    child = next;
  }
  if (!first) return;  // what keeps the family then are others' commands
  const Ref<StreamCore> stream = stream_;
  Executor& executor = executor_;
  while (Child* const child = first) {
    first = child->next;
    if (!stream->push(*child)) continue;
    stream->retain();  // the token's reference
    executor.ready(*stream);
  }
}

void Family::finish() noexcept {
  Executor& executor = executor_;
  // That of an unordered operation may go with it.
  StreamCore* const stream = in_order_ ? &host_stream_ : nullptr;
  port::Operation& operation = operation_;
  const port::OperationStatus status = outermost_.status;
  const port::Nanoseconds start = start_, end = end_;
  delete this;
  operation.finished(status, start, end);
  if (stream) executor.resume(*stream);
}

}  // namespace weft::cpu
