// What a family is made of; for its own files.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/context.h"
#include "core/error.h"
#include "core/reaper.h"
#include "profiling/clock.h"
#include "scheduler/device_family.h"
#include "scheduler/state.h"

namespace weft {

// Of what families put into memory of their own; no block asks for more.
inline constexpr size_t family_alignment = 128;

// From within a handler.
inline cl_int currentFailure() noexcept try { throw; } catch (const Error& error) {
  return error.code();
} catch (...) {
  return CL_OUT_OF_HOST_MEMORY;
}

// The operation does not begin.
inline void refuse(port::Operation& operation, port::OperationStatus status) noexcept {
  const port::Nanoseconds time = profiling::now();
  operation.refused.store(true, std::memory_order_relaxed);
  if (operation.wants_start) operation.started(time);
  operation.finished(status, time, time);
}

// Given back by the reaper's thread where the last to have it tells of ends: what a driver frees
// may wait for all that the device is at. Who finds too little memory meanwhile waits for it.
class DeviceFamily::OwnMemory final : public Object {
 public:
  OwnMemory(Context& context, std::unique_ptr<port::Memory> memory)
      : context_(&context), memory_(std::move(memory)) {}
  port::Memory& get() const noexcept { return *memory_; }

 private:
  void dispose() noexcept override {
    State::of(*context_).memoryTraffic().enter();
    reap(this, [](Object* object) {
      auto* const self = static_cast<OwnMemory*>(object);
      self->memory_ = nullptr;
      MemoryTraffic& traffic = State::of(*self->context_).memoryTraffic();
      traffic.noteRelease();
      traffic.leave();
      delete self;
    });
  }

  const Ref<Context> context_;
  std::unique_ptr<port::Memory> memory_;
};

struct DeviceFamily::Kernel : port::Operation {
  explicit Kernel(DeviceFamily& owner) : family(owner) {}

  void started(port::Nanoseconds) noexcept override {}
  void finished(port::OperationStatus result, port::Nanoseconds begun,
                port::Nanoseconds ended) noexcept override {
    family.ended(*this, result, begun, ended);
  }
  // What counts it, and what it enqueues.
  virtual CommandScope& scope() noexcept = 0;
  virtual EnqueuedCommand* command() noexcept = 0;

  DeviceFamily& family;
  port::LaunchRecord record;
  std::vector<port::LaunchArgument> arguments;
  bool writes = true;  // to the journal
  port::OperationStatus status = 0;
  port::Nanoseconds start = 0, end = 0;

 protected:
  ~Kernel() = default;
};

// The one that the host enqueued.
struct DeviceFamily::Root final : Kernel {
  using Kernel::Kernel;
  void started(port::Nanoseconds when) noexcept override { family.whole_.started(when); }
  CommandScope& scope() noexcept override { return family.outermost(); }
  EnqueuedCommand* command() noexcept override { return nullptr; }

  std::vector<uint64_t> words;  // arguments of other values than the host gave
  Ref<OwnMemory> images;
};

// A command that a kernel enqueued. What it takes of its queue's room is given back with it.
struct DeviceFamily::Child final : Kernel, EnqueuedCommand {
  Child(DeviceFamily& family, port::DeviceQueue& own_queue, uint64_t bytes)
      : Kernel(family), queue(own_queue), room(bytes) {
    queue.takeAnyway(room);
  }
  ~Child() override { queue.give(room); }
  bool hasWork() const noexcept override { return !std::holds_alternative<std::monostate>(work); }
  CommandScope& scope() noexcept override { return *within; }
  EnqueuedCommand* command() noexcept override { return this; }

  port::DeviceQueue& queue;
  const uint64_t room;
  uint64_t block_address = 0;
  Ref<OwnMemory> block;
};

// Something that kernels are behind, whatever they are.
struct DeviceFamily::Step : port::Operation {
  explicit Step(DeviceFamily& owner) : family(owner) {
    timed = wants_start = false;
    awaited = true;
  }
  virtual ~Step() = default;
  void started(port::Nanoseconds) noexcept override {}
  void finished(port::OperationStatus status, port::Nanoseconds,
                port::Nanoseconds) noexcept override {
    family.stepped(*this, status);
  }

  DeviceFamily& family;
  std::shared_ptr<Step> before;
};

// Bytes on their way to the device.
struct DeviceFamily::Upload final : Step {
  Upload(DeviceFamily& owner, const Ref<OwnMemory>& target, uint64_t offset,
         std::vector<std::byte> contents)
      : Step(owner), memory(target), bytes(std::move(contents)) {
    port::Copy copy;
    copy.source.host = const_cast<std::byte*>(bytes.data());
    copy.destination.memory = &memory->get();
    copy.destination.offset = offset;
    copy.region = {bytes.size(), 1, 1};
    work = copy;
  }

  const Ref<OwnMemory> memory;
  const std::vector<std::byte> bytes;
};

// What capture_event_profiling_info() promised, written by the device: only it knows where any
// address of a kernel's leads.
struct DeviceFamily::ProfileWriting final : Step {
  ProfileWriting(DeviceFamily& owner, uint32_t kernel, uint64_t address,
                 DeviceEvent::Profile profile)
      : Step(owner), values{address, profile.run, profile.whole} {
    for (size_t i = 0; i < values.size(); ++i) {
      arguments[i].value = &values[i];
      arguments[i].size = sizeof values[i];
    }
    work = port::Launch{&owner.code_.module(), kernel, &record, {}, arguments, nullptr};
  }

  const std::array<uint64_t, 3> values;
  std::array<port::LaunchArgument, 3> arguments;
  const port::LaunchRecord record;
};

// A part of the journal on its way to the host.
struct DeviceFamily::Reading final : port::Operation {
  explicit Reading(DeviceFamily& owner) : family(owner) { timed = wants_start = false; }
  void started(port::Nanoseconds) noexcept override {}
  void finished(port::OperationStatus result, port::Nanoseconds,
                port::Nanoseconds) noexcept override {
    family.wasRead(result);
  }
  void prepare(port::Memory& memory, size_t offset, std::span<std::byte> part) {
    port::Copy copy;
    copy.source.memory = &memory;
    copy.source.offset = offset;
    copy.destination.host = part.data();
    copy.region = {part.size(), 1, 1};
    work = copy;
  }

  DeviceFamily& family;
};

template <class T, class... Arguments>
std::shared_ptr<T> DeviceFamily::addStep(Arguments&&... arguments) {
  auto made = std::make_shared<T>(*this, std::forward<Arguments>(arguments)...);
  steps_.push_back(made);
  try {
    orders_.steps.push_back(made);
  } catch (...) {
    steps_.pop_back();
    throw;
  }
  made->before = std::exchange(last_step_, made);
  ++in_flight_;
  return made;
}

}  // namespace weft
