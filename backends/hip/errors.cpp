#include "backends/hip/errors.h"

#include <algorithm>

#include "backends/hip/provider.h"
#include "core/error.h"

namespace weft::hip {
namespace {

struct Row {
  Status status;
  cl_int code;
};

constexpr Row rows[] = {
    {out_of_memory, CL_MEM_OBJECT_ALLOCATION_FAILURE},
    {200, CL_INVALID_BINARY},       // invalid image
    {209, CL_INVALID_BINARY},       // no binary for this GPU
    {218, CL_INVALID_BINARY},       // invalid PTX, or kernel file
    {300, CL_INVALID_BINARY},       // invalid source
    {301, CL_INVALID_BINARY},       // file not found
    {500, CL_INVALID_KERNEL_NAME},  // named symbol not found
    {no_device, CL_DEVICE_NOT_FOUND},
    {device_lost, CL_DEVICE_NOT_AVAILABLE},
};

// A fault of a kernel or of the hardware, or the end of the driver. Not 999, an unknown error,
// which may be of one call alone.
constexpr Status losing[] = {
    4,    // the driver is shutting down
    214,  // uncorrectable memory error
    220,  // uncorrectable error of a link between GPUs
    226,  // a fault that the hardware has contained
    700,  // illegal address
    702,  // a kernel took too long
    709,  // the context is destroyed
    710,  // assertion
    714,  // hardware stack error
    715,  // illegal instruction
    716,  // misaligned address
    717,  // address space
    718,  // program counter
    719,  // launch failure
    721,  // memory of matrix units was not given back
    810,  // the server that shares the device has ended this client
    911,  // a device outside of the runtime has failed
};

}  // namespace

bool losesDevice(Status status) noexcept {
  return status != success && std::ranges::find(losing, status) != std::end(losing);
}

// Everything else that ends a command is, in the specification's words, a failure "to allocate
// resources required by the OpenCL implementation on the device" or a fault of the kernel, for
// which it has no code of its own.
port::OperationStatus operationStatus(Status status) {
  if (status == success) return CL_SUCCESS;
  for (const Row& row : rows)
    if (row.status == status) return row.code;
  return CL_OUT_OF_RESOURCES;
}

void check(const Api& api, Status status, const char* what) {
  if (status == success) return;
  const std::string why = status == device_lost ? "the device was lost" : describe(api, status);
  throw Error(operationStatus(status), std::string(what) + ": " + why);
}

}  // namespace weft::hip
