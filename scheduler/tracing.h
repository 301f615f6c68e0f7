// What the scheduler tells a recording of the process (profiling/trace_writer.h, docs/tracing.md).
#pragma once

#include <string_view>

#include "core/device.h"
#include "core/ports/device.h"
#include "profiling/trace_writer.h"

namespace weft {

class Event;
class Queue;

namespace tracing {

using profiling::trace::CommandRecord;

inline bool on() noexcept { return profiling::TraceWriter::active() != nullptr; }

void noteDevice(const Device& device) noexcept;
void noteQueue(const Queue& queue) noexcept;
void noteDependency(const Event& command, const Event& other) noexcept;

// What an operation does: bytes, or work-items and groups.
void describe(const port::Operation::Work& work, CommandRecord& record) noexcept;
// Who does what a device is told to, or has its memory: of a unified device its first member.
const Device* workerOf(const Device* device) noexcept;
inline uint64_t idOf(const void* object) noexcept { return reinterpret_cast<uint64_t>(object); }
// Without what a sentence would have before it.
std::string_view noun(std::string_view words) noexcept;
inline void write(const CommandRecord& record, std::string_view what) noexcept {
  if (auto* const writer = profiling::TraceWriter::active()) writer->write(record, noun(what));
}

}  // namespace tracing
}  // namespace weft
