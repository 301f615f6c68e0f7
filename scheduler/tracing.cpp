#include "scheduler/tracing.h"

#include <algorithm>

#include "profiling/clock.h"
#include "scheduler/command.h"
#include "scheduler/command_buffer.h"
#include "scheduler/queue.h"

namespace weft {
namespace tracing {
namespace {

using profiling::TraceWriter;
using namespace profiling::trace;

void describeLaunch(const port::Launch& launch, CommandRecord& record) noexcept {
  const port::LaunchRecord& range = *launch.record;
  std::copy_n(range.global_size, 3, record.global.begin());
  std::transform(range.local_size, range.local_size + 3, record.local.begin(),
                 [](uint64_t size) { return static_cast<uint32_t>(size); });
  record.groups = launch.slice.count();
}

}  // namespace

void noteDevice(const Device& device) noexcept {
  TraceWriter* const writer = TraceWriter::active();
  if (!writer) return;
  const port::Capabilities& capabilities = device.capabilities();
  DeviceRecord record;
  record.device = idOf(&device);
  record.when = profiling::now();
  record.device_class = static_cast<uint32_t>(capabilities.device_class);
  record.compute_units = capabilities.compute_units;
  record.memory_space = capabilities.memory_space;
  record.members = static_cast<uint32_t>(device.members().size());
  writer->write(record, capabilities.name);
}

const Device* workerOf(const Device* device) noexcept {
  return device && !device->members().empty() ? device->members().front().get() : device;
}

void noteQueue(const Queue& queue) noexcept {
  TraceWriter* const writer = TraceWriter::active();
  if (!writer) return;
  QueueRecord record;
  record.queue = idOf(&queue);
  record.when = profiling::now();
  record.device = idOf(&queue.device());
  record.context = idOf(&queue.context());
  record.properties = queue.properties();
  writer->write(record);
}

void noteDependency(const Event& command, const Event& other) noexcept {
  TraceWriter* const writer = TraceWriter::active();
  if (!writer) return;
  DependencyRecord record;
  record.command = idOf(&command);
  record.other = idOf(&other);
  record.when = profiling::now();
  writer->write(record);
}

void describe(const port::Operation::Work& work, CommandRecord& record) noexcept {
  if (const auto* launch = std::get_if<port::Launch>(&work))
    describeLaunch(*launch, record);
  else if (const auto* copy = std::get_if<port::Copy>(&work))
    record.bytes = copy->region[0] * copy->region[1] * copy->region[2];
  else if (const auto* fill = std::get_if<port::Fill>(&work))
    record.bytes = fill->size * fill->rows * fill->slices;
  else if (const auto* prefetch = std::get_if<port::Prefetch>(&work))
    for (const port::MemoryPart& part : prefetch->parts) record.bytes += part.size;
}

std::string_view noun(std::string_view words) noexcept {
  for (const std::string_view before : {"a ", "an ", "the ", "kernel "})
    if (words.starts_with(before)) return words.substr(before.size());
  return words;
}

}  // namespace tracing

// Before it gives up its memory objects and its kernel.
void Command::record(cl_int status) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  tracing::CommandRecord record;
  record.command = tracing::idOf(static_cast<Event*>(this));
  record.queue = tracing::idOf(queue());
  record.device = tracing::idOf(hasParts() ? device_ : tracing::workerOf(device_));
  record.queued = times_.queued.load(relaxed);
  record.submitted = times_.submitted.load(relaxed);
  record.started = times_.started.load(relaxed);
  record.ended = times_.ended.load(relaxed);
  record.completed = profiling::now();
  record.type = type();
  record.status = status;
  // A command buffer's commands are recorded, too.
  if (hasParts() || type() == khr::command_command_buffer)
    record.flags |= profiling::trace::flag_has_parts;
  if (submitted_) tracing::describe(work, record);
  describe(record);
  try {
    tracing::write(record, traceName());
  } catch (...) {  // there is no memory for its name
    tracing::write(record, {});
  }
}

void UserEvent::record(cl_int status) noexcept {
  tracing::CommandRecord record;
  record.command = tracing::idOf(static_cast<Event*>(this));
  record.queued = times_.queued.load(std::memory_order_relaxed);
  record.completed = profiling::now();
  record.type = type();
  record.status = status;
  tracing::write(record, "user event");
}

}  // namespace weft
