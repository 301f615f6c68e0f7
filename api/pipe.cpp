// Specification 5.4: pipes. No device has them.
#include "api/checks.h"
#include "api/entry.h"
#include "api/unsupported.h"

using namespace weft;
using namespace weft::api;

cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags, cl_uint, cl_uint,
                                const cl_pipe_properties*, cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_mem { noPipes(toContext(context)); });
}

// "CL_INVALID_MEM_OBJECT if pipe is not a valid pipe object."
cl_int CL_API_CALL clGetPipeInfo(cl_mem, cl_pipe_info, size_t, void*, size_t*) {
  return call([] { throw Error(CL_INVALID_MEM_OBJECT, "not a pipe"); });
}
