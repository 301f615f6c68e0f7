// Commands on shared virtual memory. Specification 5.6.
#include <cstring>

#include "core/svm.h"
#include "scheduler/command.h"
#include "scheduler/enqueue.h"

namespace weft {
namespace {

// An address in an allocation, which the command keeps, or elsewhere in the host's memory.
class Pointer {
 public:
  Pointer(const Context& context, const void* address)
      : address_(static_cast<std::byte*>(const_cast<void*>(address))),
        allocation_(context.svm().find(address)) {}

  port::Location in(port::MemorySpace space) const {
    port::Location location;
    if (allocation_ && space != port::host_space) {
      location.memory = &allocation_->storage().in(space);
      location.offset = allocation_->offsetOf(address_);
    } else {
      location.host = address_;
    }
    return location;
  }

  std::byte* address() const { return address_; }
  SvmAllocation* allocation() const { return allocation_.get(); }
  void drop() { allocation_ = nullptr; }

 private:
  std::byte* address_;
  Ref<SvmAllocation> allocation_;
};

class SvmCopyCommand final : public Command {
 public:
  SvmCopyCommand(Queue& queue, void* destination, const void* source, size_t size)
      : Command(queue, CL_COMMAND_SVM_MEMCPY),
        destination_(queue.context(), destination),
        source_(queue.context(), source),
        size_(size) {}

 private:
  void prepare() override {
    if (size_) work = port::Copy{source_.in(space()), destination_.in(space()), {size_, 1, 1}};
  }
  void finalize(cl_int) noexcept override {
    destination_.drop();
    source_.drop();
  }

  Pointer destination_;
  Pointer source_;
  size_t size_;
};

class SvmFillCommand final : public Command {
 public:
  SvmFillCommand(Queue& queue, void* pointer, const void* pattern, size_t pattern_size, size_t size)
      : Command(queue, CL_COMMAND_SVM_MEMFILL),
        target_(queue.context(), pointer),
        size_(size),
        pattern_size_(pattern_size) {
    std::memcpy(pattern_.data(), pattern, pattern_size);
  }

 private:
  void prepare() override {
    if (!size_) return;
    if (SvmAllocation* allocation = target_.allocation()) {
      work = port::Fill{&allocation->storage().in(space()), allocation->offsetOf(target_.address()),
                        size_, pattern_.data(), pattern_size_};
      return;
    }
    imported_ = queue()->device().port().import(target_.address(), size_);
    require(imported_ != nullptr, CL_OUT_OF_RESOURCES, "the device cannot reach this memory");
    work = port::Fill{imported_.get(), 0, size_, pattern_.data(), pattern_size_};
  }
  void finalize(cl_int) noexcept override {
    target_.drop();
    imported_ = nullptr;
  }

  Pointer target_;
  std::unique_ptr<port::Memory> imported_;
  size_t size_;
  std::array<std::byte, 128> pattern_{};
  size_t pattern_size_;
};

class SvmSyncCommand final : public Command {
 public:
  SvmSyncCommand(Queue& queue, cl_command_type type, std::span<const void* const> pointers)
      : Command(queue, type) {
    for (const void* pointer : pointers) held_.emplace_back(queue.context(), pointer);
  }

 private:
  void finalize(cl_int) noexcept override { held_.clear(); }

  std::vector<Pointer> held_;
};

// Devices that use the same memory may be nearer to some of it than to other. What moves is whole
// allocations: a part would leave the rest without anybody who uses it first.
class SvmMigrateCommand final : public Command {
 public:
  SvmMigrateCommand(Queue& queue, std::span<const void* const> pointers, const size_t* sizes,
                    cl_mem_migration_flags flags)
      : Command(queue, CL_COMMAND_SVM_MIGRATE_MEM) {
    const bool moves =
        !(flags & CL_MIGRATE_MEM_OBJECT_HOST) && !queue.device().capabilities().units.empty();
    for (size_t i = 0; i < pointers.size(); ++i) {
      const SvmAllocation* own = held_.emplace_back(queue.context(), pointers[i]).allocation();
      const bool whole = own && (!sizes || sizes[i] == 0 || sizes[i] == own->size());
      if (moves && whole) moved_.push_back(held_.back());
    }
  }

 private:
  void prepare() override {
    if (moved_.empty()) return;
    work = port::HostCall{[](void* self) { static_cast<SvmMigrateCommand*>(self)->bringNear(); },
                          this};
  }
  void bringNear() noexcept {
    for (const Pointer& pointer : moved_)
      if (port::Memory* memory = pointer.allocation()->storage().find(space()))
        queue()->device().port().bringNear(*memory);
  }
  void finalize(cl_int) noexcept override {
    held_.clear();
    moved_.clear();
  }

  std::vector<Pointer> held_, moved_;
};

// The application's function runs on a thread of the device, like a native kernel, so that what
// comes behind the command finds the memory freed.
class SvmFreeCommand final : public Command {
 public:
  SvmFreeCommand(Queue& queue, std::span<void* const> pointers, SvmFreeFunction function,
                 void* user)
      : Command(queue, CL_COMMAND_SVM_FREE),
        pointers_(pointers.begin(), pointers.end()),
        function_(function),
        user_(user) {}

 private:
  void prepare() override {
    if (function_)
      work = port::HostCall{[](void* self) { static_cast<SvmFreeCommand*>(self)->call(); }, this};
    else
      for (void* pointer : pointers_) context().svm().free(pointer);
  }
  void call() {
    function_(queue()->handle(), static_cast<cl_uint>(pointers_.size()),
              pointers_.empty() ? nullptr : pointers_.data(), user_);
  }

  std::vector<void*> pointers_;
  SvmFreeFunction function_;
  void* user_;
};

}  // namespace

Ref<Event> enqueueSvmCopy(Queue& queue, void* destination, const void* source, size_t size,
                          WaitList waits) {
  return enqueueCommand<SvmCopyCommand>(waits, queue, destination, source, size);
}

Ref<Event> enqueueSvmFill(Queue& queue, void* pointer, const void* pattern, size_t pattern_size,
                          size_t size, WaitList waits) {
  return enqueueCommand<SvmFillCommand>(waits, queue, pointer, pattern, pattern_size, size);
}

Ref<Event> enqueueSvmSync(Queue& queue, cl_command_type type, std::span<const void* const> pointers,
                          WaitList waits) {
  return enqueueCommand<SvmSyncCommand>(waits, queue, type, pointers);
}

Ref<Event> enqueueSvmMigrate(Queue& queue, std::span<const void* const> pointers,
                             const size_t* sizes, cl_mem_migration_flags flags, WaitList waits) {
  return enqueueCommand<SvmMigrateCommand>(waits, queue, pointers, sizes, flags);
}

Ref<Event> enqueueSvmFree(Queue& queue, std::span<void* const> pointers, SvmFreeFunction function,
                          void* user, WaitList waits) {
  return enqueueCommand<SvmFreeCommand>(waits, queue, pointers, function, user);
}

}  // namespace weft
