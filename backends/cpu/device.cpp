#include "backends/cpu/device.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <fstream>

#include "backends/common/memory_space.h"
#include "backends/common/software_images.h"
#include "backends/cpu/clock.h"
#include "backends/cpu/memory.h"
#include "backends/cpu/module.h"
#include "backends/cpu/stream.h"
#include "backends/cpu/target.h"
#include "core/error.h"
#include "core/system.h"

namespace weft::cpu {
namespace {

constexpr uint64_t kib = 1 << 10, mib = 1 << 20;
// The most that OpenCL's full profile asks of any device: see CL_DEVICE_MAX_MEM_ALLOC_SIZE,
// _MAX_CONSTANT_BUFFER_SIZE, _MAX_CONSTANT_ARGS and _MAX_PARAMETER_SIZE for the minima.
constexpr uint64_t minimum_allocation = 128 * mib;
constexpr uint64_t minimum_constant = 64 * kib;
constexpr uint32_t constant_arguments = 128;
constexpr uint32_t parameter_bytes = 4096;

port::MemorySpace newMemorySpace() {
  static std::atomic<port::MemorySpace> next{cpu_space_base};
  return next.fetch_add(1, std::memory_order_relaxed);
}

constexpr const char* language_extensions[] = {
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_extended_async_copies",
    "cl_khr_extended_bit_ops",
    "cl_khr_integer_dot_product",
    "cl_ext_float_atomics",
    "cl_ext_cxx_for_opencl",
    "cl_khr_kernel_clock",
    "cl_khr_expect_assume",
    "cl_khr_mipmap_image",
    "cl_khr_mipmap_image_writes",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_named_barrier",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_work_group_uniform_arithmetic",
    "cl_intel_required_subgroup_size",
    "cl_amd_fp64",
    "cl_amd_media_ops",
    "cl_amd_media_ops2",
    "cl_amd_popcnt",
    "cl_amd_printf",
    "cl_amd_vec3",
};
constexpr const char* language_features[] = {
    "__opencl_c_generic_address_space",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_work_group_collective_functions",
    "__opencl_c_subgroups",
    "__opencl_c_pipes",
    "__opencl_c_device_enqueue",
    "__opencl_c_kernel_clock_scope_device",
    "__opencl_c_kernel_clock_scope_work_group",
    "__opencl_c_kernel_clock_scope_sub_group",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_min_max",
    "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max",
    "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
};

struct Vendor {
  const char* cpuid;
  uint32_t pci_id;
};
constexpr Vendor vendors[] = {{"GenuineIntel", 0x8086}, {"AuthenticAMD", 0x1022}};

uint64_t hash(uint64_t seed, std::string_view text) {
  for (const char c : text) seed = (seed ^ uint8_t(c)) * 0x100000001b3u;
  return seed;
}

// The same for the same processors of the same machine, whatever the process.
std::array<uint8_t, 16> stableId(const std::string& model, const std::vector<unsigned>& pus) {
  std::string machine;
  std::getline(std::ifstream("/etc/machine-id"), machine);
  std::string text = machine + '\n' + model;
  for (const unsigned pu : pus) text += ' ' + std::to_string(pu);
  const uint64_t halves[2] = {hash(0xcbf29ce484222325u, text), hash(0x9e3779b97f4a7c15u, text)};
  std::array<uint8_t, 16> id;
  std::memcpy(id.data(), halves, sizeof halves);
  return id;
}

std::vector<unsigned> processors(Topology::Units units) {
  std::vector<unsigned> list;
  for (const port::ComputeUnit& unit : units) list.push_back(unit.processor);
  return list;
}

void describeProcessor(port::Capabilities& c, const std::vector<unsigned>& pus) {
  const ProcessorInfo info = processorInfo();
  c.device_class = port::DeviceClass::cpu;
  c.name = info.model;
  c.vendor = info.vendor;
  c.driver_version = WEFT_VERSION;
  for (const Vendor& vendor : vendors)
    if (info.vendor == vendor.cpuid) c.vendor_id = vendor.pci_id;
  c.uuid = stableId(info.model, pus);
  c.compute_units = uint32_t(pus.size());
  c.max_clock_mhz = info.max_clock_mhz;
}

// What the units' nodes have; memory that is near no PU is everybody's, so all of it together where
// no node with PUs is missing.
uint64_t memoryBytes(const Topology& topology, Topology::Units units) {
  const uint64_t physical = physicalMemoryBytes();
  const NodeSet own = topology.nodes(units);
  const bool all = own == topology.nodes(topology.units());
  if (all && !topology.isDescribed()) return physical;
  const uint64_t bytes = topology.memoryBytes(own);
  // Whatever a description says, programs want to have some.
  return bytes == 0 ? physical : std::min(physical, std::max(bytes, minimum_allocation));
}

void describeMemory(port::Capabilities& c, const Caches& caches, uint64_t bytes, uint64_t limit) {
  c.global_memory_bytes = std::min(bytes, limit);
  c.max_allocation_bytes =
      std::min(c.global_memory_bytes, std::max(c.global_memory_bytes / 4 * 3, minimum_allocation));
  c.global_cache = {caches.last_level_bytes, caches.line_bytes};
  // Local memory is ordinary memory that should stay in the core's own cache while a group runs,
  // along with what the group reads. Programs size their tiles, and their buffers, by it. Some ask
  // for as much as the largest group may want, 16 bytes and some padding for each work-item.
  c.local_memory_bytes = 128 * kib;
  c.constant_buffer_bytes = std::max(minimum_constant, c.local_memory_bytes);
  c.max_constant_arguments = constant_arguments;
  c.max_parameter_bytes = parameter_bytes;
}

port::Capabilities describe(const Topology& topology, std::vector<port::ComputeUnit> units,
                            const port::Target& target, const Settings& settings) {
  port::Capabilities c;
  describeProcessor(c, processors(units));
  describeMemory(c, topology.caches(units), memoryBytes(topology, units), settings.memory_limit);
  describeSoftwareImages(c);
  c.max_work_group_size = port::cpu_max_work_group_size;
  c.max_work_item_sizes = {port::cpu_max_work_group_size, port::cpu_max_work_group_size,
                           port::cpu_max_work_group_size};
  c.preferred_work_group_multiple = vectorLanes(target);
  c.vectors_are_rows = true;
  c.max_sub_groups = port::cpu_max_work_group_size / port::cpu_sub_group_sizes.front();
  c.sub_group_sizes.assign(port::cpu_sub_group_sizes.begin(), port::cpu_sub_group_sizes.end());
  c.named_barriers = port::cpu_named_barriers;
  c.fp64 = true;
  c.rounds_divide_sqrt = true;
  c.fp16 = true;
  c.host_unified_memory = true;
  c.native_kernels = true;
  c.unordered_streams = true;
  c.printf = true;
  c.pipes = true;
  c.device_queues = true;
  c.calls_host = true;
  c.language_extensions.assign(std::begin(language_extensions), std::end(language_extensions));
  c.language_features.assign(std::begin(language_features), std::end(language_features));
  c.shared_memory = port::shares_coarse_buffers | port::shares_fine_buffers |
                    port::shares_all_memory | port::shares_atomics;
  c.max_sub_devices = units.size() > 1 ? c.compute_units : 0;
  c.units = std::move(units);
  c.placement = settings.placement;
  return c;
}

}  // namespace

Device::Device(std::shared_ptr<const Topology> topology, std::vector<port::ComputeUnit> units,
               Settings settings)
    : topology_(std::move(topology)),
      settings_(std::move(settings)),
      target_(hostTarget(settings_.vectors)),
      home_{topology_, {}, {}, settings_.spread},
      capabilities_(describe(*topology_, std::move(units), target_, settings_)) {
  if (topology_->memoryNodes() > 1) home_.nodes = topology_->nodes(capabilities_.units);
  if (home_.nodes.size() > 1 && settings_.spread == Spread::first_touch) home_.nodes.clear();
  home_.units.resize(home_.nodes.size());
  for (const Seat& seat : seats())
    if (seat.node != Seat::no_node) ++home_.units[seat.node];
  if (settings_.private_memory) capabilities_.memory_space = newMemorySpace();
}

bool Device::reaches(port::MemorySpace space) const {
  return space == port::host_space || inSpaceRange(space, cpu_space_base);
}

uint64_t Device::freeMemory() const { return availableMemoryBytes(); }

port::ClockPair Device::clocks() const {
  const port::Nanoseconds t = now();
  return {t, t};
}

std::vector<std::shared_ptr<port::Device>> Device::partition(std::span<const port::UnitSet> parts) {
  const std::vector<port::ComputeUnit>& own = capabilities_.units;
  std::vector<std::shared_ptr<port::Device>> devices;
  for (const port::UnitSet& part : parts) {
    require(!part.empty() && part.back() < own.size(), CL_INVALID_DEVICE_PARTITION_COUNT,
            "compute units that the device does not have, or none");
    std::vector<port::ComputeUnit> units;
    for (const uint32_t index : part) units.push_back(own[index]);
    devices.push_back(std::make_shared<Device>(topology_, std::move(units), settings_));
  }
  return devices;
}

// A unit that has no memory of its own is on the first of the nodes that are equally far.
std::vector<Seat> Device::seats() const {
  std::vector<Seat> list;
  for (const port::ComputeUnit& unit : capabilities_.units) {
    Seat& seat = list.emplace_back();
    seat.pu = unit.processor;
    if (home_.nodes.empty()) continue;
    const unsigned own = topology_->nodes({&unit, 1}).front();
    const auto place = std::find(home_.nodes.begin(), home_.nodes.end(), own);
    if (place != home_.nodes.end()) seat.node = size_t(place - home_.nodes.begin());
  }
  return list;
}

std::unique_ptr<port::Stream> Device::createStream(port::Order order) {
  Ref<Executor> executor = executor_.with([&](Ref<Executor>& own) {
    if (!own)
      own = Ref<Executor>::adopt(new Executor(home_, seats(), settings_.bind, capabilities_));
    return own;
  });
  executor->start();
  return std::make_unique<Stream>(std::move(executor), order);
}

std::unique_ptr<port::Memory> Device::allocate(size_t bytes, size_t alignment) {
  require(bytes <= capabilities_.max_allocation_bytes, CL_MEM_OBJECT_ALLOCATION_FAILURE,
          "more than one allocation may hold");
  return allocateMemory(bytes, alignment,
                        topology_->memoryNodes() > 1 ? Pages::fresh : Pages::used_again);
}

std::unique_ptr<port::Memory> Device::import(void* host, size_t bytes) {
  return importMemory(host, bytes);
}

std::unique_ptr<port::Module> Device::load(const Image& image) {
  // An image for other features could hold instructions that this machine does not have.
  require(image.target == target_, CL_INVALID_BINARY, "made for another processor");
  return std::make_unique<Module>(image, settings_.code, capabilities_.units.size(),
                                  settings_.trials, settings_.background);
}

}  // namespace weft::cpu
