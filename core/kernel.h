// cl_kernel: an entry of a program, and the arguments of its next launch. Specification 5.9.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/access_cache.h"
#include "core/argument.h"
#include "core/handle.h"
#include "core/image.h"
#include "core/pool.h"
#include "core/program.h"

namespace weft {

// The kernel on one device. Immutable; launches keep it.
struct DeviceKernel final : Object {
  DeviceKernel(Ref<Device> on, std::shared_ptr<const DeviceBuild> built, uint32_t kernel);

  // Not in the line of the count, which each launch writes.
  alignas(pool::line_bytes) Ref<Device> device;
  std::shared_ptr<const DeviceBuild> build;  // keeps the module loaded
  uint32_t index;                            // into build->image->kernels
  size_t max_group;                          // CL_KERNEL_WORK_GROUP_SIZE
  bool fits;  // has no more image and sampler arguments than the device takes
  AccessCache accesses;

  const KernelInfo& info() const { return build->image->kernels[index]; }
  port::Module& module() const { return *build->module; }
};

// Setting arguments is not thread-safe for one kernel (specification 5.9.2, and A.2); all else is.
class Kernel final : public HandleObject<_cl_kernel> {
 public:
  // Throws CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_KERNEL_NAME, CL_INVALID_KERNEL_DEFINITION.
  Kernel(Ref<Program> program, const std::string& name);
  // clCloneKernel: same code, same argument values.
  Kernel(const Kernel& other);

  Program& program() const { return *program_; }
  Context& context() const { return program().context(); }
  const std::string& name() const { return name_; }
  // Of the first device that has the kernel; arguments are the same on all.
  const KernelInfo& info() const { return devices_.front()->info(); }
  // Null when the program has no executable with this kernel for the device. A sub-device that the
  // program does not name uses its parent's.
  const DeviceKernel* on(const Device& device) const;
  const std::vector<Ref<const DeviceKernel>>& devices() const { return devices_; }

  // clSetKernelArg, with all its checks. Throws CL_INVALID_ARG_INDEX, _VALUE, _SIZE,
  // CL_INVALID_MEM_OBJECT, CL_INVALID_SAMPLER, CL_INVALID_DEVICE_QUEUE.
  void setArgument(cl_uint index, size_t size, const void* value);

  // clSetKernelArgSVMPointer; likewise. Throws CL_INVALID_ARG_INDEX, _VALUE.
  void setSvmArgument(cl_uint index, const void* pointer);
  // clSetKernelArgMemPointerINTEL; the same with any pointer.
  void setUsmArgument(cl_uint index, const void* pointer);
  // CL_KERNEL_EXEC_INFO_SVM_PTRS: what launches use besides their arguments; replaces what was set.
  void setSvmPointers(std::vector<const void*> pointers) { svm_pointers_ = std::move(pointers); }
  // CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL: the same, of unified shared memory.
  void setUsmPointers(std::vector<const void*> pointers) { usm_pointers_ = std::move(pointers); }

  // The current arguments, for one launch. Throws CL_INVALID_KERNEL_ARGS when one was never set or
  // its memory object is gone.
  ArgumentSet arguments() const;
  // Sum of the local memory of local pointer arguments, each rounded to its alignment.
  uint64_t localArgumentBytes() const;

 private:
  // "Implementations shall not allow cl_kernel objects to hold reference counts to cl_kernel
  // arguments, because no mechanism is provided for the user to tell the kernel to release that
  // ownership right."
  struct Slot {
    ArgumentValue value;  // without its memory object
    Weak<MemObject> memory;
    Weak<DeviceQueue> queue;
  };

  ~Kernel() override;
  // Of an argument that takes an address, emptied.
  Slot& pointerSlot(cl_uint index);
  void setLocal(Slot& slot, size_t size, const void* value);
  void setBuffer(Slot& slot, size_t size, const void* value);
  void setImage(Slot& slot, const ArgumentInfo& info, size_t size, const void* value);
  void setPipe(Slot& slot, size_t size, const void* value);
  void setQueue(Slot& slot, size_t size, const void* value);
  void setSampler(Slot& slot, size_t size, const void* value);
  void setValue(Slot& slot, const ArgumentInfo& info, size_t size, const void* value);

  Program::Attachment program_;
  std::string name_;
  std::vector<Ref<const DeviceKernel>> devices_;
  std::vector<Slot> slots_;
  std::vector<const void*> svm_pointers_, usm_pointers_;
};

// clCreateKernelsInProgram: "Kernel objects are not created for any __kernel functions in program
// that do not have the same function definition across all devices for which a program executable
// has been successfully built." Throws CL_INVALID_PROGRAM_EXECUTABLE.
std::vector<Ref<Kernel>> createKernels(Program& program);

}  // namespace weft
