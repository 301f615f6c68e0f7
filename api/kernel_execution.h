// What sets up a kernel's execution besides its arguments.
#pragma once

#include "core/kernel.h"

namespace weft::api {

// "CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM."
void requireSvm(const Kernel& kernel);
// clSetKernelArgSVMPointer of a kernel for which requireSvm() holds.
void setSvmPointer(Kernel& kernel, cl_uint index, const void* pointer);

// clSetKernelExecInfo, for a kernel of a context with SVM.
void setExecInfo(Kernel& kernel, cl_kernel_exec_info name, size_t size, const void* value);

}  // namespace weft::api
