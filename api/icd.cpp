// What an ICD loader needs: cl_khr_icd, and extension functions by name (specification 9.2).
#include "api/checks.h"
#include "api/composition.h"
#include "api/dispatch.h"
#include "api/entry.h"
#include "api/entry_points.h"

using namespace weft::api;

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id* platforms,
                                          cl_uint* total) {
  return clGetPlatformIDs(count, platforms, total);
}

void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  return name ? extensionFunction(name) : nullptr;
}

void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                           const char* name) {
  return create(nullptr, [&]() -> void* {
    toPlatform(platform);
    return clGetExtensionFunctionAddress(name);
  });
}
