// The HIP runtime, libamdhip64: its entry points as they are.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/hip/provider.h"

namespace weft::hip {
namespace {

// What the adapters below need besides the table. A process opens one HIP runtime.
struct Extra {
  Status (*getDevice)(int* device);
  Status (*setDevice)(int device);
  Status (*getDeviceProperties)(void* properties, int device);       // majors 4 and 5
  Status (*getDevicePropertiesR0600)(void* properties, int device);  // from major 6
  Status (*streamAddCallback)(StreamHandle stream, void (*)(StreamHandle, Status, void*),
                              void* user, unsigned flags);
};
Extra extra;

// hipDeviceProp_t changed between majors. All that is wanted of it is gcnArchName, which no
// attribute gives; its place in either layout, and room for any of them.
constexpr size_t arch_name_offset = 396, arch_name_offset_r0600 = 1160;
constexpr size_t properties_bytes = 4096, arch_name_bytes = 256;

Status targetName(char* name, size_t length, int device) {
  alignas(16) std::array<char, properties_bytes> properties{};
  const bool r0600 = extra.getDevicePropertiesR0600 != nullptr;
  const auto get = r0600 ? extra.getDevicePropertiesR0600 : extra.getDeviceProperties;
  if (!get) return not_supported;
  if (const Status status = get(properties.data(), device); status != success) return status;
  const char* const arch = properties.data() + (r0600 ? arch_name_offset_r0600 : arch_name_offset);
  // Anything else is a layout that we do not know. "host" is a software GPU of the tests.
  if (std::strncmp(arch, "gfx", 3) != 0 && std::strcmp(arch, "host") != 0) return not_supported;
  const size_t n = std::min(length - 1, strnlen(arch, arch_name_bytes));
  std::memcpy(name, arch, n);
  name[n] = '\0';
  return success;
}

Status enter(int device, void** previous) {
  int current = 0;
  if (const Status status = extra.getDevice(&current); status != success) return status;
  *previous = reinterpret_cast<void*>(static_cast<intptr_t>(current));
  return current == device ? success : extra.setDevice(device);
}

void leave(void* previous) {
  extra.setDevice(static_cast<int>(reinterpret_cast<intptr_t>(previous)));
}

// hipLaunchHostFunc came late; before it there is the callback with a status.
struct HostFunction {
  void (*function)(void*);
  void* user;
};

Status launchHostFunc(StreamHandle stream, void (*function)(void*), void* user) {
  auto* const call = new HostFunction{function, user};
  const auto run = [](StreamHandle, Status, void* data) {
    const std::unique_ptr<HostFunction> call(static_cast<HostFunction*>(data));
    call->function(call->user);
  };
  const Status status = extra.streamAddCallback(stream, run, call, 0);
  if (status != success) delete call;
  return status;
}

constexpr Symbol symbols[] = {
    {"hipInit", offsetof(Api, init)},
    {"hipDriverGetVersion", offsetof(Api, driverGetVersion)},
    {"hipGetDeviceCount", offsetof(Api, getDeviceCount)},
    {"hipDeviceGetName", offsetof(Api, deviceGetName)},
    {"hipDeviceGetAttribute", offsetof(Api, deviceGetAttribute)},
    {"hipDeviceTotalMem", offsetof(Api, deviceTotalMem)},
    {"hipDeviceGetUuid", offsetof(Api, deviceGetUuid), false},
    {"hipDeviceCanAccessPeer", offsetof(Api, deviceCanAccessPeer)},
    {"hipDeviceEnablePeerAccess", offsetof(Api, deviceEnablePeerAccess)},
    {"hipMemGetInfo", offsetof(Api, memGetInfo)},
    {"hipGetErrorString", offsetof(Api, getErrorString)},
    {"hipStreamCreateWithFlags", offsetof(Api, streamCreateWithFlags)},
    {"hipStreamDestroy", offsetof(Api, streamDestroy)},
    {"hipStreamWaitEvent", offsetof(Api, streamWaitEvent)},
    {"hipStreamWaitValue32", offsetof(Api, streamWaitValue32), false},
    {"hipStreamWriteValue32", offsetof(Api, streamWriteValue32), false},
    {"hipLaunchHostFunc", offsetof(Api, launchHostFunc), false},
    {"hipEventCreateWithFlags", offsetof(Api, eventCreateWithFlags)},
    {"hipEventDestroy", offsetof(Api, eventDestroy)},
    {"hipEventRecord", offsetof(Api, eventRecord)},
    {"hipEventQuery", offsetof(Api, eventQuery)},
    {"hipEventSynchronize", offsetof(Api, eventSynchronize)},
    {"hipEventElapsedTime", offsetof(Api, eventElapsedTime)},
    {"hipMalloc", offsetof(Api, malloc)},
    {"hipFree", offsetof(Api, free)},
    {"hipMallocAsync", offsetof(Api, mallocAsync), false},
    {"hipFreeAsync", offsetof(Api, freeAsync), false},
    {"hipExtMallocWithFlags", offsetof(Api, extMallocWithFlags), false},
    {"hipMallocManaged", offsetof(Api, mallocManaged), false},
    {"hipMemPrefetchAsync", offsetof(Api, memPrefetchAsync), false},
    {"hipHostMalloc", offsetof(Api, hostMalloc)},
    {"hipHostFree", offsetof(Api, hostFree)},
    {"hipHostRegister", offsetof(Api, hostRegister)},
    {"hipHostUnregister", offsetof(Api, hostUnregister)},
    {"hipHostGetDevicePointer", offsetof(Api, hostGetDevicePointer)},
    {"hipMemcpyAsync", offsetof(Api, memcpyAsync)},
    {"hipMemcpy2DAsync", offsetof(Api, memcpy2DAsync)},
    {"hipMemcpy3DAsync", offsetof(Api, memcpy3DAsync)},
    {"hipMemsetD8Async", offsetof(Api, memsetD8Async)},
    {"hipMemsetD16Async", offsetof(Api, memsetD16Async)},
    {"hipMemsetD32Async", offsetof(Api, memsetD32Async)},
    {"hipModuleLoadDataEx", offsetof(Api, moduleLoadDataEx)},
    {"hipModuleUnload", offsetof(Api, moduleUnload)},
    {"hipModuleGetFunction", offsetof(Api, moduleGetFunction)},
    {"hipModuleLaunchKernel", offsetof(Api, moduleLaunchKernel)},
    {"hipFuncGetAttribute", offsetof(Api, funcGetAttribute)},
    {"hipTexObjectCreate", offsetof(Api, texObjectCreate), false},
    {"hipTexObjectDestroy", offsetof(Api, texObjectDestroy), false},
};

constexpr Symbol extra_symbols[] = {
    {"hipGetDevice", offsetof(Extra, getDevice)},
    {"hipSetDevice", offsetof(Extra, setDevice)},
    {"hipGetDeviceProperties", offsetof(Extra, getDeviceProperties), false},
    {"hipGetDevicePropertiesR0600", offsetof(Extra, getDevicePropertiesR0600), false},
    {"hipStreamAddCallback", offsetof(Extra, streamAddCallback)},
};

std::vector<std::string> usualNames() {
  if (const char* const wished = wishedHipRuntime()) return {wished};
  return {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
}

}  // namespace

std::unique_ptr<Provider> openHipRuntime(std::vector<port::Diagnostic>& diagnostics,
                                         std::span<const std::string> libraries) {
  const auto fail = [&](const std::string& why) {
    diagnostics.push_back({"HIP runtime: " + why});
    return nullptr;
  };
  const std::vector<std::string> usual = usualNames();
  const Library library = Library::open(libraries.empty() ? usual : libraries);
  if (!library) return fail(library.error());
  auto provider = std::make_unique<Provider>();
  Api& api = provider->api;
  const char* missing = library.resolve(symbols, &api);
  if (!missing) missing = library.resolve(extra_symbols, &extra);
  if (missing) return fail(library.name() + " lacks " + missing);
  if (!api.launchHostFunc) api.launchHostFunc = launchHostFunc;
  api.enter = enter;
  api.leave = leave;
  api.targetName = targetName;
  if (const Status status = api.init(0); status != success)
    return fail(library.name() + ": hipInit: " + describe(api, status));
  provider->name = "HIP runtime (" + library.name() + ")";
  provider->platform = Platform::amd;
  return provider;
}

}  // namespace weft::hip
