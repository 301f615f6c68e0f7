// The entry points of the HIP runtime that the backend uses, as a table filled at run time by a
// provider (provider.h). Types are opaque and declared here, so that no vendor's headers are
// needed. Names and meanings are HIP's; the numbers are those of its ABI, equal in majors 5 to 7.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::hip {

using Status = int;  // hipError_t; CUDA's numbers are the same where both exist
using StreamHandle = struct StreamTag*;
using EventHandle = struct EventTag*;
using ModuleHandle = struct ModuleTag*;
using FunctionHandle = struct FunctionTag*;
using TextureHandle = uint64_t;  // what kernels take; 0: none

inline constexpr Status success = 0;
inline constexpr Status invalid_value = 1;
inline constexpr Status out_of_memory = 2;
inline constexpr Status no_device = 100;
inline constexpr Status not_ready = 600;
inline constexpr Status peer_already_enabled = 704;
inline constexpr Status not_supported = 801;

inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_blocking_sync = 1, event_disable_timing = 2;
inline constexpr unsigned host_portable = 1, host_mapped = 2;  // hipHostMalloc, hipHostRegister
inline constexpr unsigned attach_global = 1;                   // hipMallocManaged
inline constexpr int host_ordinal = -1;                        // hipMemPrefetchAsync
inline constexpr unsigned malloc_signal_memory = 2;            // hipExtMallocWithFlags
inline constexpr unsigned wait_value_gte = 0;
inline constexpr int copy_default = 4;  // hipMemcpyDefault: by the addresses

// hipDeviceAttribute_t.
enum class Attribute : int {
  can_use_host_pointer_for_registered_memory = 4,
  clock_rate = 5,  // kHz
  concurrent_managed_access = 9,
  integrated = 16,
  l2_cache_size = 19,
  compute_capability_major = 23,
  max_block_dim_x = 26,
  max_block_dim_y = 27,
  max_block_dim_z = 28,
  max_grid_dim_x = 29,
  max_grid_dim_y = 30,
  max_grid_dim_z = 31,
  max_threads_per_block = 56,
  compute_capability_minor = 61,
  multiprocessor_count = 63,
  pci_bus_id = 67,
  pci_device_id = 68,
  pci_domain_id = 69,
  max_shared_memory_per_block = 74,
  shared_memory_per_block_optin = 75,
  texture_pitch_alignment = 82,
  total_constant_memory = 83,
  warp_size = 87,
};

// hipFunction_attribute.
enum class FunctionAttribute : int {
  max_threads_per_block = 0,
  shared_size_bytes = 1,
  max_dynamic_shared_size_bytes = 8,
};

// hipJitOption.
enum class JitOption : int { error_log_buffer = 5, error_log_buffer_size_bytes = 6 };

struct PitchedPointer {
  void* pointer;
  size_t pitch;  // bytes between rows
  size_t width;
  size_t height;  // rows between slices
};

// hipMemcpy3DParms. (HIP_MEMCPY3D, of the driver-style call, changed its layout with major 6.)
struct Copy3D {
  void* source_array;
  size_t source_position[3];
  PitchedPointer source;
  void* destination_array;
  size_t destination_position[3];
  PitchedPointer destination;
  size_t extent[3];
  int kind;
};
static_assert(sizeof(Copy3D) == 160);

// hipArray_Format.
enum class ArrayFormat : int {
  none = 0,  // ours
  unsigned_int8 = 0x01,
  unsigned_int16 = 0x02,
  unsigned_int32 = 0x03,
  signed_int8 = 0x08,
  signed_int16 = 0x09,
  signed_int32 = 0x0a,
  half = 0x10,
  single = 0x20,
};

// HIP_RESOURCE_DESC, as far as it is of rows in memory.
struct TextureResource {
  static constexpr int pitch_2d = 3;
  int type;
  void* address;
  ArrayFormat format;
  unsigned channels;
  size_t width;   // pixels
  size_t height;  // rows
  size_t pitch;   // bytes between rows
  int unused[22];
  unsigned flags;
};
static_assert(sizeof(TextureResource) == 144 && offsetof(TextureResource, flags) == 136);

// HIPaddress_mode.
enum class AddressMode : int { wrap = 0, clamp = 1, mirror = 2, border = 3 };

// HIP_TEXTURE_DESC.
struct TextureSampling {
  static constexpr unsigned read_as_integer = 1, normalized = 2;
  AddressMode modes[3];
  int linear;  // HIPfilter_mode
  unsigned flags;
  unsigned anisotropy;
  int levels_linear;
  float level_bias, least_level, greatest_level;
  float border[4];
  int unused[12];
};
static_assert(sizeof(TextureSampling) == 104);

// nullptr: the provider lacks it, which only those marked optional may be.
struct Api {
  Status (*init)(unsigned flags);
  Status (*driverGetVersion)(int* version);
  Status (*getDeviceCount)(int* count);
  Status (*deviceGetName)(char* name, int length, int device);
  Status (*deviceGetAttribute)(int* value, Attribute attribute, int device);
  Status (*deviceTotalMem)(size_t* bytes, int device);
  Status (*deviceGetUuid)(void* uuid, int device);  // optional
  Status (*deviceCanAccessPeer)(int* can, int device, int peer);
  Status (*deviceEnablePeerAccess)(int peer, unsigned flags);
  Status (*memGetInfo)(size_t* free, size_t* total);
  const char* (*getErrorString)(Status status);

  Status (*streamCreateWithFlags)(StreamHandle* stream, unsigned flags);
  Status (*streamDestroy)(StreamHandle stream);
  Status (*streamWaitEvent)(StreamHandle stream, EventHandle event, unsigned flags);
  // Both optional.
  Status (*streamWaitValue32)(StreamHandle stream, void* address, uint32_t value, unsigned flags,
                              uint32_t mask);
  Status (*streamWriteValue32)(StreamHandle stream, void* address, uint32_t value, unsigned flags);
  // Runs in stream order on a thread of the runtime's; `function` must not call the runtime.
  Status (*launchHostFunc)(StreamHandle stream, void (*function)(void*), void* user);

  Status (*eventCreateWithFlags)(EventHandle* event, unsigned flags);
  Status (*eventDestroy)(EventHandle event);
  Status (*eventRecord)(EventHandle event, StreamHandle stream);
  Status (*eventQuery)(EventHandle event);
  Status (*eventSynchronize)(EventHandle event);
  Status (*eventElapsedTime)(float* milliseconds, EventHandle begin, EventHandle end);

  Status (*malloc)(void** address, size_t bytes);
  Status (*free)(void* address);
  Status (*mallocAsync)(void** address, size_t bytes, StreamHandle stream);    // optional
  Status (*freeAsync)(void* address, StreamHandle stream);                     // optional
  Status (*extMallocWithFlags)(void** address, size_t bytes, unsigned flags);  // AMD alone
  Status (*hostMalloc)(void** address, size_t bytes, unsigned flags);
  Status (*hostFree)(void* address);
  Status (*hostRegister)(void* address, size_t bytes, unsigned flags);
  Status (*hostUnregister)(void* address);
  Status (*hostGetDevicePointer)(void** device, void* host, unsigned flags);

  // Both or none. `device`: or host_ordinal.
  Status (*mallocManaged)(void** address, size_t bytes, unsigned flags);
  Status (*memPrefetchAsync)(const void* address, size_t bytes, int device, StreamHandle stream);

  Status (*memcpyAsync)(void* destination, const void* source, size_t bytes, int kind,
                        StreamHandle stream);
  Status (*memcpy2DAsync)(void* destination, size_t destination_pitch, const void* source,
                          size_t source_pitch, size_t width, size_t height, int kind,
                          StreamHandle stream);
  Status (*memcpy3DAsync)(const Copy3D* copy, StreamHandle stream);
  Status (*memsetD8Async)(void* address, unsigned char value, size_t count, StreamHandle stream);
  Status (*memsetD16Async)(void* address, unsigned short value, size_t count, StreamHandle stream);
  Status (*memsetD32Async)(void* address, int value, size_t count, StreamHandle stream);

  Status (*moduleLoadDataEx)(ModuleHandle* module, const void* image, unsigned options,
                             JitOption* option, void** value);
  Status (*moduleUnload)(ModuleHandle module);
  Status (*moduleGetFunction)(FunctionHandle* function, ModuleHandle module, const char* name);
  Status (*moduleLaunchKernel)(FunctionHandle function, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared_bytes, StreamHandle stream,
                               void** parameters, void** extra);
  Status (*funcGetAttribute)(int* value, FunctionAttribute attribute, FunctionHandle function);
  Status (*funcSetAttribute)(FunctionHandle function, FunctionAttribute attribute,
                             int value);  // NVIDIA alone

  // Both optional. `view` is nullptr.
  Status (*texObjectCreate)(TextureHandle* texture, const TextureResource* resource,
                            const TextureSampling* sampling, const void* view);
  Status (*texObjectDestroy)(TextureHandle texture);

  // Not HIP's, but what each provider does in its own way.

  // Makes the device current on this thread; `leave` restores what was current before, so that an
  // application which uses the vendor's runtime itself never sees the difference.
  Status (*enter)(int device, void** previous);
  void (*leave)(void* previous);
  // "sm_90", or AMD's full target name, "gfx90a:sramecc+:xnack-".
  Status (*targetName)(char* name, size_t length, int device);
  // A module with `copy_words(to, from, count)` and `copy_bytes`, one thread an element; optional.
  const char* peer_copy_code;
};

// The device current for as long as this lives.
class Current {
 public:
  Current(const Api& api, int device) : api_(api), status_(api.enter(device, &previous_)) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    if (status_ == success) api_.leave(previous_);
  }
  Status status() const { return status_; }

 private:
  const Api& api_;
  void* previous_ = nullptr;
  Status status_;
};

}  // namespace weft::hip
