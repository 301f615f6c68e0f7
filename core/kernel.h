// cl_kernel: an entry of a program, and the arguments of its next launch. Specification 5.9.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/device_queue.h"
#include "core/handle.h"
#include "core/image.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/program.h"
#include "core/svm.h"

namespace weft {

// The bytes of a by-value argument; the usual few need no allocation.
class ArgumentBytes {
 public:
  ArgumentBytes() = default;
  ArgumentBytes(const ArgumentBytes& other) { assign(other.data(), other.size()); }
  ArgumentBytes(ArgumentBytes&&) noexcept = default;
  ArgumentBytes& operator=(ArgumentBytes other) noexcept;

  const std::byte* data() const { return heap_ ? heap_.get() : inline_.data(); }
  size_t size() const { return size_; }
  void assign(const void* bytes, size_t size);

 private:
  alignas(16) std::array<std::byte, 16> inline_{};
  std::unique_ptr<std::byte[]> heap_;
  size_t size_ = 0;
};

// Every launch in flight has those of its arguments.
struct ArgumentValue {
  ArgumentBytes bytes;        // by-value arguments and samplers
  Ref<MemObject> memory;      // buffers and images; null is a null pointer
  const void* svm = nullptr;  // pointer arguments set to an address in shared virtual memory
  size_t local_bytes = 0;     // local pointer arguments
  bool set = false;
};

// The arguments as one launch sees them, with the memory objects kept alive.
class ArgumentSet final : public Object, public pool::Pooled {
 public:
  pool::Vector<ArgumentValue> values;
  std::vector<Ref<SvmAllocation>> svm;   // those that arguments or the execution info point into
  std::vector<Ref<DeviceQueue>> queues;  // arguments', and the default one if it is used
};

// The kernel on one device.
struct DeviceKernel {
  Ref<Device> device;
  std::shared_ptr<const DeviceBuild> build;  // keeps the module loaded
  uint32_t index = 0;                        // into build->image->kernels
  size_t max_group = 1;                      // CL_KERNEL_WORK_GROUP_SIZE
  bool fits = true;  // has no more image and sampler arguments than the device takes

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
  const KernelInfo& info() const { return devices_.front().info(); }
  // Null when the program has no executable with this kernel for the device. A sub-device that the
  // program does not name uses its parent's.
  const DeviceKernel* on(const Device& device) const;
  const std::vector<DeviceKernel>& devices() const { return devices_; }

  // clSetKernelArg, with all its checks. Throws CL_INVALID_ARG_INDEX, _VALUE, _SIZE,
  // CL_INVALID_MEM_OBJECT, CL_INVALID_SAMPLER, CL_INVALID_DEVICE_QUEUE.
  void setArgument(cl_uint index, size_t size, const void* value);

  // clSetKernelArgSVMPointer; likewise. Throws CL_INVALID_ARG_INDEX, _VALUE.
  void setSvmArgument(cl_uint index, const void* pointer);
  // CL_KERNEL_EXEC_INFO_SVM_PTRS: what launches use besides their arguments; replaces what was set.
  void setSvmPointers(std::vector<const void*> pointers) { svm_pointers_ = std::move(pointers); }
  // CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL: the same, of unified shared memory.
  void setUsmPointers(std::vector<const void*> pointers) { usm_pointers_ = std::move(pointers); }

  // The current arguments, for one launch. Throws CL_INVALID_KERNEL_ARGS when one was never set or
  // its memory object is gone.
  Ref<ArgumentSet> arguments() const;
  // Sum of the local memory of local pointer arguments, each rounded to its alignment.
  uint64_t localArgumentBytes() const;

 private:
  // "Implementations shall not allow cl_kernel objects to hold reference counts to cl_kernel
  // arguments, because no mechanism is provided for the user to tell the kernel to release that
  // ownership right."
  struct Slot {
    ArgumentValue value;  // `memory` stays null
    Weak<MemObject> memory;
    Weak<DeviceQueue> queue;
  };

  ~Kernel() override = default;
  void setLocal(Slot& slot, size_t size, const void* value);
  void setBuffer(Slot& slot, size_t size, const void* value);
  void setImage(Slot& slot, const ArgumentInfo& info, size_t size, const void* value);
  void setPipe(Slot& slot, size_t size, const void* value);
  void setQueue(Slot& slot, size_t size, const void* value);
  void setSampler(Slot& slot, size_t size, const void* value);
  void setValue(Slot& slot, const ArgumentInfo& info, size_t size, const void* value);

  Program::Attachment program_;
  std::string name_;
  std::vector<DeviceKernel> devices_;
  std::vector<Slot> slots_;
  std::vector<const void*> svm_pointers_, usm_pointers_;
};

// clCreateKernelsInProgram: "Kernel objects are not created for any __kernel functions in program
// that do not have the same function definition across all devices for which a program executable
// has been successfully built." Throws CL_INVALID_PROGRAM_EXECUTABLE.
std::vector<Ref<Kernel>> createKernels(Program& program);

}  // namespace weft
