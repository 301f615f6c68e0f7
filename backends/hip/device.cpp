#include "backends/hip/device.h"

#include <algorithm>

#include "backends/common/gpu_language.h"
#include "backends/common/native_images.h"
#include "backends/common/software_images.h"
#include "backends/hip/errors.h"
#include "backends/hip/memory.h"
#include "backends/hip/module.h"
#include "core/error.h"
#include "core/ports/native_images.h"

namespace weft::hip {
namespace {

// Where the host and one of the devices may not use it at the same time, the host's access to any
// of it while a kernel of that one runs would be a fault, whoever made it.
bool managedAccessIsConcurrent(const Api& api) {
  int devices = 0, concurrent = 1;
  if (api.getDeviceCount(&devices) != success) return false;
  for (int i = 0; i < devices && concurrent; ++i)
    if (api.deviceGetAttribute(&concurrent, Attribute::concurrent_managed_access, i) != success)
      return false;
  return concurrent != 0;
}

constexpr uint32_t vendor_amd = 0x1002, vendor_nvidia = 0x10de;
// What kernels take as parameters on every target, less the hidden launch record.
constexpr uint32_t parameter_bytes = 4096 - sizeof(port::GpuLaunch);
constexpr uint32_t base_alignment = 256;
constexpr uint64_t most_grid_items = 0xffffffff;

// Of NVIDIA's compute capability, major * 10 + minor: from here on there are instructions for half,
// and kernels take more than 4096 bytes of parameters.
constexpr int half_capability = 53, large_parameters_capability = 70;

uint64_t atLeastZero(int value) { return static_cast<uint64_t>(std::max(value, 0)); }

// The runtime's version as text: HIP counts major * 10'000'000 + minor * 100'000 + patch, the
// driver major * 1000 + minor * 10.
std::string versionText(Platform platform, int version) {
  const int unit = platform == Platform::amd ? 10'000'000 : 1000;
  const int part = platform == Platform::amd ? 100'000 : 10;
  return std::to_string(version / unit) + "." + std::to_string(version % unit / part);
}

}  // namespace

Device::Device(std::shared_ptr<Runtime> runtime, int ordinal, port::MemorySpace first_space)
    : context_(std::make_shared<DeviceContext>(std::move(runtime), ordinal)) {
  capabilities_.memory_space = first_space + static_cast<port::MemorySpace>(ordinal);
  describeDevice();
  describeMemory();
  describeImages();
}

int Device::attribute(Attribute attribute) const {
  int value = 0;
  const bool known =
      context_->api.deviceGetAttribute(&value, attribute, context_->device) == success;
  return known ? value : 0;
}

void Device::describeDevice() {
  const Api& api = context_->api;
  const Platform platform = context_->runtime->provider->platform;
  const int device = context_->device;
  char text[256] = {};
  check(api, api.deviceGetName(text, sizeof text, device), "the device's name");
  capabilities_.name = text;
  check(api, api.targetName(text, sizeof text, device), "the device's target");
  target_.kind = platform == Platform::amd ? port::TargetKind::amdgcn : port::TargetKind::nvptx;
  const std::string full = text;
  target_.cpu = full.substr(0, full.find(':'));
  if (target_.cpu.size() < full.size()) target_.features = full.substr(target_.cpu.size() + 1);

  capabilities_.device_class = port::DeviceClass::gpu;
  capabilities_.vendor =
      platform == Platform::amd ? "Advanced Micro Devices, Inc." : "NVIDIA Corporation";
  capabilities_.vendor_id = platform == Platform::amd ? vendor_amd : vendor_nvidia;
  int version = 0;
  if (api.driverGetVersion(&version) == success)
    capabilities_.driver_version = versionText(platform, version);
  if (const int bus = attribute(Attribute::pci_bus_id), slot = attribute(Attribute::pci_device_id);
      bus != 0 || slot != 0)
    capabilities_.pci = port::PciAddress{uint32_t(attribute(Attribute::pci_domain_id)),
                                         uint32_t(bus), uint32_t(slot), 0};
  if (api.deviceGetUuid) api.deviceGetUuid(capabilities_.uuid.data(), device);

  const auto count = [&](Attribute a) { return static_cast<uint32_t>(std::max(attribute(a), 1)); };
  capabilities_.compute_units = count(Attribute::multiprocessor_count);
  capabilities_.max_clock_mhz = count(Attribute::clock_rate) / 1000;
  capabilities_.max_work_group_size = count(Attribute::max_threads_per_block);
  capabilities_.max_work_item_sizes = {count(Attribute::max_block_dim_x),
                                       count(Attribute::max_block_dim_y),
                                       count(Attribute::max_block_dim_z)};
  capabilities_.max_sub_groups =
      static_cast<uint32_t>(capabilities_.max_work_group_size / port::gpu_sub_group_size);
  capabilities_.sub_group_sizes = {port::gpu_sub_group_size};
  capabilities_.preferred_work_group_multiple = count(Attribute::warp_size);
  context_->max_grid = {count(Attribute::max_grid_dim_x), count(Attribute::max_grid_dim_y),
                        count(Attribute::max_grid_dim_z)};
  // AMD's dispatch packet counts a grid in work-items.
  if (platform == Platform::amd)
    for (uint64_t& groups : context_->max_grid)
      groups = std::min(groups, most_grid_items / capabilities_.max_work_group_size);
  capabilities_.max_parameter_bytes = parameter_bytes;
  capabilities_.base_address_alignment_bytes = base_alignment;
  capabilities_.timer_resolution_ns = 1000;
  capabilities_.fp64 = true;
  capabilities_.fp16 = platform == Platform::amd || capability() >= half_capability;
  capabilities_.unordered_streams = true;
  capabilities_.runs_ahead = true;
  capabilities_.fence_group = reinterpret_cast<uintptr_t>(context_->runtime.get());
  capabilities_.printf_buffer_bytes = PrintBuffers::capacity;
  capabilities_.printf = true;
  constexpr bool long_atomics = true;
  describeGpuLanguage(capabilities_, long_atomics);
  describeGpuClocks(capabilities_);
  // Of two sub-groups in one wave of AMD's none gets on while the other waits.
  if (capabilities_.preferred_work_group_multiple == port::gpu_sub_group_size)
    describeNamedBarriers(capabilities_);
}

void Device::describeMemory() {
  const Api& api = context_->api;
  size_t total = 0;
  check(api, api.deviceTotalMem(&total, context_->device), "the device's memory");
  capabilities_.global_memory_bytes = total;
  capabilities_.max_allocation_bytes = total / 4 * 3;
  capabilities_.global_cache = {atLeastZero(attribute(Attribute::l2_cache_size)), 128};
  context_->max_shared_bytes =
      atLeastZero(std::max(attribute(Attribute::max_shared_memory_per_block),
                           attribute(Attribute::shared_memory_per_block_optin)));
  // More than this only a launch can ask for, not a kernel's own variables.
  capabilities_.local_memory_bytes = atLeastZero(attribute(Attribute::max_shared_memory_per_block));
  capabilities_.constant_buffer_bytes = atLeastZero(attribute(Attribute::total_constant_memory));
  capabilities_.max_constant_arguments = 8;
  capabilities_.host_unified_memory = attribute(Attribute::integrated) != 0;
  if (attribute(Attribute::can_use_host_pointer_for_registered_memory))
    capabilities_.shared_memory = port::shares_coarse_buffers | port::shares_fine_buffers;
  if (capabilities_.shared_memory && api.mallocManaged && api.memPrefetchAsync &&
      managedAccessIsConcurrent(api))
    capabilities_.managed_group = reinterpret_cast<uintptr_t>(context_->runtime.get());
}

int Device::capability() const {
  return attribute(Attribute::compute_capability_major) * 10 +
         attribute(Attribute::compute_capability_minor);
}

// Their descriptors are parameters of the kernel.
void Device::describeImages() {
  describeSoftwareImages(capabilities_);
  const bool many = context_->runtime->provider->platform == Platform::amd ||
                    capability() >= large_parameters_capability;
  if (!many) capabilities_.image_limits.read_arguments = 64;
  describeTextures();
}

// NVIDIA's GPUs have them, and software GPUs when they are asked for.
void Device::describeTextures() {
  const bool nvidia = context_->runtime->provider->platform == Platform::nvidia;
  if (!context_->api.texObjectCreate || !context_->api.texObjectDestroy ||
      !(nvidia || target_.cpu == "host") || !wishesNativeImages(nvidia))
    return;
  const int alignment = attribute(Attribute::texture_pitch_alignment);
  if (alignment <= 0) return;
  context_->texture_pitch_alignment = static_cast<size_t>(alignment);
  port::addFeature(target_.features, port::native_images_feature);
}

void Device::connect(const Device& peer) {
  const Api& api = context_->api;
  int can = 0;
  if (api.deviceCanAccessPeer(&can, context_->device, peer.context_->device) != success || !can)
    return;
  peers_.push_back({peer.capabilities_.memory_space, peer.context_->device});
}

// With the first stream, because it makes the runtime's contexts on both devices. Copies between
// devices work without, only slower.
void Device::enablePeers() {
  const std::lock_guard once(enabling_);
  if (std::exchange(peers_enabled_, true) || peers_.empty()) return;
  const Current current(context_->api, context_->device);
  if (current.status() != success) return;
  for (const Peer& peer : peers_) {
    const Status status = context_->api.deviceEnablePeerAccess(peer.device, 0);
    if (status == success || status == peer_already_enabled)
      context_->peer_copies.enable(peer.device);
  }
}

bool Device::reaches(port::MemorySpace space) const {
  return space == port::host_space || space == capabilities_.memory_space ||
         std::ranges::find(peers_, space, &Peer::space) != peers_.end();
}

uint64_t Device::freeMemory() const {
  const Current current(context_->api, context_->device);
  size_t free = 0;
  size_t total = 0;
  if (current.status() != success || context_->api.memGetInfo(&free, &total) != success) return 0;
  return free + context_->memory.bytes();
}

// Every time that the backend tells is already one of the host's clock.
port::ClockPair Device::clocks() const {
  const port::Nanoseconds now = hostNow();
  return {now, now};
}

bool Device::lost() const noexcept { return context_->lost.load(std::memory_order_relaxed); }

std::vector<std::shared_ptr<port::Device>> Device::partition(std::span<const port::UnitSet>) {
  throw Error(CL_DEVICE_PARTITION_FAILED, "a GPU is not partitioned");
}

std::unique_ptr<port::Stream> Device::createStream(port::Order order) {
  enablePeers();
  if (order == port::Order::unordered)
    return std::make_unique<UnorderedStream>(context_, StreamOptions{});
  return createInOrderStream({});
}

std::unique_ptr<InOrderStream> Device::createInOrderStream(const StreamOptions& options) {
  return std::make_unique<InOrderStream>(context_, options);
}

std::unique_ptr<port::Memory> Device::allocate(size_t bytes, size_t alignment) {
  require(alignment <= base_alignment, CL_MEM_OBJECT_ALLOCATION_FAILURE,
          "more alignment than the runtime gives");
  require(bytes <= capabilities_.max_allocation_bytes, CL_MEM_OBJECT_ALLOCATION_FAILURE,
          "more than the device's largest allocation");
  return allocateMemory(context_, bytes);
}

std::unique_ptr<port::Memory> Device::import(void* host, size_t bytes) {
  return importMemory(context_->runtime, context_->device, host, bytes);
}

std::unique_ptr<port::Memory> Device::allocateManaged(size_t bytes) {
  check(context_->api, context_->usable(success), "the device");
  return hip::allocateManaged(context_->runtime, context_->device, bytes);
}

std::unique_ptr<port::Module> Device::load(const Image& image) {
  require(port::loads(target_, image.target), CL_INVALID_BINARY, "the image is for another target");
  require(image.kind == ImageKind::executable, CL_INVALID_BINARY, "the image is not linked");
  if (!peers_.empty()) context_->peer_copies.load();
  return std::make_unique<Module>(context_, image);
}

}  // namespace weft::hip
