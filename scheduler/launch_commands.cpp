// NDRange kernels and native kernels. Specification 5.10, 5.12 (native).
#include <algorithm>
#include <cstring>

#include "core/geometry.h"
#include "core/pixel_image.h"
#include "core/svm.h"
#include "scheduler/command.h"
#include "scheduler/device_family.h"
#include "scheduler/enqueue.h"
#include "scheduler/knowledge.h"
#include "scheduler/launch_command.h"
#include "scheduler/split_launch.h"
#include "scheduler/state.h"
#include "scheduler/whole_launch.h"

namespace weft {
namespace {

class NativeCommand final : public Command {
 public:
  NativeCommand(Queue& queue, NativeFunction function, const void* args, size_t size,
                std::span<const NativeMemory> objects)
      : Command(queue, CL_COMMAND_NATIVE_KERNEL), function_(function) {
    const auto* bytes = static_cast<const std::byte*>(args);
    if (size) args_.assign(bytes, bytes + size);
    for (const NativeMemory& entry : objects)
      objects_.push_back({Ref<MemObject>(entry.object), entry.offset});
  }

 private:
  struct Patch {
    Ref<MemObject> object;
    size_t offset;
  };

  void accesses(AccessList& list) override {
    for (const Patch& patch : objects_)
      if (MemObject* object = patch.object.get())
        list.push_back({object, object->origin(), object->origin() + object->size(), true, true});
  }
  void prepare() override {
    for (const Patch& patch : objects_) {
      void* address = nullptr;
      if (MemObject* object = patch.object.get())
        address = object->storage().in(space()).host() + object->origin();
      std::memcpy(args_.data() + patch.offset, &address, sizeof address);
    }
    work = port::HostCall{[](void* self) { static_cast<NativeCommand*>(self)->call(); }, this};
  }
  void call() { function_(args_.empty() ? nullptr : args_.data()); }
  void finalize(cl_int) noexcept override { objects_.clear(); }

  NativeFunction function_;
  std::vector<std::byte> args_;
  std::vector<Patch> objects_;
};

// "CL_INVALID_OPERATION if SVM pointers are passed as arguments to a kernel and the device does not
// support SVM, or if system pointers are passed as arguments to a kernel [...] and the device does
// not support fine-grain system SVM allocations."
void checkSharedMemory(const ArgumentSet& arguments, const Context& context, const Device& on) {
  if (arguments.more)
    for (const Ref<SvmAllocation>& allocation : arguments.more->svm)
      require(allocation->usableBy(on), CL_INVALID_OPERATION, "memory of another device's own");
  const port::Capabilities& device = on.capabilities();
  if (device.shared_memory & port::shares_all_memory) return;
  require(!arguments.usesSvm() || device.shared_memory != port::shares_nothing,
          CL_INVALID_OPERATION, "the device does not support shared virtual memory");
  for (const ArgumentValue& value : arguments.values)
    require(!value.shared() || value.mayBeAnyAddress() || context.svm().find(value.shared()),
            CL_INVALID_OPERATION, "the device cannot use any memory of the host");
}

// "CL_MISALIGNED_SUB_BUFFER_OFFSET if a kernel argument for kernel is a sub-buffer object and the
// offset [...] is not aligned to CL_DEVICE_MEM_BASE_ADDR_ALIGN for the device."
// "CL_INVALID_IMAGE_SIZE if an image object is specified as an argument value to kernel and the
// image dimensions [...] are not supported by device associated with queue."
void checkMemory(const ArgumentSet& arguments, const port::Capabilities& device) {
  for (const ArgumentValue& value : arguments.values) {
    const MemObject* memory = value.memory();
    if (!memory) continue;
    require(memory->origin() == 0 || memory->origin() % device.base_address_alignment_bytes == 0,
            CL_MISALIGNED_SUB_BUFFER_OFFSET, "a sub-buffer's origin");
    if (isImageType(memory->type()))
      require(static_cast<const PixelImage&>(*memory).shape().fits(device.image_limits),
              CL_INVALID_IMAGE_SIZE, "an image larger than the device's");
  }
}

// A kernel that enqueues others, on a device whose kernels cannot call the host.
class FamilyLaunch final : public LaunchCommand {
 public:
  using LaunchCommand::LaunchCommand;

 private:
  // Its end is the host's to tell.
  bool isDeviceWork() const override { return false; }
  bool neverBegan() const override {
    return port::Operation::refused.load(std::memory_order_relaxed);
  }
  void submitTo(port::Stream& own) noexcept override {
    port::Stream& others = queue()->outOfOrder() ? own : *others_;
    DeviceFamily::run(*this, context(), *launch().kernel, {own, others});
  }
  void prepare() override {
    LaunchCommand::prepare();
    if (!queue()->outOfOrder()) others_ = &State::of(context()).familyStream(device());
  }

  port::Stream* others_ = nullptr;
};

}  // namespace

LaunchCommand::LaunchCommand(Queue& queue, cl_command_type type, LaunchWork&& work)
    : Command(queue, type), launch_(std::move(work)) {}

void LaunchCommand::prepare() {
  arguments_.clear();
  arguments_.resize(launch_.arguments.values.size());
  relocate(arguments_);
  work = launch_.make(space(), code(), box(), arguments_);
  auto* const launch = std::get_if<port::Launch>(&work);
  if (!launch || !launch_.arguments.usesSvm()) return;
  auto moved = launch_.noteMoves(device());
  if (moved.empty()) return;
  moved_ = std::make_unique<std::vector<port::MemoryPart>>(std::move(moved));
  launch->prefetch = *moved_;
}

// Some of what it enqueued may have waited for what could not happen.
bool LaunchCommand::ranDespite(cl_int status) const {
  return status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && launch_.info().uses_device_queue;
}

void LaunchCommand::finalize(cl_int) noexcept {
  launch_.drop();
  LaunchArguments().swap(arguments_);  // with its memory, before the event is released
  moved_ = nullptr;
}

LaunchWork LaunchWork::check(const Queue& queue, const Kernel& kernel, const NDRange& range) {
  const DeviceKernel* code = kernel.on(queue.device());
  require(code != nullptr, CL_INVALID_PROGRAM_EXECUTABLE, "not built for the queue's device");
  // "... if the number of read-only image args used in kernel exceed the
  // CL_DEVICE_MAX_READ_IMAGE_ARGS value for device", and so for the others.
  require(code->fits, CL_OUT_OF_RESOURCES, "more images or samplers than the device takes");
  LaunchWork launch{Ref<const DeviceKernel>(code), kernel.arguments(), {}};
  ArgumentSet& arguments = launch.arguments;
  const port::Capabilities& device = queue.device().capabilities();
  checkMemory(arguments, device);
  checkSharedMemory(arguments, queue.context(), queue.device());
  launch.record = makeLaunchRecord(range, code->info(), device, code->max_group);
  // "... if the amount of local memory ... exceeds CL_DEVICE_LOCAL_MEM_SIZE."
  require(code->info().local_bytes + kernel.localArgumentBytes() <= device.local_memory_bytes,
          CL_OUT_OF_RESOURCES, "the kernel needs more local memory than the device has");
  if (code->info().uses_device_queue)
    arguments.addMore().default_queue = queue.context().defaultQueues().of(queue.device());
  return launch;
}

std::array<size_t, 3> suggestLocalSize(const Queue& queue, const Kernel& kernel,
                                       const NDRange& range) {
  NDRange suggested = range;
  suggested.local_is_suggestion = true;
  const LaunchWork launch = LaunchWork::check(queue, kernel, suggested);
  const port::LaunchRecord& record = launch.record;
  const auto* end = record.global_size + range.dimensions;
  require(std::find(record.global_size, end, 0u) == end, CL_INVALID_GLOBAL_WORK_SIZE);
  std::array<size_t, 3> local{};
  std::copy_n(record.local_size, local.size(), local.begin());
  return local;
}

Ref<Event> enqueueLaunch(Queue& queue, Kernel& kernel, const NDRange& range, WaitList waits,
                         cl_command_type type) {
  LaunchWork launch = LaunchWork::check(queue, kernel, range);
  // Here rather than when the device comes to it: loading code takes the dynamic loader's lock, and
  // this thread may hold that, in an initialiser of a library, and wait for the device.
  require(launch.kernel->module().prepare(launch.kernel->index), CL_OUT_OF_RESOURCES,
          "the kernel's code could not be made");
  return enqueueWork(queue, type, std::move(launch), waits);
}

Ref<Event> enqueueWork(Queue& queue, cl_command_type type, LaunchWork&& launch, WaitList waits) {
  const auto whole = [&](WaitList after) {
    return enqueueCommand<LaunchCommand>(after, queue, type, LaunchWork(launch));
  };
  if (balances(queue)) {
    const DeviceKernel& code = *launch.kernel;
    const auto experience = Experience::of({queue.device(), code, launch.record}, code);
    if (auto split = enqueueSplit(waits, queue, type, code, experience, launch.arguments,
                                  launch.record, whole))
      return split;
    if (auto placed = enqueueWhole(waits, queue, type, experience, launch)) return placed;
  }
  if (launch.isFamily(queue.device()))
    return enqueueCommand<FamilyLaunch>(waits, queue, type, std::move(launch));
  return enqueueCommand<LaunchCommand>(waits, queue, type, std::move(launch));
}

Ref<Event> enqueueNative(Queue& queue, NativeFunction function, const void* args, size_t size,
                         std::span<const NativeMemory> objects, WaitList waits) {
  require(queue.device().capabilities().native_kernels, CL_INVALID_OPERATION,
          "the device runs no native kernels");
  return enqueueCommand<NativeCommand>(waits, queue, function, args, size, objects);
}

}  // namespace weft
