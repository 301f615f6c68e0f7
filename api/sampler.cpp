// Specification 5.7: sampler objects. No device has images, so there is none.
#include "api/checks.h"
#include "api/entry.h"
#include "api/unsupported.h"

using namespace weft;
using namespace weft::api;

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool, cl_addressing_mode,
                                       cl_filter_mode, cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_sampler { noImages(toContext(context)); });
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context,
                                                     const cl_sampler_properties*,
                                                     cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_sampler { noImages(toContext(context)); });
}

cl_int CL_API_CALL clRetainSampler(cl_sampler) {
  return call([] { throw Error(CL_INVALID_SAMPLER); });
}

cl_int CL_API_CALL clReleaseSampler(cl_sampler) {
  return call([] { throw Error(CL_INVALID_SAMPLER); });
}

cl_int CL_API_CALL clGetSamplerInfo(cl_sampler, cl_sampler_info, size_t, void*, size_t*) {
  return call([] { throw Error(CL_INVALID_SAMPLER); });
}
