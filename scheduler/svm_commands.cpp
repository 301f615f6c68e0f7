// Commands on shared virtual memory. Specification 5.6.
#include "core/ports/processors.h"
#include "core/svm.h"
#include "scheduler/command.h"
#include "scheduler/enqueue.h"
#include "scheduler/work.h"

namespace weft {
namespace {

class SvmCopyCommand final : public Command {
 public:
  SvmCopyCommand(Queue& queue, SvmCopyWork work, cl_command_type type)
      : Command(queue, type), copy_(std::move(work)) {}

 private:
  bool isDeviceWork() const override { return true; }
  void prepare() override { work = copy_.make(space()); }
  void finalize(cl_int) noexcept override { copy_.drop(); }

  SvmCopyWork copy_;
};

class SvmFillCommand final : public Command {
 public:
  SvmFillCommand(Queue& queue, SvmFillWork work, cl_command_type type)
      : Command(queue, type), fill_(std::move(work)) {}

 private:
  bool isDeviceWork() const override { return true; }
  void prepare() override { work = fill_.make(space(), queue()->device(), imported_); }
  void finalize(cl_int) noexcept override {
    fill_.drop();
    imported_ = nullptr;
  }

  SvmFillWork fill_;
  std::unique_ptr<port::Memory> imported_;
};

class SvmSyncCommand final : public Command {
 public:
  SvmSyncCommand(Queue& queue, cl_command_type type, std::span<const void* const> pointers)
      : Command(queue, type) {
    for (const void* pointer : pointers) held_.emplace_back(queue.context(), pointer);
  }

 private:
  void finalize(cl_int) noexcept override { held_.clear(); }

  std::vector<SvmPointer> held_;
};

// Devices that use the same memory may be nearer to some of it than to other. What moves is whole
// allocations: a part would leave the rest without anybody who uses it first.
class SvmMigrateCommand final : public Command {
 public:
  SvmMigrateCommand(Queue& queue, std::span<const void* const> pointers, const size_t* sizes,
                    cl_mem_migration_flags flags, cl_command_type type)
      : Command(queue, type) {
    const bool moves =
        !(flags & CL_MIGRATE_MEM_OBJECT_HOST) && port::hasProcessors(queue.device().capabilities());
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
    for (const SvmPointer& pointer : moved_)
      if (port::Memory* memory = pointer.allocation()->storage().find(space()))
        queue()->device().port().bringNear(*memory);
  }
  void finalize(cl_int) noexcept override {
    held_.clear();
    moved_.clear();
  }

  std::vector<SvmPointer> held_, moved_;
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

Ref<Event> enqueueWork(Queue& queue, SvmCopyWork work, WaitList waits, cl_command_type type) {
  return enqueueCommand<SvmCopyCommand>(waits, queue, std::move(work), type);
}

Ref<Event> enqueueWork(Queue& queue, SvmFillWork work, WaitList waits, cl_command_type type) {
  return enqueueCommand<SvmFillCommand>(waits, queue, std::move(work), type);
}

Ref<Event> enqueueSvmCopy(Queue& queue, void* destination, const void* source, size_t size,
                          WaitList waits) {
  const Context& context = queue.context();
  return enqueueWork(queue, SvmCopyWork{{context, destination}, {context, source}, size}, waits);
}

Ref<Event> enqueueSvmFill(Queue& queue, void* pointer, const void* pattern, size_t pattern_size,
                          size_t size, WaitList waits) {
  return enqueueWork(queue, SvmFillWork(queue.context(), pointer, pattern, pattern_size, size),
                     waits);
}

Ref<Event> enqueueSvmSync(Queue& queue, cl_command_type type, std::span<const void* const> pointers,
                          WaitList waits) {
  return enqueueCommand<SvmSyncCommand>(waits, queue, type, pointers);
}

Ref<Event> enqueueSvmMigrate(Queue& queue, std::span<const void* const> pointers,
                             const size_t* sizes, cl_mem_migration_flags flags, WaitList waits,
                             cl_command_type type) {
  return enqueueCommand<SvmMigrateCommand>(waits, queue, pointers, sizes, flags, type);
}

Ref<Event> enqueueSvmFree(Queue& queue, std::span<void* const> pointers, SvmFreeFunction function,
                          void* user, WaitList waits) {
  return enqueueCommand<SvmFreeCommand>(waits, queue, pointers, function, user);
}

}  // namespace weft
