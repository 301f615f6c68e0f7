// What commands do, whenever they do it: the same for a command of a queue and for one that was
// recorded in a command buffer. `accesses` says what is touched; `make` gives the operation for a
// memory space in which all of that has its memory, or nothing when there is nothing to do.
#pragma once

#include <array>
#include <memory>

#include "core/kernel.h"
#include "core/release_batch.h"
#include "core/svm.h"
#include "scheduler/command.h"
#include "scheduler/enqueue.h"

namespace weft {

// One end of a copy: bytes of an object, or of host memory.
struct CopyEnd {
  Ref<MemObject> object;
  std::byte* host = nullptr;
  size_t offset = 0;  // from the object's own start
  RectLayout pitches{};

  static CopyEnd linear(MemObject& object, size_t offset) {
    return {Ref<MemObject>(&object), nullptr, offset};
  }
  static CopyEnd linear(const void* host) {
    return {nullptr, static_cast<std::byte*>(const_cast<void*>(host))};
  }
  static CopyEnd rect(MemObject& object, const RectLayout& layout) {
    return {Ref<MemObject>(&object), nullptr, layout.offset(), layout};
  }
  static CopyEnd rect(const void* host, const RectLayout& layout) {
    return {nullptr, static_cast<std::byte*>(const_cast<void*>(host)), layout.offset(), layout};
  }

  port::Location in(port::MemorySpace space) const;
};

struct CopyWork {
  CopyEnd source;
  CopyEnd destination;
  Region region;

  // As a command, from memory object to memory object.
  cl_command_type type() const;
  void accesses(AccessList& list) const;
  port::Operation::Work make(port::MemorySpace space) const {
    return port::Copy{source.in(space), destination.in(space), region};
  }
  void drop() {
    MemObject::giveUp(std::move(source.object));
    MemObject::giveUp(std::move(destination.object));
  }
};

struct FillWork {
  FillWork(MemObject& filled, const void* pattern, size_t pattern_size, const RectLayout& layout,
           const Region& region);

  cl_command_type type() const;
  void accesses(AccessList& list) const;
  // Points at the pattern.
  port::Operation::Work make(port::MemorySpace space) const;
  void drop() { MemObject::giveUp(std::move(object_)); }

 private:
  size_t begin() const { return object_->origin() + layout_.offset(); }

  Ref<MemObject> object_;
  RectLayout layout_;
  Region region_;
  std::array<std::byte, 128> pattern_{};
  size_t pattern_size_;
};

// An address in an allocation of shared virtual memory, which is kept, or elsewhere in the host's.
class SvmPointer {
 public:
  SvmPointer(const Context& context, const void* address)
      : address_(static_cast<std::byte*>(const_cast<void*>(address))),
        allocation_(context.svm().find(address)) {}

  port::Location in(port::MemorySpace space) const;
  std::byte* address() const { return address_; }
  SvmAllocation* allocation() const { return allocation_.get(); }
  // The device whose memory it is in; null: the host's.
  Device* home() const { return allocation_ ? allocation_->home() : nullptr; }
  port::MemorySpace space() const {
    return home() ? home()->capabilities().memory_space : port::host_space;
  }
  void drop() { allocation_ = nullptr; }

 private:
  std::byte* address_;
  Ref<SvmAllocation> allocation_;
};

// Shared virtual memory never moves: residency has nothing to know.
struct SvmCopyWork {
  SvmPointer destination;
  SvmPointer source;
  size_t size;

  void accesses(AccessList&) const {}
  // Can streams of the device do it?
  bool reachedBy(const Device& device) const {
    return device.port().reaches(source.space()) && device.port().reaches(destination.space());
  }
  port::Operation::Work make(port::MemorySpace space) const;
  void drop() {
    destination.drop();
    source.drop();
  }
};

struct SvmFillWork {
  SvmFillWork(const Context& context, void* pointer, const void* pattern, size_t pattern_size,
              size_t size);

  void accesses(AccessList&) const {}
  // The device whose own memory it fills; null: the host's.
  Device* home() const { return target_.home(); }
  bool isOn(const Device& device) const {
    return target_.space() == device.capabilities().memory_space;
  }
  // Points at the pattern, and at `imported` where the memory is no allocation.
  port::Operation::Work make(port::MemorySpace space, Device& device,
                             std::unique_ptr<port::Memory>& imported) const;
  void drop() { target_.drop(); }

 private:
  SvmPointer target_;
  size_t size_;
  size_t pattern_size_;
  std::array<std::byte, 128> pattern_{};
};

using LaunchArguments = pool::Vector<port::LaunchArgument>;

struct LaunchWork {
  Ref<const DeviceKernel> kernel;
  ArgumentSet arguments;
  port::LaunchRecord record;

  // The launch of `kernel` on the queue's device. Throws as enqueueLaunch() does.
  static LaunchWork check(const Queue& queue, const Kernel& kernel, const NDRange& range);

  const KernelInfo& info() const { return kernel->info(); }
  // Does the kernel enqueue others that the host has to start (device_family.h)?
  bool isFamily(const Device& device) const {
    return info().uses_device_queue && !device.capabilities().calls_host;
  }
  port::GroupBox wholeBox() const;
  void accesses(AccessList& list) const;
  // The kernel's code on a device.
  struct Code {
    port::Module& module;
    uint32_t kernel;
  };
  Code code() const { return {kernel->module(), kernel->index}; }
  // Points at `record` and at the arguments, for which there is `room`: empty, or with the memory
  // and the offset of those that have other memory than their objects'.
  port::Operation::Work make(port::MemorySpace space, Code code, const port::GroupBox& box,
                             LaunchArguments& room) const;
  // Who has what of managed memory once the launch has run on the device, and what of it comes
  // there from the host.
  std::vector<port::MemoryPart> noteMoves(const Device& device) const;
  void drop() {
    arguments.clear();
    ReleaseBatch::give(std::move(kernel));
  }
};

// As enqueueLaunch() does, of a launch that was checked for the queue's device.
Ref<Event> enqueueWork(Queue& queue, cl_command_type type, LaunchWork&& launch, WaitList waits);
Ref<Event> enqueueWork(Queue& queue, cl_command_type type, CopyWork work, WaitList waits);
Ref<Event> enqueueWork(Queue& queue, cl_command_type type, FillWork work, WaitList waits);
Ref<Event> enqueueWork(Queue& queue, SvmCopyWork work, WaitList waits,
                       cl_command_type type = CL_COMMAND_SVM_MEMCPY);
Ref<Event> enqueueWork(Queue& queue, SvmFillWork work, WaitList waits,
                       cl_command_type type = CL_COMMAND_SVM_MEMFILL);

}  // namespace weft
