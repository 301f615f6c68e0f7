// Specification 5.9: creating kernels and setting their arguments.
#include "api/checks.h"
#include "api/entry.h"
#include "api/entry_points.h"

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

// "CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM." None
// does.
cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint, const void*) {
  return call([&] {
    toKernel(kernel);
    throw Error(CL_INVALID_OPERATION, "no device of the context supports SVM");
  });
}

cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info, size_t, const void*) {
  return call([&] {
    toKernel(kernel);
    throw Error(CL_INVALID_OPERATION, "no device of the context supports SVM");
  });
}
