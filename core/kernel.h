// cl_kernel: an entry of a program, and the arguments of its next launch. Specification 5.9.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/handle.h"
#include "core/image.h"
#include "core/memory.h"
#include "core/program.h"

namespace weft {

struct ArgumentValue {
  bool set = false;
  std::vector<std::byte> bytes;  // by-value arguments
  Ref<MemObject> memory;         // buffer arguments; null is a null pointer
  size_t local_bytes = 0;        // local pointer arguments
};

// The arguments as one launch sees them. Immutable while shared: setting an argument of a kernel
// whose set is in use by an enqueued launch makes a copy first.
class ArgumentSet final : public Object {
 public:
  std::vector<ArgumentValue> values;
};

// The kernel on one device.
struct DeviceKernel {
  Ref<Device> device;
  std::shared_ptr<const DeviceBuild> build;  // keeps the module loaded
  uint32_t index = 0;                        // into build->image->kernels

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
  Context& context() const { return program_->context(); }
  const std::string& name() const { return name_; }
  // Of the first device that has the kernel; arguments are the same on all.
  const KernelInfo& info() const { return devices_.front().info(); }
  // Null when the program has no executable with this kernel for the device. A sub-device that the
  // program does not name uses its parent's.
  const DeviceKernel* on(const Device& device) const;
  const std::vector<DeviceKernel>& devices() const { return devices_; }

  // clSetKernelArg, with all its checks. Throws CL_INVALID_ARG_INDEX, _VALUE, _SIZE,
  // CL_INVALID_MEM_OBJECT, CL_INVALID_SAMPLER.
  void setArgument(cl_uint index, size_t size, const void* value);

  // The current arguments, shared. Throws CL_INVALID_KERNEL_ARGS when one was never set.
  Ref<ArgumentSet> arguments() const;
  // Sum of the local memory of local pointer arguments, each rounded to its alignment.
  uint64_t localArgumentBytes() const;

 private:
  ~Kernel() override;
  ArgumentSet& writableArguments();

  Ref<Program> program_;
  std::string name_;
  std::vector<DeviceKernel> devices_;
  Ref<ArgumentSet> arguments_;
};

}  // namespace weft
