// The launch record: how a kernel learns its place in the NDRange. Plain C layout, shared by the
// runtime, the backends and the code generator; change both sides together (abi_version).
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::port {

inline constexpr uint32_t abi_version = 10;

struct DeviceRequest;

// Services that code running on the host may call back. Passed by pointer in every launch record.
struct HostServices {
  // Formats one printf call. `arguments` is the packed buffer described in core/printf.h.
  void (*print)(const char* format, const void* arguments, uint64_t bytes) = nullptr;
  // Device-side enqueue (core/ports/device_queue.h). `self` are the services of the launch that
  // calls: only one of a kernel with KernelInfo::uses_device_queue has them.
  int64_t (*device_queue)(const HostServices* self, DeviceRequest* request) = nullptr;
};

// Describes the whole NDRange, whatever slice of it a launch runs. Unused dimensions are 1 (sizes)
// or 0 (offsets).
struct LaunchRecord {
  uint32_t work_dim = 1;
  uint32_t local_bytes = 0;  // local memory of a group: static and arguments; a CPU device fills it
  uint64_t global_offset[3] = {0, 0, 0};
  uint64_t global_size[3] = {1, 1, 1};
  uint64_t local_size[3] = {1, 1, 1};   // enqueued local size; edge groups may be smaller
  uint64_t group_count[3] = {1, 1, 1};  // ceil(global_size / local_size)
  const HostServices* services = nullptr;
  uint16_t joined[3] = {1, 1, 1};  // so many of the program's groups are one; kernels cannot tell
};
static_assert(sizeof(LaunchRecord) == 120 && offsetof(LaunchRecord, global_offset) == 8);

// A slice: a box of work-groups [begin, end) in each dimension.
struct GroupBox {
  uint64_t begin[3] = {0, 0, 0};
  uint64_t end[3] = {1, 1, 1};

  uint64_t count() const { return (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]); }
};

// What a kernel argument of type image*_t is: the kernel reads pixels and answers the image queries
// from this. `type`, `channel_order` and `channel_type` are OpenCL's numbers (CL_MEM_OBJECT_IMAGE*,
// CL_RGBA, CL_UNORM_INT8, ...). Pixel (x, y, z) of layer l lies at
// address + z|l * slice_pitch + y * row_pitch + x * pixel_bytes; a 1D array's layers are slices.
// The levels of a mip-mapped image follow the first, which the other members describe, without
// gaps (ImageShape::level, core/pixel_image.h).
struct ImageDescriptor {
  uint64_t address = 0;  // of the first pixel, as the device sees it
  uint64_t row_pitch = 0;
  uint64_t slice_pitch = 0;
  uint32_t width = 1, height = 1, depth = 1;  // pixels; 1 where the type has no such dimension
  uint32_t array_size = 1;
  uint32_t type = 0;
  uint32_t channel_order = 0;
  uint32_t channel_type = 0;
  uint16_t pixel_bytes = 0;
  uint16_t levels = 1;
};
static_assert(sizeof(ImageDescriptor) == 56 && offsetof(ImageDescriptor, width) == 24);

// A sampler argument is a uint32_t in the encoding of OpenCL C's sampler literals: CLK_ADDRESS_* |
// CLK_NORMALIZED_COORDS_* | CLK_FILTER_* as opencl-c-base.h defines them.
inline constexpr uint32_t sampler_normalized = 1, sampler_address_none = 0,
                          sampler_address_clamp_to_edge = 2, sampler_address_clamp = 4,
                          sampler_address_repeat = 6, sampler_address_mirrored_repeat = 8,
                          sampler_filter_nearest = 0x10, sampler_filter_linear = 0x20;
// What only sampler objects have, for mip-mapped images: whether two levels are mixed, the least
// level of detail in 256ths, and by how much the greatest is less than the largest such number.
inline constexpr uint32_t sampler_levels_linear = 0x40, sampler_level_least_shift = 8,
                          sampler_level_greatest_shift = 20, sampler_level_limit = 0xfff;

// Entry point of a kernel in a CPU image, exported under `KernelInfo::symbol`.
//   arguments[i]  points at the value of argument i: the bytes of a by-value argument; for a global
//                 or constant pointer, a void* variable; for a local pointer, a uint64_t offset
//                 into `local_memory`; a CpuImage (pixels.h); a sampler's uint32_t.
//   box           the work-groups to run, one after the other, on the calling thread.
//   local_memory  at least KernelInfo::local_bytes plus the local arguments, aligned to 128 bytes;
//                 contents undefined.
//   context       KernelInfo::lane_context_bytes * round_up(lanes, 64) bytes, aligned to 128, where
//                 lanes is the product of local_size; nullptr when lane_context_bytes is 0.
// Reentrant: any number of threads may run disjoint boxes at once, each with its own local_memory
// and context.
using CpuKernelEntry = void (*)(const void* const* arguments, const LaunchRecord* record,
                                const GroupBox* box, void* local_memory, void* context);

// What a CPU image exports when it has program-scope objects to destroy: a function without
// parameters or result, to be called before the image is unloaded and after its last kernel.
// A GPU image has a kernel of that name, and one that constructs them; both are told apart from the
// program's own by KernelInfo::is_block, take no arguments and are for one work-item.
inline constexpr char destroy_objects_symbol[] = "weft_destroy_objects";
inline constexpr char construct_objects_symbol[] = "weft_construct_objects";
// A kernel of one work-item, hidden likewise, that a GPU image has which uses device queues. It
// writes its second and third argument, of 64 bits, behind the address that is its first.
inline constexpr char profile_writer_symbol[] = "weft_write_profile";

// Where a launch on a device that cannot call the host leaves its requests about device queues
// (core/ports/journal.h).
struct Journal {
  uint64_t head = 0;    // the device's address of a JournalHead; 0: there is none
  uint64_t writer = 0;  // the launch's number among those of the journal; upper half: its round
};

// Entry point of a kernel in a GPU image (PTX, amdgcn): the function KernelInfo::symbol takes the
// kernel's arguments in their order, then this structure by value as a hidden last one.
//   arguments     by-value arguments as they are; global and constant pointers as 64-bit addresses;
//                 for a local pointer a uint64_t offset from the start of the launch's dynamic
//                 shared memory, which begins behind the kernel's static local memory, aligned to
//                 128 bytes; an ImageDescriptor by value; a sampler's uint32_t.
//   the grid      its blocks are the groups of `box`: group id = box.begin + block index, in each
//                 dimension. A box is a part of the NDRange, and one launch of an NDRange may reach
//                 the device as several grids, each with its own box.
//   the block     its dimensions are get_local_size() of every group in the box: groups at the edge
//                 of a non-uniform NDRange come in grids of their own, so no work-item of a block
//                 lies outside the NDRange. record.local_size is get_enqueued_local_size().
//   the journal   is where a kernel with KernelInfo::uses_device_queue leaves what it asks for.
//   Such
//                 a kernel's images are arguments by address: that of an ImageDescriptor.
// record.services is null, or the device's address of a print buffer (core/printf.h).
struct GpuLaunch {
  LaunchRecord record;
  GroupBox box;
  Journal journal;
};
static_assert(sizeof(GpuLaunch) == 184 && offsetof(GpuLaunch, journal) == 168);

}  // namespace weft::port
