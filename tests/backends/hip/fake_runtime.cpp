// A shared library with the names of the HIP runtime's entry points and nothing behind them.
// WEFT_FAKE_INIT is what hipInit returns.
#include <cstddef>

#define ENTRY(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return 100; }

extern "C" __attribute__((visibility("default"))) int hipInit(unsigned) { return WEFT_FAKE_INIT; }
extern "C" __attribute__((visibility("default"))) const char* hipGetErrorString(int) {
  return "fake error";
}

ENTRY(hipDriverGetVersion)
ENTRY(hipGetDeviceCount)
ENTRY(hipDeviceGetName)
ENTRY(hipDeviceGetAttribute)
ENTRY(hipDeviceTotalMem)
ENTRY(hipDeviceCanAccessPeer)
ENTRY(hipDeviceEnablePeerAccess)
ENTRY(hipMemGetInfo)
ENTRY(hipStreamCreateWithFlags)
ENTRY(hipStreamDestroy)
ENTRY(hipStreamWaitEvent)
ENTRY(hipEventCreateWithFlags)
ENTRY(hipEventDestroy)
ENTRY(hipEventRecord)
ENTRY(hipEventQuery)
ENTRY(hipEventSynchronize)
ENTRY(hipEventElapsedTime)
ENTRY(hipMalloc)
ENTRY(hipFree)
ENTRY(hipHostMalloc)
ENTRY(hipHostFree)
ENTRY(hipHostRegister)
ENTRY(hipHostUnregister)
ENTRY(hipHostGetDevicePointer)
ENTRY(hipMemcpyAsync)
ENTRY(hipMemcpy2DAsync)
ENTRY(hipMemcpy3DAsync)
ENTRY(hipMemsetD8Async)
ENTRY(hipMemsetD16Async)
ENTRY(hipMemsetD32Async)
ENTRY(hipModuleLoadDataEx)
ENTRY(hipModuleUnload)
ENTRY(hipModuleGetFunction)
ENTRY(hipModuleLaunchKernel)
ENTRY(hipFuncGetAttribute)
ENTRY(hipGetDevice)
ENTRY(hipSetDevice)
ENTRY(hipStreamAddCallback)
