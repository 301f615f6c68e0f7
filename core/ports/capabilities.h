// What a backend's device can do, in terms of no particular API. Immutable after discovery.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ports/topology.h"

namespace weft::port {

enum class DeviceClass : uint8_t { cpu, gpu, accelerator };

enum class TargetKind : uint8_t { host_cpu, amdgcn, nvptx, spirv };

// What the compiler needs to know to produce an image for a device. Equal targets share images.
struct Target {
  TargetKind kind = TargetKind::host_cpu;
  std::string cpu;       // LLVM processor name, e.g. "skylake-avx512", "gfx1100", "sm_90"
  std::string features;  // LLVM subtarget feature string, may be empty
  bool operator==(const Target&) const = default;
};

// Devices with equal memory spaces see each other's allocations at the same address and never need
// a transfer between them. Space `host` is ordinary host memory.
using MemorySpace = uint32_t;
inline constexpr MemorySpace host_space = 0;

// What a sub-group of the CPU device may be: lanes that follow each other, so any size would do.
inline constexpr std::array<uint32_t, 3> cpu_sub_group_sizes = {8, 16, 32};
inline constexpr uint32_t cpu_sub_group_size = 16;  // where a kernel does not ask for one
inline constexpr size_t cpu_max_work_group_size = 4096;
// A warp; a wave, or half of one.
inline constexpr uint32_t gpu_sub_group_size = 32;
// In a kernel. NVIDIA's GPUs have one more, which is the group's own; the CPU's are words of local
// memory.
inline constexpr uint32_t gpu_named_barriers = 15, cpu_named_barriers = 64;

// Which memory of the host kernels can use in place, at the host's own addresses. The bits are
// those of cl_device_svm_capabilities.
enum SharedMemory : uint32_t {
  shares_nothing = 0,
  shares_coarse_buffers = 1 << 0,
  shares_fine_buffers = 1 << 1,
  shares_all_memory = 1 << 2,
  shares_atomics = 1 << 3,
};

struct CacheInfo {
  uint64_t bytes = 0;
  uint32_t line_bytes = 64;
};

// The largest images, and how many a kernel may have. Zeros: the device has no images.
struct ImageLimits {
  size_t width_2d = 0, height_2d = 0;  // pixels, as are all sizes here
  size_t width_3d = 0, height_3d = 0, depth_3d = 0;
  size_t buffer_pixels = 0;
  size_t array_size = 0;
  uint32_t read_arguments = 0;
  uint32_t write_arguments = 0;
  uint32_t read_write_arguments = 0;
  uint32_t samplers = 0;
  // Of 2D images made from buffers, in pixels.
  uint32_t pitch_alignment = 0;
  uint32_t base_address_alignment = 0;
};

struct PciAddress {
  uint32_t domain = 0;
  uint32_t bus = 0;
  uint32_t device = 0;
  uint32_t function = 0;
};

struct Capabilities {
  DeviceClass device_class = DeviceClass::cpu;
  std::string name;
  std::string vendor;
  std::string driver_version;
  uint32_t vendor_id = 0;
  std::array<uint8_t, 16> uuid{};
  std::optional<PciAddress> pci;

  uint32_t compute_units = 1;
  uint32_t max_clock_mhz = 0;
  size_t max_work_group_size = 1;
  std::array<size_t, 3> max_work_item_sizes{1, 1, 1};
  size_t preferred_work_group_multiple = 1;
  bool vectors_are_rows = false;          // neighbours in other dimensions share none
  uint32_t max_sub_groups = 0;            // in a work-group; 0: the device has no sub-groups
  std::vector<uint32_t> sub_group_sizes;  // that kernels may require
  uint32_t named_barriers = 0;            // in a kernel

  uint64_t global_memory_bytes = 0;
  uint64_t max_allocation_bytes = 0;
  CacheInfo global_cache;
  uint64_t local_memory_bytes = 0;
  uint64_t constant_buffer_bytes = 0;
  uint32_t max_constant_arguments = 0;
  uint32_t max_parameter_bytes = 0;
  uint32_t base_address_alignment_bytes = 128;
  uint64_t printf_buffer_bytes = 1 << 20;
  uint64_t timer_resolution_ns = 1;

  bool fp64 = false;
  bool fp16 = false;
  bool denormals = true;
  bool rounds_divide_sqrt = false;  // correctly, in single precision, whatever the options
  bool host_unified_memory = false;
  bool native_kernels = false;
  bool unordered_streams = false;  // Stream(Order::unordered) really overlaps its operations
  // An in-order stream is worth feeding ahead: what is submitted behind an unfinished operation
  // starts by itself when that ends, without the host.
  bool runs_ahead = false;
  // Streams of all devices that say the same number can wait for each other's operations without
  // the host (Operation::behind); 0: those of this device cannot.
  uint64_t fence_group = 0;
  // All devices that say the same number use each other's managed memory (shared_memory.h), while
  // the host does; 0: there is none of this device.
  uint64_t managed_group = 0;
  bool printf = false;
  bool images = false;
  bool pipes = false;
  bool device_queues = false;
  bool calls_host = false;  // kernels reach HostServices while they run
  ImageLimits image_limits;
  // What the language has on the device beyond what follows from the members above: names of
  // extensions and of feature macros.
  std::vector<std::string> language_extensions;
  std::vector<std::string> language_features;

  MemorySpace memory_space = host_space;
  // Anything but nothing means that import() takes memory in whole pages at its host address.
  uint32_t shared_memory = shares_nothing;
  uint32_t max_sub_devices = 0;  // 0: the device cannot be partitioned
  // One per compute unit, neighbours next to each other; empty where nothing is known of them.
  std::vector<ComputeUnit> units;
  Placement placement = Placement::cores;
};

}  // namespace weft::port
