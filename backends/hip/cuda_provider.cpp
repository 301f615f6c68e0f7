// HIP over NVIDIA's driver: HIP's second platform without a toolkit. The driver's entry points
// (those with versioned names do not change) have the same calling convention as their HIP
// counterparts, device addresses being pointers, and go straight into the table; the others have an
// adapter here.
#include <array>
#include <cstdio>
#include <mutex>

#include "backends/hip/provider.h"

namespace weft::hip {
namespace {

using DevicePointer = unsigned long long;  // CUdeviceptr
using Context = struct ContextTag*;

constexpr int memory_unified = 4;  // CU_MEMORYTYPE_UNIFIED: by the addresses

// CUDA_MEMCPY2D_v2.
struct DriverCopy2D {
  size_t source_x = 0, source_y = 0;
  int source_type = memory_unified;
  const void* source_host = nullptr;
  DevicePointer source = 0;
  void* source_array = nullptr;
  size_t source_pitch = 0;
  size_t destination_x = 0, destination_y = 0;
  int destination_type = memory_unified;
  void* destination_host = nullptr;
  DevicePointer destination = 0;
  void* destination_array = nullptr;
  size_t destination_pitch = 0;
  size_t width = 0, height = 0;
};
static_assert(sizeof(DriverCopy2D) == 128);

// CUDA_MEMCPY3D_v2.
struct DriverCopy3D {
  size_t source_x = 0, source_y = 0, source_z = 0, source_lod = 0;
  int source_type = memory_unified;
  const void* source_host = nullptr;
  DevicePointer source = 0;
  void* source_array = nullptr;
  void* reserved0 = nullptr;
  size_t source_pitch = 0, source_height = 0;
  size_t destination_x = 0, destination_y = 0, destination_z = 0, destination_lod = 0;
  int destination_type = memory_unified;
  void* destination_host = nullptr;
  DevicePointer destination = 0;
  void* destination_array = nullptr;
  void* reserved1 = nullptr;
  size_t destination_pitch = 0, destination_height = 0;
  size_t width = 0, height = 0, depth = 0;
};
static_assert(sizeof(DriverCopy3D) == 200);

// The driver's own, for the adapters. A process opens one driver.
struct Driver {
  Status (*deviceGet)(int* device, int ordinal);
  Status (*deviceGetAttribute)(int* value, int attribute, int device);
  Status (*primaryContextRetain)(Context* context, int device);
  Status (*contextPush)(Context context);
  Status (*contextPop)(Context* context);
  Status (*contextEnablePeerAccess)(Context context, unsigned flags);
  Status (*getErrorString)(Status status, const char** text);
  Status (*memcpyAsync)(DevicePointer destination, DevicePointer source, size_t bytes,
                        StreamHandle stream);
  Status (*memcpy2DAsync)(const DriverCopy2D* copy, StreamHandle stream);
  Status (*memcpy3DAsync)(const DriverCopy3D* copy, StreamHandle stream);
  Status (*streamWaitValue32)(StreamHandle stream, DevicePointer address, uint32_t value,
                              unsigned flags);
  Status (*streamWriteValue32)(StreamHandle stream, DevicePointer address, uint32_t value,
                               unsigned flags);
};
Driver driver;

DevicePointer address(const void* pointer) { return reinterpret_cast<DevicePointer>(pointer); }

struct AttributePair {
  Attribute hip;
  int cuda;  // CUdevice_attribute
};

constexpr AttributePair attributes[] = {
    {Attribute::can_use_host_pointer_for_registered_memory, 91},
    {Attribute::clock_rate, 13},
    {Attribute::concurrent_managed_access, 89},
    {Attribute::integrated, 18},
    {Attribute::l2_cache_size, 38},
    {Attribute::compute_capability_major, 75},
    {Attribute::compute_capability_minor, 76},
    {Attribute::max_block_dim_x, 2},
    {Attribute::max_block_dim_y, 3},
    {Attribute::max_block_dim_z, 4},
    {Attribute::max_grid_dim_x, 5},
    {Attribute::max_grid_dim_y, 6},
    {Attribute::max_grid_dim_z, 7},
    {Attribute::max_threads_per_block, 1},
    {Attribute::multiprocessor_count, 16},
    {Attribute::pci_bus_id, 33},
    {Attribute::pci_device_id, 34},
    {Attribute::pci_domain_id, 50},
    {Attribute::max_shared_memory_per_block, 8},
    {Attribute::shared_memory_per_block_optin, 97},
    {Attribute::texture_pitch_alignment, 51},
    {Attribute::total_constant_memory, 9},
    {Attribute::warp_size, 10},
};

Status deviceGetAttribute(int* value, Attribute attribute, int device) {
  for (const AttributePair& pair : attributes)
    if (pair.hip == attribute) return driver.deviceGetAttribute(value, pair.cuda, device);
  return invalid_value;
}

constexpr int max_devices = 64;

// The primary context is the one that CUDA's own runtime uses: memory and streams made here and by
// the application's CUDA code can meet. Retained on first use and kept.
Status primaryContext(int device, Context* context) {
  static std::array<Context, max_devices> contexts{};
  static std::array<std::once_flag, max_devices> once;
  static std::array<Status, max_devices> results{};
  if (device < 0 || device >= max_devices) return invalid_value;
  const auto i = static_cast<size_t>(device);
  std::call_once(once[i], [&] { results[i] = driver.primaryContextRetain(&contexts[i], device); });
  *context = contexts[i];
  return results[i];
}

Status enter(int device, void**) {
  Context context = nullptr;
  if (const Status status = primaryContext(device, &context); status != success) return status;
  return driver.contextPush(context);
}

void leave(void*) {
  Context context = nullptr;
  driver.contextPop(&context);
}

Status deviceEnablePeerAccess(int peer, unsigned flags) {
  Context context = nullptr;
  if (const Status status = primaryContext(peer, &context); status != success) return status;
  return driver.contextEnablePeerAccess(context, flags);
}

const char* getErrorString(Status status) {
  const char* text = nullptr;
  return driver.getErrorString(status, &text) == success ? text : nullptr;
}

Status memcpyAsync(void* destination, const void* source, size_t bytes, int, StreamHandle stream) {
  return driver.memcpyAsync(address(destination), address(source), bytes, stream);
}

Status memcpy2DAsync(void* destination, size_t destination_pitch, const void* source,
                     size_t source_pitch, size_t width, size_t height, int, StreamHandle stream) {
  DriverCopy2D copy;
  copy.source = address(source);
  copy.source_pitch = source_pitch;
  copy.destination = address(destination);
  copy.destination_pitch = destination_pitch;
  copy.width = width;
  copy.height = height;
  return driver.memcpy2DAsync(&copy, stream);
}

Status memcpy3DAsync(const Copy3D* from, StreamHandle stream) {
  DriverCopy3D copy;
  copy.source_x = from->source_position[0];
  copy.source_y = from->source_position[1];
  copy.source_z = from->source_position[2];
  copy.source = address(from->source.pointer);
  copy.source_pitch = from->source.pitch;
  copy.source_height = from->source.height;
  copy.destination_x = from->destination_position[0];
  copy.destination_y = from->destination_position[1];
  copy.destination_z = from->destination_position[2];
  copy.destination = address(from->destination.pointer);
  copy.destination_pitch = from->destination.pitch;
  copy.destination_height = from->destination.height;
  copy.width = from->extent[0];
  copy.height = from->extent[1];
  copy.depth = from->extent[2];
  return driver.memcpy3DAsync(&copy, stream);
}

Status streamWaitValue32(StreamHandle stream, void* word, uint32_t value, unsigned flags,
                         uint32_t) {
  return driver.streamWaitValue32(stream, address(word), value, flags);
}

Status streamWriteValue32(StreamHandle stream, void* word, uint32_t value, unsigned flags) {
  return driver.streamWriteValue32(stream, address(word), value, flags);
}

Status targetName(char* name, size_t length, int device) {
  int major = 0;
  int minor = 0;
  Status status = deviceGetAttribute(&major, Attribute::compute_capability_major, device);
  if (status == success)
    status = deviceGetAttribute(&minor, Attribute::compute_capability_minor, device);
  if (status == success) std::snprintf(name, length, "sm_%d%d", major, minor);
  return status;
}

constexpr Symbol symbols[] = {
    {"cuInit", offsetof(Api, init)},
    {"cuDriverGetVersion", offsetof(Api, driverGetVersion)},
    {"cuDeviceGetCount", offsetof(Api, getDeviceCount)},
    {"cuDeviceGetName", offsetof(Api, deviceGetName)},
    {"cuDeviceTotalMem_v2", offsetof(Api, deviceTotalMem)},
    {"cuDeviceGetUuid", offsetof(Api, deviceGetUuid), false},
    {"cuDeviceCanAccessPeer", offsetof(Api, deviceCanAccessPeer)},
    {"cuMemGetInfo_v2", offsetof(Api, memGetInfo)},
    {"cuStreamCreate", offsetof(Api, streamCreateWithFlags)},
    {"cuStreamDestroy_v2", offsetof(Api, streamDestroy)},
    {"cuStreamWaitEvent", offsetof(Api, streamWaitEvent)},
    {"cuLaunchHostFunc", offsetof(Api, launchHostFunc)},
    {"cuEventCreate", offsetof(Api, eventCreateWithFlags)},
    {"cuEventDestroy_v2", offsetof(Api, eventDestroy)},
    {"cuEventRecord", offsetof(Api, eventRecord)},
    {"cuEventQuery", offsetof(Api, eventQuery)},
    {"cuEventSynchronize", offsetof(Api, eventSynchronize)},
    {"cuEventElapsedTime", offsetof(Api, eventElapsedTime)},
    {"cuMemAlloc_v2", offsetof(Api, malloc)},
    {"cuMemFree_v2", offsetof(Api, free)},
    {"cuMemAllocAsync", offsetof(Api, mallocAsync), false},
    {"cuMemFreeAsync", offsetof(Api, freeAsync), false},
    {"cuMemAllocManaged", offsetof(Api, mallocManaged), false},
    {"cuMemPrefetchAsync", offsetof(Api, memPrefetchAsync), false},
    {"cuMemHostAlloc", offsetof(Api, hostMalloc)},
    {"cuMemFreeHost", offsetof(Api, hostFree)},
    {"cuMemHostRegister_v2", offsetof(Api, hostRegister)},
    {"cuMemHostUnregister", offsetof(Api, hostUnregister)},
    {"cuMemHostGetDevicePointer_v2", offsetof(Api, hostGetDevicePointer)},
    {"cuMemsetD8Async", offsetof(Api, memsetD8Async)},
    {"cuMemsetD16Async", offsetof(Api, memsetD16Async)},
    {"cuMemsetD32Async", offsetof(Api, memsetD32Async)},
    {"cuModuleLoadDataEx", offsetof(Api, moduleLoadDataEx)},
    {"cuModuleUnload", offsetof(Api, moduleUnload)},
    {"cuModuleGetFunction", offsetof(Api, moduleGetFunction)},
    {"cuLaunchKernel", offsetof(Api, moduleLaunchKernel)},
    {"cuFuncGetAttribute", offsetof(Api, funcGetAttribute)},
    {"cuFuncSetAttribute", offsetof(Api, funcSetAttribute), false},
    {"cuTexObjectCreate", offsetof(Api, texObjectCreate), false},
    {"cuTexObjectDestroy", offsetof(Api, texObjectDestroy), false},
};

constexpr Symbol driver_symbols[] = {
    {"cuDeviceGet", offsetof(Driver, deviceGet)},
    {"cuDeviceGetAttribute", offsetof(Driver, deviceGetAttribute)},
    {"cuDevicePrimaryCtxRetain", offsetof(Driver, primaryContextRetain)},
    {"cuCtxPushCurrent_v2", offsetof(Driver, contextPush)},
    {"cuCtxPopCurrent_v2", offsetof(Driver, contextPop)},
    {"cuCtxEnablePeerAccess", offsetof(Driver, contextEnablePeerAccess)},
    {"cuGetErrorString", offsetof(Driver, getErrorString)},
    {"cuMemcpyAsync", offsetof(Driver, memcpyAsync)},
    {"cuMemcpy2DAsync_v2", offsetof(Driver, memcpy2DAsync)},
    {"cuMemcpy3DAsync_v2", offsetof(Driver, memcpy3DAsync)},
    {"cuStreamWaitValue32_v2", offsetof(Driver, streamWaitValue32), false},
    {"cuStreamWriteValue32_v2", offsetof(Driver, streamWriteValue32), false},
};

// Both kernels of PeerCopies.
constexpr const char* peer_copy_code = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry copy_words(.param .u64 to, .param .u64 from, .param .u32 count) {
  .reg .pred %beyond;
  .reg .b32 %group, %threads, %i, %count, %value;
  .reg .b64 %to, %from, %offset;
  ld.param.u64 %to, [to];
  ld.param.u64 %from, [from];
  ld.param.u32 %count, [count];
  cvta.to.global.u64 %to, %to;
  cvta.to.global.u64 %from, %from;
  mov.u32 %i, %tid.x;
  mov.u32 %group, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mad.lo.u32 %i, %group, %threads, %i;
  setp.ge.u32 %beyond, %i, %count;
  @%beyond ret;
  mul.wide.u32 %offset, %i, 4;
  add.u64 %to, %to, %offset;
  add.u64 %from, %from, %offset;
  ld.global.b32 %value, [%from];
  st.global.b32 [%to], %value;
  ret;
}
.visible .entry copy_bytes(.param .u64 to, .param .u64 from, .param .u32 count) {
  .reg .pred %beyond;
  .reg .b16 %value;
  .reg .b32 %group, %threads, %i, %count;
  .reg .b64 %to, %from, %offset;
  ld.param.u64 %to, [to];
  ld.param.u64 %from, [from];
  ld.param.u32 %count, [count];
  cvta.to.global.u64 %to, %to;
  cvta.to.global.u64 %from, %from;
  mov.u32 %i, %tid.x;
  mov.u32 %group, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mad.lo.u32 %i, %group, %threads, %i;
  setp.ge.u32 %beyond, %i, %count;
  @%beyond ret;
  cvt.u64.u32 %offset, %i;
  add.u64 %to, %to, %offset;
  add.u64 %from, %from, %offset;
  ld.global.u8 %value, [%from];
  st.global.u8 [%to], %value;
  ret;
}
)";

const std::string usual_names[] = {"libcuda.so.1"};

void fillAdapters(Api& api) {
  api.deviceGetAttribute = deviceGetAttribute;
  api.deviceEnablePeerAccess = deviceEnablePeerAccess;
  api.getErrorString = getErrorString;
  api.memcpyAsync = memcpyAsync;
  api.memcpy2DAsync = memcpy2DAsync;
  api.memcpy3DAsync = memcpy3DAsync;
  if (driver.streamWaitValue32) api.streamWaitValue32 = streamWaitValue32;
  if (driver.streamWriteValue32) api.streamWriteValue32 = streamWriteValue32;
  api.enter = enter;
  api.leave = leave;
  api.targetName = targetName;
  api.peer_copy_code = peer_copy_code;
}

}  // namespace

std::unique_ptr<Provider> openCudaDriver(std::vector<port::Diagnostic>& diagnostics,
                                         std::span<const std::string> libraries) {
  const auto fail = [&](const std::string& why) {
    diagnostics.push_back({"HIP on NVIDIA's driver: " + why});
    return nullptr;
  };
  const Library library = Library::open(libraries.empty() ? usual_names : libraries);
  if (!library) return fail(library.error());
  auto provider = std::make_unique<Provider>();
  const char* missing = library.resolve(symbols, &provider->api);
  if (!missing) missing = library.resolve(driver_symbols, &driver);
  if (missing) return fail(library.name() + " lacks " + missing);
  fillAdapters(provider->api);
  if (const Status status = provider->api.init(0); status != success)
    return fail(library.name() + ": cuInit: " + describe(provider->api, status));
  int count = 0;
  provider->api.getDeviceCount(&count);
  // HIP knows a device by its ordinal; so does the driver, but nothing written promises it.
  for (int i = 0, device = 0; i < count; ++i)
    if (driver.deviceGet(&device, i) != success || device != i)
      return fail(library.name() + ": devices are not numbered by their ordinals");
  provider->name = "HIP on NVIDIA's driver (" + library.name() + ")";
  provider->platform = Platform::nvidia;
  return provider;
}

}  // namespace weft::hip
