// Entry points that no header of Khronos declares as functions.
#pragma once

#include <CL/cl_ext.h>

#include "api/cl_weft_ext.h"

extern "C" {

// The three symbols that an ICD loader looks up in the library.
#define WEFT_EXPORT __attribute__((visibility("default")))
WEFT_EXPORT void* CL_API_CALL clGetExtensionFunctionAddress(const char* name);
WEFT_EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id* platforms,
                                                      cl_uint* total);
WEFT_EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name,
                                                 size_t size, void* value, size_t* size_ret);
#undef WEFT_EXPORT

cl_int CL_API_CALL clGetContextStatisticsWEFT(cl_context context, cl_device_id device, size_t size,
                                              cl_device_statistics_weft* statistics,
                                              size_t* size_ret);
cl_int CL_API_CALL clGetPlatformReportWEFT(cl_platform_id platform, size_t size, char* text,
                                           size_t* size_ret);
cl_int CL_API_CALL clGetKernelSplitInfoWEFT(cl_command_queue queue, cl_kernel kernel,
                                            cl_uint work_dim, const size_t* global_work_offset,
                                            const size_t* global_work_size,
                                            const size_t* local_work_size,
                                            cl_kernel_split_info_weft param_name,
                                            size_t param_value_size, void* param_value,
                                            size_t* param_value_size_ret);
}
