#include "core/kernel.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/opencl_version.h"
#include "core/pixel_image.h"
#include "core/release_batch.h"
#include "core/sampler.h"

namespace weft {
namespace {

bool sameArgument(const ArgumentInfo& a, const ArgumentInfo& b) {
  return a.kind == b.kind && a.address == b.address && a.access == b.access && a.size == b.size &&
         a.type_name == b.type_name;
}

bool sameDefinition(const KernelInfo& a, const KernelInfo& b) {
  return std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                    sameArgument);
}

// The handle that an argument value holds, null for a null value.
template <class Handle>
Handle handleIn(const void* value) {
  Handle handle = nullptr;
  if (value) std::memcpy(&handle, value, sizeof handle);
  return handle;
}

// The image types of OpenCL C as they stand in an argument's type name.
struct ImageTypeName {
  std::string_view name;
  cl_mem_object_type type;
};
constexpr ImageTypeName image_type_names[] = {
    {"image1d_t", CL_MEM_OBJECT_IMAGE1D},
    {"image1d_buffer_t", CL_MEM_OBJECT_IMAGE1D_BUFFER},
    {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY},
    {"image2d_t", CL_MEM_OBJECT_IMAGE2D},
    {"image2d_depth_t", CL_MEM_OBJECT_IMAGE2D},
    {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY},
    {"image2d_array_depth_t", CL_MEM_OBJECT_IMAGE2D_ARRAY},
    {"image3d_t", CL_MEM_OBJECT_IMAGE3D},
};

const ImageTypeName* findTypeName(std::string_view name) {
  for (const ImageTypeName& row : image_type_names)
    if (row.name == name) return &row;
  return nullptr;
}

size_t maxWorkGroupSize(const Device& device, const DeviceBuild& build, uint32_t kernel) {
  size_t most = device.capabilities().max_work_group_size;
  const auto limit = [&](const port::Module& module, uint32_t index) {
    if (const size_t own = module.maxWorkGroupSize(index)) most = std::min(own, most);
  };
  limit(*build.module, kernel);
  for (const DeviceBuild::MemberCode& member : build.members)
    if (member.module)
      if (const auto index = member.image->find(build.image->kernels[kernel].name))
        limit(*member.module, *index);
  return most;
}

bool fitsLimits(const KernelInfo& info, const port::ImageLimits& limits) {
  const auto images = [&](AccessQualifier access) {
    return std::count_if(info.arguments.begin(), info.arguments.end(), [&](const auto& argument) {
      return argument.kind == ArgumentKind::image && argument.access == access;
    });
  };
  const auto both = images(AccessQualifier::read_write);
  return images(AccessQualifier::read_only) <= limits.read_arguments &&
         images(AccessQualifier::write_only) + both <= limits.write_arguments &&
         both <= limits.read_write_arguments &&
         std::count_if(info.arguments.begin(), info.arguments.end(), [](const auto& argument) {
           return argument.kind == ArgumentKind::sampler;
         }) <= limits.samplers;
}

std::vector<Ref<const DeviceKernel>> findKernel(const Program& program, const std::string& name) {
  std::vector<Ref<const DeviceKernel>> found;
  bool executable = false;
  const Program::Builds builds = program.builds();
  for (size_t d = 0; d < builds.size(); ++d) {
    if (!builds[d]->executable()) continue;
    executable = true;
    const auto index = builds[d]->image->find(name);
    if (!index) continue;
    found.push_back(make<DeviceKernel>(program.devices()[d], builds[d], *index));
    require(sameDefinition(found.front()->info(), found.back()->info()),
            CL_INVALID_KERNEL_DEFINITION, "the kernel's arguments differ between devices");
  }
  require(executable, CL_INVALID_PROGRAM_EXECUTABLE, "the program is not built");
  require(!found.empty(), CL_INVALID_KERNEL_NAME, "the program has no such kernel");
  return found;
}

}  // namespace

DeviceKernel::DeviceKernel(Ref<Device> on, std::shared_ptr<const DeviceBuild> built,
                           uint32_t kernel)
    : device(std::move(on)),
      build(std::move(built)),
      index(kernel),
      max_group(maxWorkGroupSize(*device, *build, index)),
      fits(fitsLimits(info(), device->capabilities().image_limits)),
      accesses(info().arguments) {}

Kernel::Kernel(Ref<Program> program, const std::string& name)
    : program_(std::move(program)),
      name_(name),
      devices_(findKernel(*program_, name)),
      slots_(info().arguments.size()) {}

Kernel::Kernel(const Kernel& other)
    : HandleObject(),
      program_(other.program_),
      name_(other.name_),
      devices_(other.devices_),
      slots_(other.slots_),
      svm_pointers_(other.svm_pointers_),
      usm_pointers_(other.usm_pointers_) {}

// Whoever has ended launches of it has done with the code.
Kernel::~Kernel() {
  for (const Ref<const DeviceKernel>& kernel : devices_) ReleaseBatch::reclaim(*kernel);
}

const DeviceKernel* Kernel::on(const Device& device) const {
  const auto& named = program().devices();
  for (const Device* d = &device; d; d = d->parent()) {
    for (const Ref<const DeviceKernel>& kernel : devices_)
      if (kernel->device.get() == d) return kernel.get();
    if (std::any_of(named.begin(), named.end(), [&](const auto& n) { return n.get() == d; }))
      return nullptr;
  }
  return nullptr;
}

void Kernel::setArgument(cl_uint index, size_t size, const void* value) {
  const auto& arguments = info().arguments;
  require(index < arguments.size(), CL_INVALID_ARG_INDEX);
  Slot& slot = slots_[index];
  switch (arguments[index].kind) {
    case ArgumentKind::value:
      setValue(slot, arguments[index], size, value);
      break;
    case ArgumentKind::local_pointer:
      setLocal(slot, size, value);
      break;
    case ArgumentKind::global_pointer:
    case ArgumentKind::constant_pointer:
      setBuffer(slot, size, value);
      break;
    case ArgumentKind::image:
      setImage(slot, arguments[index], size, value);
      break;
    case ArgumentKind::sampler:
      setSampler(slot, size, value);
      break;
    case ArgumentKind::pipe:
      setPipe(slot, size, value);
      break;
    case ArgumentKind::queue:
      setQueue(slot, size, value);
      break;
  }
}

// "For arguments declared with the local qualifier, the size specified will be the size in bytes of
// the buffer that must be allocated for the local argument [...] arg_value entry must be NULL."
void Kernel::setLocal(Slot& slot, size_t size, const void* value) {
  require(value == nullptr, CL_INVALID_ARG_VALUE, "a local argument has no value");
  // OpenCL 3.1 takes 0.
  require(size > 0 || claims_3_1, CL_INVALID_ARG_SIZE, "a local argument needs a size");
  slot.value.setLocal(size);
}

// "If the argument is a buffer object, the arg_value pointer can be NULL or point to a NULL value
// in which case a NULL value will be used as the value for the argument."
void Kernel::setBuffer(Slot& slot, size_t size, const void* value) {
  require(size == sizeof(cl_mem), CL_INVALID_ARG_SIZE);
  Weak<MemObject> target;
  if (const auto handle = handleIn<cl_mem>(value)) {
    const auto& memory = fromHandle<MemObject>(handle);
    require(&memory.context() == &context(), CL_INVALID_MEM_OBJECT, "a buffer of another context");
    require(memory.type() == CL_MEM_OBJECT_BUFFER, CL_INVALID_MEM_OBJECT, "not a buffer");
    target = memory.weak();
  }
  slot.memory = std::move(target);
  slot.value.setMemory(nullptr);
}

// "CL_INVALID_ARG_VALUE if the argument is an image declared with the read_only qualifier and
// arg_value refers to an image object created with cl_mem_flags of CL_MEM_WRITE_ONLY or if the
// image argument is declared with the write_only qualifier and arg_value refers to an image object
// created with cl_mem_flags of CL_MEM_READ_ONLY."
void Kernel::setImage(Slot& slot, const ArgumentInfo& info, size_t size, const void* value) {
  require(size == sizeof(cl_mem), CL_INVALID_ARG_SIZE);
  const auto& memory = fromHandle<MemObject>(handleIn<cl_mem>(value));
  require(&memory.context() == &context(), CL_INVALID_MEM_OBJECT, "an image of another context");
  require(isImageType(memory.type()), CL_INVALID_MEM_OBJECT, "not an image");
  const ImageTypeName* declared = findTypeName(info.type_name);
  require(!declared || declared->type == memory.type(), CL_INVALID_ARG_VALUE,
          "an image of another type");
  const bool reads = info.access != AccessQualifier::write_only;
  const bool writes =
      info.access == AccessQualifier::write_only || info.access == AccessQualifier::read_write;
  require(!reads || !(memory.flags() & CL_MEM_WRITE_ONLY), CL_INVALID_ARG_VALUE,
          "the kernel reads the image");
  require(!writes || !(memory.flags() & CL_MEM_READ_ONLY), CL_INVALID_ARG_VALUE,
          "the kernel writes the image");
  slot.memory = memory.weak();
  slot.value.setMemory(nullptr);
}

void Kernel::setPipe(Slot& slot, size_t size, const void* value) {
  require(size == sizeof(cl_mem), CL_INVALID_ARG_SIZE);
  const auto& memory = fromHandle<MemObject>(handleIn<cl_mem>(value));
  require(&memory.context() == &context(), CL_INVALID_MEM_OBJECT, "a pipe of another context");
  require(memory.type() == CL_MEM_OBJECT_PIPE, CL_INVALID_MEM_OBJECT, "not a pipe");
  slot.memory = memory.weak();
  slot.value.setMemory(nullptr);
}

// "CL_INVALID_DEVICE_QUEUE for an argument declared to be of type queue_t when the specified
// arg_value is not a valid device queue object."
void Kernel::setQueue(Slot& slot, size_t size, const void* value) {
  require(size == sizeof(cl_command_queue), CL_INVALID_ARG_SIZE);
  DeviceQueue* queue = DeviceQueue::find(handleIn<cl_command_queue>(value));
  require(queue && &queue->context() == &context(), CL_INVALID_DEVICE_QUEUE);
  slot.queue = queue->weak();
  const port::DeviceQueue* port = &queue->port();
  slot.value.setBytes(&port, sizeof port);
}

void Kernel::setSampler(Slot& slot, size_t size, const void* value) {
  require(size == sizeof(cl_sampler), CL_INVALID_ARG_SIZE);
  const auto& sampler = fromHandle<Sampler>(handleIn<cl_sampler>(value));
  require(&sampler.context() == &context(), CL_INVALID_SAMPLER, "a sampler of another context");
  const uint32_t encoding = sampler.encoding();
  slot.value.setBytes(&encoding, sizeof encoding);
}

void Kernel::setValue(Slot& slot, const ArgumentInfo& info, size_t size, const void* value) {
  require(size == info.size, CL_INVALID_ARG_SIZE);
  require(value != nullptr, CL_INVALID_ARG_VALUE, "a by-value argument needs a value");
  slot.value.setBytes(value, size);
}

// "The SVM pointer can only be used for arguments that are declared to be a pointer to global or
// constant memory."
Kernel::Slot& Kernel::pointerSlot(cl_uint index) {
  const auto& arguments = info().arguments;
  require(index < arguments.size(), CL_INVALID_ARG_INDEX);
  const ArgumentKind kind = arguments[index].kind;
  require(kind == ArgumentKind::global_pointer || kind == ArgumentKind::constant_pointer,
          CL_INVALID_ARG_VALUE, "not a pointer to global or constant memory");
  Slot& slot = slots_[index];
  slot.memory = {};
  return slot;
}

void Kernel::setSvmArgument(cl_uint index, const void* pointer) {
  pointerSlot(index).value.setShared(pointer);
}

// "For all devices, any pointer value is valid and may be set as an argument to a kernel."
void Kernel::setUsmArgument(cl_uint index, const void* pointer) {
  pointerSlot(index).value.setAddress(pointer);
}

ArgumentSet Kernel::arguments() const {
  ArgumentSet set{ArgumentValues(slots_.size()), nullptr};
  const bool any_memory = context().sharedMemory() & port::shares_all_memory;
  const auto use = [&](const void* pointer) {
    Ref<SvmAllocation> allocation = context().svm().find(pointer);
    const bool found = static_cast<bool>(allocation);
    if (found) set.addMore().svm.push_back(std::move(allocation));
    return found;
  };
  for (const auto* pointers : {&svm_pointers_, &usm_pointers_})
    for (const void* pointer : *pointers) use(pointer);
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    require(slot.value.isSet(), CL_INVALID_KERNEL_ARGS, "an argument was never set");
    set.values[i] = slot.value;
    const void* const shared = slot.value.shared();
    require(!shared || use(shared) || any_memory || slot.value.mayBeAnyAddress(),
            CL_INVALID_KERNEL_ARGS, "an argument's SVM allocation was freed");
    if (slot.queue) {
      set.addMore().queues.push_back(slot.queue.lock());
      require(static_cast<bool>(set.more->queues.back()), CL_INVALID_KERNEL_ARGS,
              "an argument's queue was released");
    }
    if (!slot.memory) continue;
    Ref<MemObject> memory = slot.memory.lock();
    require(static_cast<bool>(memory), CL_INVALID_KERNEL_ARGS,
            "an argument's memory object was released");
    set.values[i].setMemory(std::move(memory));
  }
  return set;
}

uint64_t Kernel::localArgumentBytes() const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const uint64_t own = slots_[i].value.localBytes();
    if (own == 0) continue;
    const uint64_t alignment = std::max<uint64_t>(1, info().arguments[i].alignment);
    bytes += (own + alignment - 1) / alignment * alignment;
  }
  return bytes;
}

std::vector<Ref<Kernel>> createKernels(Program& program) {
  std::vector<Ref<Kernel>> kernels;
  for (const std::string& name : program.kernelNames()) {
    try {
      kernels.push_back(make<Kernel>(Ref<Program>(&program), name));
    } catch (const Error& error) {
      if (error.code() != CL_INVALID_KERNEL_DEFINITION) throw;
    }
  }
  return kernels;
}

}  // namespace weft
