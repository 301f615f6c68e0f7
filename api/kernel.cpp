// Specification 5.9: creating kernels and setting their arguments.
#include <CL/cl_ext.h>

#include <cstring>

#include "api/checks.h"
#include "api/entry.h"
#include "api/entry_points.h"
#include "api/kernel_execution.h"

namespace weft::api {
namespace {

// "CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM."
Kernel& toSvmKernel(cl_kernel handle) {
  Kernel& kernel = toKernel(handle);
  requireSvm(kernel);
  return kernel;
}

std::vector<const void*> pointerList(size_t size, const void* value) {
  require(size % sizeof(void*) == 0, CL_INVALID_VALUE, "size of a list of pointers");
  std::vector<const void*> pointers(size / sizeof(void*));
  if (size) std::memcpy(pointers.data(), value, size);
  return pointers;
}

bool flag(size_t size, const void* value) {
  require(size == sizeof(cl_bool), CL_INVALID_VALUE, "size of a cl_bool");
  cl_bool wanted = CL_FALSE;
  std::memcpy(&wanted, value, sizeof wanted);
  return wanted;
}

// "CL_INVALID_OPERATION if param_name is CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM and param_value
// is CL_TRUE but no devices in context associated with kernel support fine-grain system SVM
// allocations." Where they do, every kernel may use any memory: there is nothing to remember.
void checkFineGrainSystem(const Kernel& kernel, size_t size, const void* value) {
  require(!flag(size, value) || kernel.context().sharedMemory() & port::shares_all_memory,
          CL_INVALID_OPERATION, "no device has fine-grained system SVM");
}

}  // namespace

void requireSvm(const Kernel& kernel) {
  require(kernel.context().sharedMemory() != port::shares_nothing, CL_INVALID_OPERATION,
          "no device of the context supports SVM");
}

void setSvmPointer(Kernel& kernel, cl_uint index, const void* pointer) {
  const Context& context = kernel.context();
  require(!pointer || index >= kernel.info().arguments.size() ||
              context.sharedMemory() & port::shares_all_memory || context.svm().find(pointer),
          CL_INVALID_ARG_VALUE, "not shared virtual memory");
  kernel.setSvmArgument(index, pointer);
}

void setExecInfo(Kernel& kernel, cl_kernel_exec_info name, size_t size, const void* value) {
  // An empty list of pointers is one, too: it takes back what was set.
  const bool empty = size == 0 && (name == CL_KERNEL_EXEC_INFO_SVM_PTRS ||
                                   name == CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL);
  require(value || empty, CL_INVALID_VALUE, "no value");
  switch (name) {
    case CL_KERNEL_EXEC_INFO_SVM_PTRS:
      return kernel.setSvmPointers(pointerList(size, value));
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
      return checkFineGrainSystem(kernel, size, value);
    case CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL:
      requireUsm(kernel.context());
      return kernel.setUsmPointers(pointerList(size, value));
    // Kernels that can reach it find it in place, asked for or not.
    case CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL:
    case CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL:
    case CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL:
      requireUsm(kernel.context());
      return static_cast<void>(flag(size, value));
    default:
      throw Error(CL_INVALID_VALUE, "unknown execution information");
  }
}

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* kernel_name,
                                     cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    Program& owner = toProgram(program);
    require(kernel_name != nullptr, CL_INVALID_VALUE, "no name");
    return give(make<Kernel>(Ref<Program>(&owner), kernel_name));
  });
}

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint num_kernels,
                                            cl_kernel* kernels, cl_uint* num_kernels_ret) {
  return call([&] {
    auto created = createKernels(toProgram(program));
    require(!kernels || num_kernels >= created.size(), CL_INVALID_VALUE,
            "the program has more kernels");
    if (num_kernels_ret) *num_kernels_ret = static_cast<cl_uint>(created.size());
    if (!kernels) return;
    for (size_t i = 0; i < created.size(); ++i) kernels[i] = give(std::move(created[i]));
  });
}

cl_kernel CL_API_CALL clCloneKernel(cl_kernel source_kernel, cl_int* errcode_ret) {
  return create(errcode_ret, [&] { return give(make<Kernel>(toKernel(source_kernel))); });
}

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel) {
  return call([&] { toKernel(kernel).retainHandle(); });
}

cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) {
  return call([&] { toKernel(kernel).releaseHandle(); });
}

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size,
                                  const void* arg_value) {
  return call([&] { toKernel(kernel).setArgument(arg_index, arg_size, arg_value); });
}

cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint arg_index,
                                            const void* arg_value) {
  return call([&] { setSvmPointer(toSvmKernel(kernel), arg_index, arg_value); });
}

cl_int CL_API_CALL clSetKernelArgMemPointerINTEL(cl_kernel kernel, cl_uint arg_index,
                                                 const void* arg_value) {
  return call([&] {
    Kernel& target = toKernel(kernel);
    requireUsm(target.context());
    target.setUsmArgument(arg_index, arg_value);
  });
}

cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info param_name,
                                       size_t param_value_size, const void* param_value) {
  return call([&] { setExecInfo(toSvmKernel(kernel), param_name, param_value_size, param_value); });
}
