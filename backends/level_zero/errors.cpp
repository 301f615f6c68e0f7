#include "backends/level_zero/api.h"
#include "core/error.h"

namespace weft::level_zero {
namespace {

struct Row {
  ze_result_t result;
  const char* name;
  cl_int code;
};
constexpr Row rows[] = {
    {ZE_RESULT_NOT_READY, "not ready", CL_OUT_OF_RESOURCES},
    {ZE_RESULT_ERROR_DEVICE_LOST, "device lost", CL_OUT_OF_RESOURCES},
    {ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "out of host memory", CL_OUT_OF_HOST_MEMORY},
    {ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "out of device memory",
     CL_MEM_OBJECT_ALLOCATION_FAILURE},
    {ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "module build failure", CL_INVALID_BINARY},
    {ZE_RESULT_ERROR_MODULE_LINK_FAILURE, "module link failure", CL_INVALID_BINARY},
    {ZE_RESULT_ERROR_NOT_AVAILABLE, "not available", CL_OUT_OF_RESOURCES},
    {ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "dependency unavailable", CL_OUT_OF_RESOURCES},
    {ZE_RESULT_ERROR_UNINITIALIZED, "no driver", CL_DEVICE_NOT_FOUND},
    {ZE_RESULT_ERROR_UNSUPPORTED_VERSION, "unsupported version", CL_DEVICE_NOT_FOUND},
    {ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "unsupported feature", CL_OUT_OF_RESOURCES},
    {ZE_RESULT_ERROR_INVALID_ARGUMENT, "invalid argument", CL_OUT_OF_RESOURCES},
    {ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "unsupported size", CL_MEM_OBJECT_ALLOCATION_FAILURE},
    {ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "unsupported alignment",
     CL_MEM_OBJECT_ALLOCATION_FAILURE},
    {ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "invalid native binary", CL_INVALID_BINARY},
    {ZE_RESULT_ERROR_INVALID_KERNEL_NAME, "invalid kernel name", CL_INVALID_KERNEL_NAME},
};

const Row* find(ze_result_t result) {
  for (const Row& row : rows)
    if (row.result == result) return &row;
  return nullptr;
}

}  // namespace

std::string describe(ze_result_t result) {
  const Row* const row = find(result);
  char number[16];
  std::snprintf(number, sizeof number, "0x%x", static_cast<unsigned>(result));
  return std::string(row ? row->name : "unknown error") + " (" + number + ")";
}

port::OperationStatus operationStatus(ze_result_t result) {
  if (result == ZE_RESULT_SUCCESS) return CL_SUCCESS;
  const Row* const row = find(result);
  return row ? row->code : CL_OUT_OF_RESOURCES;
}

void check(ze_result_t result, const char* what) {
  if (result == ZE_RESULT_SUCCESS) return;
  throw Error(operationStatus(result), std::string(what) + ": " + describe(result));
}

}  // namespace weft::level_zero
