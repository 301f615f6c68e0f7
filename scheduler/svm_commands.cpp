// Commands on shared virtual memory. Specification 5.6.
#include <algorithm>

#include "core/ports/processors.h"
#include "core/svm.h"
#include "scheduler/command.h"
#include "scheduler/enqueue.h"
#include "scheduler/next_step.h"
#include "scheduler/state.h"
#include "scheduler/work.h"

namespace weft {
namespace {

class SvmCopyCommand final : public NextStep {
 public:
  // `between`: memory of the host's, if one of the ends is that.
  SvmCopyCommand(Queue& queue, SvmCopyWork work, cl_command_type type,
                 std::shared_ptr<std::byte[]> between = nullptr, Ref<Event> first = nullptr)
      : NextStep(queue, type, std::move(first)),
        copy_(std::move(work)),
        between_(std::move(between)) {
    if (Device* other = mover(queue, copy_)) runOn(*other);
  }

  // Whose streams do it instead of the queue's, if any.
  static Device* mover(const Queue& queue, const SvmCopyWork& copy) {
    if (copy.reachedBy(queue.device())) return nullptr;
    return State::of(queue.context()).mover(copy.source.space(), copy.destination.space());
  }

 private:
  bool isDeviceWork() const override { return true; }
  void prepare() override { work = copy_.make(space()); }
  void finalize(cl_int status) noexcept override {
    NextStep::finalize(status);
    copy_.drop();
    between_ = nullptr;
  }

  SvmCopyWork copy_;
  std::shared_ptr<std::byte[]> between_;
};

class SvmFillCommand final : public Command {
 public:
  SvmFillCommand(Queue& queue, SvmFillWork work, cl_command_type type)
      : Command(queue, type), fill_(std::move(work)) {
    if (fill_.home() && !fill_.isOn(queue.device())) runOn(*fill_.home());
  }

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

// Devices that use the same memory may be nearer to some of it than to other. Who maps memory that
// moves is going to look at it, and who unmaps it wants the device to look at what was mapped; of
// little of it that makes no difference. What moves to the host has a GPU move it, whoever's queue
// it is.
class SvmMigrateCommand final : public NextStep {
 public:
  // One of those that a list is made of: what has the same mover.
  struct Request {
    Device* mover = nullptr;
    std::vector<SvmPointer> pointers;
    std::vector<size_t> sizes;
  };

  SvmMigrateCommand(Queue& queue, Request request, cl_mem_migration_flags flags,
                    cl_command_type type, Ref<Event> first)
      : NextStep(queue, type, std::move(first)),
        to_host_(flags & CL_MIGRATE_MEM_OBJECT_HOST),
        held_(std::move(request.pointers)) {
    for (size_t i = 0; i < held_.size(); ++i) {
      SvmAllocation* const own = held_[i].allocation();
      if (!own) continue;
      const size_t bytes = rangeOf(*own, held_[i].address(), request.sizes[i], type);
      if (request.mover && (isAsked(type) || bytes >= least_bytes)) moved_.push_back({i, bytes});
    }
    if (moved_.empty() || request.mover == &queue.device()) return;
    to_host_ = true;
    runOn(*request.mover);
  }

  // Whose streams move it: the queue's device, where it can have it nearer, or one that gives it to
  // the host. Null: it stays where it is.
  static Device* moverOf(const SvmPointer& pointer, Device& device, cl_mem_migration_flags flags,
                         cl_command_type type) {
    if (!pointer.allocation()) return nullptr;
    const port::Capabilities& c = device.capabilities();
    const bool nearer = isAsked(type) && port::hasProcessors(c);
    Device* const by = pointer.allocation()->storage().managedBy();
    if (by && by->capabilities().managed_group == c.managed_group) return &device;
    if (by && !by->port().lost() && (flags & CL_MIGRATE_MEM_OBJECT_HOST || nearer)) return by;
    return nearer ? &device : nullptr;
  }

 private:
  static constexpr size_t least_bytes = size_t(256) << 10;

  struct Moved {
    size_t held;
    size_t bytes;  // 0: the whole allocation
  };

  static bool isAsked(cl_command_type type) {
    return type != CL_COMMAND_SVM_MAP && type != CL_COMMAND_SVM_UNMAP;
  }
  // What a map takes, an unmap gives back.
  static size_t rangeOf(SvmAllocation& own, const void* pointer, size_t size,
                        cl_command_type type) {
    if (type == CL_COMMAND_SVM_MAP) own.map(pointer, size);
    return type == CL_COMMAND_SVM_UNMAP ? own.unmap(pointer) : size;
  }

  bool isDeviceWork() const override { return !moved_.empty(); }
  void prepare() override {
    for (const Moved& moved : moved_) {
      SvmAllocation& allocation = *held_[moved.held].allocation();
      port::Memory* const memory = allocation.storage().find(space());
      if (!memory) continue;
      const size_t offset = moved.bytes ? allocation.offsetOf(held_[moved.held].address()) : 0;
      const bool whole = moved.bytes == 0 || moved.bytes == allocation.size();
      const size_t end = whole ? allocation.size() : offset + moved.bytes;
      if (to_host_)
        allocation.giveToHost(offset, end);
      else
        allocation.leaveHost(offset, end);
      parts_.push_back({memory, offset, whole ? memory->size() : moved.bytes});
    }
    if (!parts_.empty()) work = port::Prefetch{parts_, to_host_};
  }
  void finalize(cl_int status) noexcept override {
    NextStep::finalize(status);
    held_.clear();
  }

  bool to_host_;
  std::vector<SvmPointer> held_;
  std::vector<Moved> moved_;
  std::vector<port::Prefetch::Part> parts_;
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

// Between devices that do not reach each other bytes go through the host's memory.
Ref<Event> enqueueWork(Queue& queue, SvmCopyWork work, WaitList waits, cl_command_type type) {
  if (!work.reachedBy(queue.device()) && !SvmCopyCommand::mover(queue, work)) {
    const std::shared_ptr<std::byte[]> between(new std::byte[work.size]);
    const SvmPointer middle(queue.context(), between.get());
    const Ref<Event> brought = enqueueCommand<SvmCopyCommand>(
        waits, queue, SvmCopyWork{middle, work.source, work.size}, type, between);
    WaitList behind(&brought, 1);
    behind.event_wanted = waits.event_wanted;
    return enqueueCommand<SvmCopyCommand>(
        behind, queue, SvmCopyWork{work.destination, middle, work.size}, type, between, brought);
  }
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
  // There is one even of nothing.
  std::vector<SvmMigrateCommand::Request> requests;
  for (size_t i = 0; i < pointers.size(); ++i) {
    SvmPointer pointer(queue.context(), pointers[i]);
    Device* const mover = SvmMigrateCommand::moverOf(pointer, queue.device(), flags, type);
    auto found = std::ranges::find(requests, mover, &SvmMigrateCommand::Request::mover);
    if (found == requests.end()) found = requests.insert(found, {mover, {}, {}});
    found->pointers.push_back(std::move(pointer));
    found->sizes.push_back(sizes ? sizes[i] : 0);
  }
  Ref<Event> first, last;
  for (SvmMigrateCommand::Request& request : requests) {
    WaitList behind = last ? WaitList(&last, 1) : waits;
    behind.event_wanted = waits.event_wanted;
    last = enqueueCommand<SvmMigrateCommand>(behind, queue, std::move(request), flags, type, first);
    if (!first) first = last;
  }
  return last;
}

Ref<Event> enqueueSvmFree(Queue& queue, std::span<void* const> pointers, SvmFreeFunction function,
                          void* user, WaitList waits) {
  return enqueueCommand<SvmFreeCommand>(waits, queue, pointers, function, user);
}

}  // namespace weft
