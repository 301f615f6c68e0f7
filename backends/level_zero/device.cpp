#include "backends/level_zero/device.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/common/gpu_language.h"
#include "backends/common/software_images.h"
#include "backends/level_zero/memory.h"
#include "backends/level_zero/module.h"
#include "backends/level_zero/print_buffers.h"
#include "backends/level_zero/stream.h"
#include "core/error.h"
#include "core/ports/native_images.h"
#include "core/ports/spirv_target.h"

namespace weft::level_zero {
namespace {

constexpr uint32_t vendor_intel = 0x8086;
constexpr uint32_t base_alignment = 256;
// What the specification of OpenCL asks of a full profile.
constexpr uint32_t least_parameter_bytes = 1024;

template <class T>
T described(ze_structure_type_t type) {
  T properties{};
  properties.stype = type;
  return properties;
}

template <class Id>
std::string textOf(const Id& id) {
  std::string text;
  for (const uint8_t byte : id) {
    constexpr char digits[] = "0123456789abcdef";
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

// What the vendor calls a compute unit is one execution unit, which runs several threads.
uint32_t computeUnits(const ze_device_properties_t& device) {
  return std::max(device.numEUsPerSubslice * device.numSubslicesPerSlice * device.numSlices, 1u);
}

}  // namespace

Device::Device(std::shared_ptr<Driver> driver, ze_device_handle_t handle, port::MemorySpace space)
    : context_(std::make_shared<DeviceContext>(std::move(driver), handle, handle)) {
  capabilities_.memory_space = space;
  describe();
  describeTiles();
}

// All of the memory is every tile's.
Device::Device(const Device& root, ze_device_handle_t handle, const port::UnitSet& units)
    : context_(std::make_shared<DeviceContext>(root.context_->driver, handle,
                                               root.context_->memory_owner)),
      peers_(root.peers_) {
  describe();
  const port::Capabilities own = std::exchange(capabilities_, root.capabilities_);
  capabilities_.uuid = own.uuid;
  capabilities_.compute_units = static_cast<uint32_t>(units.size());
  capabilities_.units.clear();
  for (const uint32_t unit : units) capabilities_.units.push_back(root.capabilities_.units[unit]);
  capabilities_.max_sub_devices = 0;
  require(target_ == root.target_, CL_DEVICE_NOT_AVAILABLE, "a part takes other code");
}

void Device::describe() {
  describeDevice();
  describeDriver();
  describeBus();
  describeCode();
  describeMemory();
  describeSharedMemory();
  describeSoftwareImages(capabilities_);
  describeNativeImages();
  describeQueues();
}

void Device::describeDevice() {
  const Api& api = context_->api;
  auto device = described<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
  check(api.deviceGetProperties(context_->device, &device), "the device's properties");
  require(device.type == ZE_DEVICE_TYPE_GPU, CL_DEVICE_NOT_FOUND, "no GPU");
  capabilities_.device_class = port::DeviceClass::gpu;
  capabilities_.name = std::string(device.name, strnlen(device.name, sizeof device.name));
  capabilities_.vendor = device.vendorId == vendor_intel ? "Intel(R) Corporation" : "unknown";
  capabilities_.vendor_id = device.vendorId;
  static_assert(sizeof device.uuid.id == sizeof capabilities_.uuid);
  std::memcpy(capabilities_.uuid.data(), device.uuid.id, sizeof device.uuid.id);
  capabilities_.compute_units = computeUnits(device);
  capabilities_.max_clock_mhz = device.coreClockRate;
  capabilities_.max_allocation_bytes = device.maxMemAllocSize;
  // Of this version of the structure: ticks in a second.
  capabilities_.timer_resolution_ns =
      std::max<uint64_t>(1'000'000'000 / std::max<uint64_t>(device.timerResolution, 1), 1);
  context_->clock.describe(device.timerResolution, device.timestampValidBits);
  capabilities_.host_unified_memory = (device.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0;

  auto compute =
      described<ze_device_compute_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
  check(api.deviceGetComputeProperties(context_->device, &compute), "the compute properties");
  capabilities_.max_work_group_size = compute.maxTotalGroupSize;
  capabilities_.max_work_item_sizes = {compute.maxGroupSizeX, compute.maxGroupSizeY,
                                       compute.maxGroupSizeZ};
  capabilities_.local_memory_bytes = compute.maxSharedLocalMemory;
  context_->max_grid = {compute.maxGroupCountX, compute.maxGroupCountY, compute.maxGroupCountZ};
  describeSubGroups(
      std::span(compute.subGroupSizes)
          .first(std::min<uint32_t>(compute.numSubGroupSizes, ZE_SUBGROUPSIZE_COUNT)));
}

// Of the sizes that the device has, those that the compiler can make use of.
void Device::describeSubGroups(std::span<const uint32_t> sizes) {
  std::string features;
  for (const auto& [size, feature] : port::spirv_sub_groups)
    if (std::ranges::find(sizes, size) != sizes.end()) port::addFeature(features, feature);
  auto& known = capabilities_.sub_group_sizes;
  known = port::spirvSubGroupSizes(features);
  require(!known.empty(), CL_DEVICE_NOT_AVAILABLE, "its sub-groups are of no known size");
  capabilities_.max_sub_groups =
      static_cast<uint32_t>(capabilities_.max_work_group_size / known.front());
  capabilities_.preferred_work_group_multiple = known.back();
  target_.features = features;
}

void Device::describeDriver() {
  auto driver = described<ze_driver_properties_t>(ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
  check(context_->api.driverGetProperties(context_->driver->handle, &driver), "the driver");
  const uint32_t v = driver.driverVersion;
  capabilities_.driver_version = std::to_string(v >> 24) + "." + std::to_string(v >> 16 & 0xff) +
                                 "." + std::to_string(v & 0xffff);
  context_->maker = "level_zero " + capabilities_.driver_version + " " + textOf(driver.uuid.id) +
                    " " + textOf(capabilities_.uuid);
}

void Device::describeCode() {
  auto code = described<ze_device_module_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
  check(context_->api.deviceGetModuleProperties(context_->device, &code), "the module properties");
  require(code.spirvVersionSupported >= ZE_MAKE_VERSION(1, 2), CL_DEVICE_NOT_AVAILABLE,
          "its driver takes no SPIR-V 1.2");
  capabilities_.fp64 = (code.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0;
  capabilities_.fp16 = (code.flags & ZE_DEVICE_MODULE_FLAG_FP16) != 0;
  capabilities_.denormals = (code.fp32flags & ZE_DEVICE_FP_FLAG_DENORM) != 0;
  // The hidden argument of every launch needs some of it.
  const auto hidden = static_cast<uint32_t>(sizeof(port::GpuLaunch));
  require(code.maxArgumentsSize >= least_parameter_bytes + hidden, CL_DEVICE_NOT_AVAILABLE,
          "kernels take too few arguments");
  capabilities_.max_parameter_bytes = code.maxArgumentsSize - hidden;
  target_.kind = port::TargetKind::spirv;
  target_.cpu = "1.2";
  if (capabilities_.fp64) port::addFeature(target_.features, port::spirv_double);
  const bool long_atomics = (code.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS) != 0;
  describeGpuLanguage(capabilities_, long_atomics);
  describeFloatSums();
  capabilities_.unordered_streams = true;
  capabilities_.runs_ahead = true;
  capabilities_.fence_group = reinterpret_cast<uintptr_t>(context_->driver.get());
  capabilities_.printf = long_atomics;  // kernels take places in the buffer with one
  capabilities_.printf_buffer_bytes = PrintBuffer::capacity;
}

bool Device::driverHas(std::string_view extension) const {
  const Api& api = context_->api;
  uint32_t count = 0;
  check(api.driverGetExtensionProperties(context_->driver->handle, &count, nullptr), "extensions");
  std::vector<ze_driver_extension_properties_t> extensions(count);
  check(api.driverGetExtensionProperties(context_->driver->handle, &count, extensions.data()),
        "extensions");
  return std::ranges::any_of(extensions, [&](const auto& each) { return extension == each.name; });
}

// A tile's is its GPU's.
void Device::describeBus() {
  if (!driverHas(ZE_PCI_PROPERTIES_EXT_NAME)) return;
  auto bus = described<ze_pci_ext_properties_t>(ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES);
  if (context_->api.devicePciGetPropertiesExt(context_->device, &bus) != ZE_RESULT_SUCCESS) return;
  const auto& at = bus.address;
  capabilities_.pci = port::PciAddress{at.domain, at.bus, at.device, at.function};
}

// What the device does not have is made by exchanging.
void Device::describeFloatSums() {
  if (!driverHas(ZE_FLOAT_ATOMICS_EXT_NAME)) return;
  auto sums =
      described<ze_float_atomic_ext_properties_t>(ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES);
  auto code = described<ze_device_module_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
  code.pNext = &sums;
  check(context_->api.deviceGetModuleProperties(context_->device, &code), "the module properties");
  const auto add = [&](uint32_t flag, const char* feature) {
    if ((sums.fp32Flags & flag) != 0) port::addFeature(target_.features, feature);
  };
  add(ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD, port::spirv_global_float_sums);
  add(ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD, port::spirv_local_float_sums);
}

void Device::describeMemory() {
  const Api& api = context_->api;
  uint32_t count = 0;
  check(api.deviceGetMemoryProperties(context_->device, &count, nullptr), "the device's memory");
  std::vector<ze_device_memory_properties_t> memories(
      count, described<ze_device_memory_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES));
  check(api.deviceGetMemoryProperties(context_->device, &count, memories.data()),
        "the device's memory");
  for (const auto& memory : memories)
    capabilities_.global_memory_bytes =
        std::max(capabilities_.global_memory_bytes, memory.totalSize);
  auto& most = capabilities_.max_allocation_bytes;
  most = std::min(most, capabilities_.global_memory_bytes);
  capabilities_.constant_buffer_bytes = most;
  capabilities_.max_constant_arguments = 8;
  capabilities_.base_address_alignment_bytes = base_alignment;

  count = 0;
  check(api.deviceGetCacheProperties(context_->device, &count, nullptr), "the device's caches");
  std::vector<ze_device_cache_properties_t> caches(
      count, described<ze_device_cache_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES));
  check(api.deviceGetCacheProperties(context_->device, &count, caches.data()), "the caches");
  for (const auto& cache : caches)
    capabilities_.global_cache.bytes =
        std::max<uint64_t>(capabilities_.global_cache.bytes, cache.cacheSize);
}

// Those that kernels may sample, besides the images in software that every kernel has.
void Device::describeNativeImages() {
  if (!context_->driver->native_images) return;
  constexpr uint64_t part = 8;  // of the memory
  auto limits = described<ze_device_image_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES);
  if (context_->api.deviceGetImageProperties(context_->device, &limits) != ZE_RESULT_SUCCESS ||
      limits.maxSamplers < port::most_native_samplers ||
      limits.maxReadImageArgs < port::most_native_images || limits.maxImageDims2D == 0)
    return;
  context_->image_limits = limits;
  context_->most_images = capabilities_.global_memory_bytes / part;
  port::addFeature(target_.features, port::native_images_feature);
}

// A driver knows its own allocations of host memory only, and one of an allocation's devices has to
// make it: those of other drivers could not use it.
void Device::describeSharedMemory() {
  auto access = described<ze_device_memory_access_properties_t>(
      ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES);
  check(context_->api.deviceGetMemoryAccessProperties(context_->device, &access),
        "how the device uses the host's memory");
  const auto can = [](ze_memory_access_cap_flags_t has, ze_memory_access_cap_flags_t what) {
    return (has & what) == what;
  };
  constexpr auto rw = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
  constexpr auto while_host_does = rw | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT;
  context_->adds_on_host = can(access.hostAllocCapabilities, rw | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC);
  uses_any_memory_ = can(access.sharedSystemAllocCapabilities, rw);
  const auto has =
      uses_any_memory_ ? access.sharedSystemAllocCapabilities : access.hostAllocCapabilities;
  if (!can(has, rw) || !(uses_any_memory_ || context_->driver->first)) return;
  capabilities_.shared_memory = port::shares_coarse_buffers;
  if (can(has, while_host_does)) capabilities_.shared_memory |= port::shares_fine_buffers;
}

void Device::describeQueues() {
  const Api& api = context_->api;
  uint32_t count = 0;
  check(api.deviceGetCommandQueueGroupProperties(context_->device, &count, nullptr), "its queues");
  std::vector<ze_command_queue_group_properties_t> groups(
      count, described<ze_command_queue_group_properties_t>(
                 ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES));
  check(api.deviceGetCommandQueueGroupProperties(context_->device, &count, groups.data()),
        "its queues");
  std::optional<QueueGroup> compute, copies;
  for (uint32_t i = 0; i < groups.size(); ++i) {
    const auto& group = groups[i];
    if (group.numQueues == 0) continue;
    const QueueGroup one{i, group.maxMemoryFillPatternSize};
    if (group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) {
      if (!compute) compute = one;
    } else if (group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) {
      if (!copies) copies = one;
    }
  }
  require(compute.has_value(), CL_DEVICE_NOT_AVAILABLE, "no queue runs kernels");
  context_->compute = *compute;
  context_->copies = copies.value_or(*compute);
}

// Two parts or more have a domain each; of other numbers nothing can be divided.
void Device::describeTiles() {
  const Api& api = context_->api;
  uint32_t count = 0;
  if (api.deviceGetSubDevices(context_->device, &count, nullptr) != ZE_RESULT_SUCCESS || count < 2)
    return;
  tiles_.resize(count);
  check(api.deviceGetSubDevices(context_->device, &count, tiles_.data()), "the device's parts");
  for (uint32_t tile = 0; tile < count; ++tile) {
    auto part = described<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
    check(api.deviceGetProperties(tiles_[tile], &part), "a part's properties");
    for (uint32_t i = computeUnits(part); i > 0; --i) {
      port::ComputeUnit& unit = capabilities_.units.emplace_back();
      unit.core = static_cast<uint32_t>(capabilities_.units.size() - 1);
      unit.domains[static_cast<size_t>(port::Domain::numa)] = tile;
    }
  }
  capabilities_.compute_units = static_cast<uint32_t>(capabilities_.units.size());
  capabilities_.max_sub_devices = count;
}

// A driver may find out whether the peer can be accessed by doing it, which is spared those that
// could not.
void Device::connect(const Device& peer) {
  if (context_->driver != peer.context_->driver) return;
  const Api& api = context_->api;
  auto properties = described<ze_device_p2p_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES);
  ze_bool_t can = 0;
  if (api.deviceGetP2PProperties(context_->device, peer.context_->device, &properties) ==
          ZE_RESULT_SUCCESS &&
      (properties.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS) != 0 &&
      api.deviceCanAccessPeer(context_->device, peer.context_->device, &can) == ZE_RESULT_SUCCESS &&
      can)
    peers_.push_back(peer.capabilities_.memory_space);
}

bool Device::lost() const noexcept { return context_->lost.load(std::memory_order_relaxed); }

bool Device::reaches(port::MemorySpace space) const {
  return space == port::host_space || space == capabilities_.memory_space ||
         std::ranges::find(peers_, space) != peers_.end();
}

// Every time that the backend tells is already one of the host's clock.
port::ClockPair Device::clocks() const {
  const port::Nanoseconds now = hostNow();
  return {now, now};
}

std::vector<std::shared_ptr<port::Device>> Device::partition(std::span<const port::UnitSet> parts) {
  std::vector<std::shared_ptr<port::Device>> made;
  for (const port::UnitSet& part : parts)
    made.push_back(std::make_shared<Device>(*this, handleOf(part), part));
  return made;
}

// Of all of the units, or those of one tile.
ze_device_handle_t Device::handleOf(const port::UnitSet& part) const {
  const auto& units = capabilities_.units;
  const bool known = !part.empty() &&
                     std::ranges::all_of(part, [&](uint32_t unit) { return unit < units.size(); });
  require(known, CL_INVALID_DEVICE_PARTITION_COUNT, "units that are not there");
  if (part.size() == units.size()) return context_->device;
  const uint32_t tile = units[part[0]].in(port::Domain::numa);
  const auto on_tile = [&](const port::ComputeUnit& unit) {
    return unit.in(port::Domain::numa) == tile;
  };
  const bool whole =
      std::ranges::all_of(part, [&](uint32_t unit) { return on_tile(units[unit]); }) &&
      std::ranges::count_if(units, on_tile) == std::ssize(part);
  require(whole, CL_DEVICE_PARTITION_FAILED, "a part of a GPU is one of its tiles");
  return tiles_[tile];
}

std::unique_ptr<port::Stream> Device::createStream(port::Order order) {
  if (order == port::Order::unordered) return std::make_unique<UnorderedStream>(context_);
  return std::make_unique<InOrderStream>(context_, context_->compute);
}

std::unique_ptr<port::Memory> Device::allocate(size_t bytes, size_t alignment) {
  require(alignment <= base_alignment, CL_MEM_OBJECT_ALLOCATION_FAILURE,
          "more alignment than the device's memory is given");
  require(bytes <= capabilities_.max_allocation_bytes, CL_MEM_OBJECT_ALLOCATION_FAILURE,
          "more than the device's largest allocation");
  check(context_->usable(), "the device");
  return allocateDevice(context_, bytes, base_alignment);
}

std::unique_ptr<port::Memory> Device::import(void* host, size_t bytes) {
  if (uses_any_memory_) return importAny(host, bytes);
  return capabilities_.shared_memory ? importHost(context_->driver, host, bytes) : nullptr;
}

std::unique_ptr<port::Memory> Device::allocateShared(size_t bytes) {
  if (uses_any_memory_ || !capabilities_.shared_memory) return nullptr;
  return allocateHost(context_->driver, bytes);
}

std::unique_ptr<port::Module> Device::load(const Image& image) {
  require(port::loads(target_, image.target), CL_INVALID_BINARY, "the image is for another target");
  require(image.kind == ImageKind::executable, CL_INVALID_BINARY, "the image is not linked");
  return std::make_unique<Module>(context_, image);
}

}  // namespace weft::level_zero
