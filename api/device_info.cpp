// Specification 4.2, table 'Device Queries'.
#include <CL/cl_ext.h>

#include <algorithm>

#include "api/cl_weft_ext.h"
#include "api/extensions.h"
#include "api/sub_devices.h"
#include "api/tables.h"
#include "api/version.h"
#include "core/image.h"
#include "core/ports/processors.h"
#include "core/spirv_features.h"
#include "core/svm.h"

namespace weft::api {
namespace {

bool hasFeature(const Device& device, std::string_view macro) {
  const auto& macros = device.features().feature_macros;
  return std::find(macros.begin(), macros.end(), macro) != macros.end();
}

cl_bool featureFlag(const Device& device, std::string_view macro) {
  return hasFeature(device, macro) ? CL_TRUE : CL_FALSE;
}

cl_device_type deviceType(const Device& device) {
  switch (device.capabilities().device_class) {
    case port::DeviceClass::cpu:
      return CL_DEVICE_TYPE_CPU;
    case port::DeviceClass::gpu:
      return CL_DEVICE_TYPE_GPU;
    case port::DeviceClass::accelerator:
      break;
  }
  return CL_DEVICE_TYPE_ACCELERATOR;
}

bool isCpu(const Device& device) {
  return device.capabilities().device_class == port::DeviceClass::cpu;
}

// How many elements of `bytes` each an instruction of a work-item works on. GPUs are scalar per
// work-item; on CPUs explicit vectors map onto the register.
cl_uint vectorWidth(const Device& device, size_t bytes) {
  if (!isCpu(device)) return 1;
  const std::string& features = device.port().target().features;
  const auto has = [&](const char* name) { return features.find(name) != std::string::npos; };
  const size_t avx_bytes = has("+avx") ? 32 : 16;
  const size_t register_bytes = has("+avx512f") ? 64 : avx_bytes;
  return static_cast<cl_uint>(std::min<size_t>(16, register_bytes / bytes));
}

template <cl_device_info sort>
constexpr auto usm = [](const Device& device) { return usmCapabilities(device, sort); };

template <size_t bytes>
constexpr auto width = [](const Device& device) { return vectorWidth(device, bytes); };
constexpr auto double_width = [](const Device& device) {
  return device.capabilities().fp64 ? vectorWidth(device, 8) : 0;
};
constexpr auto half_width = [](const Device& device) {
  return device.capabilities().fp16 ? vectorWidth(device, 2) : 0;
};

cl_device_fp_config singleConfig(const Device& device) {
  cl_device_fp_config config = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_FMA;
  if (device.capabilities().denormals) config |= CL_FP_DENORM;
  if (device.capabilities().rounds_divide_sqrt) config |= CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  return config;
}

// "The mandated minimum double precision floating-point capability."
cl_device_fp_config doubleConfig(const Device& device) {
  if (!device.capabilities().fp64) return 0;
  return CL_FP_FMA | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF |
         CL_FP_INF_NAN | CL_FP_DENORM;
}

cl_device_fp_config halfConfig(const Device& device) {
  if (!device.capabilities().fp16) return 0;
  return CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_DENORM;
}

// What the language has decides what the queries say, so that the two cannot disagree.
cl_device_atomic_capabilities atomicCapabilities(const Device& device) {
  cl_device_atomic_capabilities capabilities =
      CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
  if (hasFeature(device, "__opencl_c_atomic_order_acq_rel"))
    capabilities |= CL_DEVICE_ATOMIC_ORDER_ACQ_REL;
  if (hasFeature(device, "__opencl_c_atomic_order_seq_cst"))
    capabilities |= CL_DEVICE_ATOMIC_ORDER_SEQ_CST;
  if (hasFeature(device, "__opencl_c_atomic_scope_device"))
    capabilities |= CL_DEVICE_ATOMIC_SCOPE_DEVICE;
  if (hasFeature(device, "__opencl_c_atomic_scope_all_devices"))
    capabilities |= CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES;
  return capabilities;
}

// "This is mandated minimum capability": fences have acquire-release order in any case.
cl_device_atomic_capabilities fenceCapabilities(const Device& device) {
  return atomicCapabilities(device) | CL_DEVICE_ATOMIC_ORDER_ACQ_REL;
}

std::vector<cl_name_version> listedLanguageVersions(const Device& device) {
  std::vector<cl_name_version> versions;
  for (const Version version : languageVersions(device.features()))
    versions.push_back(nameVersion("OpenCL C", toClVersion(version)));
  return versions;
}

// What "-cl-std=CLC++" means: compiler/frontend/language.cpp.
cl_version cxxVersion(const Device& device) {
  const auto& names = device.features().extensions;
  const bool has = std::find(names.begin(), names.end(), "cl_ext_cxx_for_opencl") != names.end();
  return has ? CL_MAKE_VERSION(1, 0, 0) : 0;
}

std::vector<cl_name_version> intermediateLanguages(const Device&) {
  std::vector<cl_name_version> versions;
  for (unsigned minor = 0; minor <= latest_spirv_minor; ++minor)
    versions.push_back(nameVersion("SPIR-V", CL_MAKE_VERSION(1, minor, 0)));
  return versions;
}

std::vector<cl_name_version> languageFeatures(const Device& device) {
  std::vector<cl_name_version> features;
  for (const std::string& macro : device.features().feature_macros)
    features.push_back(nameVersion(macro, CL_MAKE_VERSION(3, 0, 0)));
  return features;
}

cl_device_id parentHandle(const Device& device) {
  return device.parent() ? device.parent()->handle() : nullptr;
}

cl_device_exec_capabilities executionCapabilities(const Device& device) {
  return CL_EXEC_KERNEL | (device.capabilities().native_kernels ? CL_EXEC_NATIVE_KERNEL : 0);
}

size_t globalVariableBytes(const Device& device) {
  return hasFeature(device, "__opencl_c_program_scope_global_variables") ? 65536 : 0;
}

// The driver's own version, then which binaries we take: programs that keep binaries themselves do
// so by this string, and are not to come back with what an earlier version of Weft has built.
std::string driverVersion(const Device& device) {
  return device.capabilities().driver_version + " (binaries " + imageVersion() + ')';
}

// Which driver made the device: its name and version, as an identifier.
std::array<uint8_t, CL_UUID_SIZE_KHR> driverUuid(const Device& device) {
  std::array<uint8_t, CL_UUID_SIZE_KHR> uuid{};
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint8_t& byte : uuid) {
    for (const char c : device.capabilities().driver_version + WEFT_VERSION)
      hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
    byte = static_cast<uint8_t>(hash >> 32);
  }
  return uuid;
}

// One member of the capabilities, as the type that the query returns.
template <class T, auto member>
constexpr auto capability =
    [](const Device& device) { return static_cast<T>(device.capabilities().*member); };

template <class T, auto member>
constexpr auto imageLimit =
    [](const Device& device) { return static_cast<T>(device.capabilities().image_limits.*member); };

cl_device_integer_dot_product_capabilities_khr dotProductCapabilities(const Device& device) {
  cl_device_integer_dot_product_capabilities_khr capabilities = 0;
  if (hasFeature(device, "__opencl_c_integer_dot_product_input_4x8bit"))
    capabilities |= CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR;
  if (hasFeature(device, "__opencl_c_integer_dot_product_input_4x8bit_packed"))
    capabilities |= CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR;
  return capabilities;
}

// "TRUE when the operation has a performance advantage over an elementwise application": compilers
// know no better instructions for these.
using DotProductAcceleration = cl_device_integer_dot_product_acceleration_properties_khr;
constexpr DotProductAcceleration no_acceleration{};

// cl_khr_kernel_clock; not in every header.
constexpr cl_device_info kernel_clock_capabilities = 0x1076;

cl_bitfield kernelClocks(const Device& device) {
  cl_bitfield scopes = 0, bit = 1;
  for (const char* scope : {"device", "work_group", "sub_group"}) {
    if (hasFeature(device, std::string("__opencl_c_kernel_clock_scope_") + scope)) scopes |= bit;
    bit <<= 1;
  }
  return scopes;
}

// Of cl_khr_spirv_queries; not in every header.
constexpr cl_device_info spirv_instruction_sets = 0x12b9, spirv_extensions = 0x12ba,
                         spirv_capabilities = 0x12bb;

// cl_ext_float_atomics.
struct FloatAtomic {
  const char* feature;  // behind "__opencl_c_ext_fp32_"
  cl_bitfield capability;
};
constexpr FloatAtomic float_atomics[] = {
    {"global_atomic_add", 1 << 1},
    {"global_atomic_min_max", 1 << 2},
    {"local_atomic_add", 1 << 17},
    {"local_atomic_min_max", 1 << 18},
};
// Loads, stores and exchanges of float and double are part of the language; of half they are not.
constexpr cl_bitfield load_and_store = 1 | 1 << 16;

cl_bitfield floatAtomics(const Device& device, const char* type, cl_bitfield capabilities) {
  for (const FloatAtomic& atomic : float_atomics)
    if (hasFeature(device, std::string("__opencl_c_ext_") + type + "_" + atomic.feature))
      capabilities |= atomic.capability;
  return capabilities;
}
cl_bitfield singleAtomics(const Device& device) {
  return floatAtomics(device, "fp32", load_and_store);
}
cl_bitfield doubleAtomics(const Device& device) {
  return device.capabilities().fp64 ? floatAtomics(device, "fp64", load_and_store) : 0;
}
cl_bitfield halfAtomics(const Device& device) { return floatAtomics(device, "fp16", 0); }

// Of cl_ext_float_atomics; not in every header.
constexpr cl_device_info single_atomic_capabilities = 0x4231, double_atomic_capabilities = 0x4232,
                         half_atomic_capabilities = 0x4233;

std::vector<size_t> subGroupSizes(const Device& device) {
  const auto& sizes = device.capabilities().sub_group_sizes;
  return {sizes.begin(), sizes.end()};
}

std::vector<cl_uint> processors(const Device& device) {
  std::vector<cl_uint> numbers;
  if (!port::hasProcessors(device.capabilities())) return numbers;
  for (const port::ComputeUnit& unit : device.capabilities().units)
    numbers.push_back(unit.processor);
  return numbers;
}

std::vector<cl_device_id> members(const Device& device) {
  std::vector<cl_device_id> handles;
  for (const Ref<Device>& member : device.members()) handles.push_back(member->handle());
  return handles;
}

cl_device_pci_bus_info_khr pciBus(const Device& device) {
  const auto& pci = device.capabilities().pci;
  require(pci.has_value(), CL_INVALID_VALUE, "the device is on no PCI bus");
  return {pci->domain, pci->bus, pci->device, pci->function};
}

template <cl_uint limit>
constexpr auto pipe_limit =
    [](const Device& device) { return device.capabilities().pipes ? limit : cl_uint{0}; };

template <auto value>
constexpr auto withDeviceQueues = [](const Device& device) {
  return device.capabilities().device_queues ? value : decltype(value){0};
};

using C = port::Capabilities;
using L = port::ImageLimits;
using D = const Device&;

constexpr InfoRow<Device> rows[] = {
    // What it is.
    {CL_DEVICE_TYPE, by<deviceType>},
    {CL_DEVICE_VENDOR_ID, capability<cl_uint, &C::vendor_id>},
    {CL_DEVICE_NAME, [](D d) { return d.capabilities().name; }},
    {CL_DEVICE_VENDOR, [](D d) { return d.capabilities().vendor; }},
    {CL_DRIVER_VERSION, by<driverVersion>},
    {CL_DEVICE_PROFILE, [](D) { return "FULL_PROFILE"; }},
    {CL_DEVICE_VERSION, [](D d) { return versionText("OpenCL ", d.features().version); }},
    {CL_DEVICE_NUMERIC_VERSION, [](D d) { return toClVersion(d.features().version); }},
    {CL_DEVICE_PLATFORM, [](D d) { return d.platform().handle(); }},
    {CL_DEVICE_REFERENCE_COUNT, [](D d) { return cl_uint{d.handleReferences()}; }},
    {CL_DEVICE_AVAILABLE, [](D d) { return cl_bool{!d.port().lost()}; }},
    {CL_DEVICE_EXTENSIONS, [](D d) { return joined(deviceExtensions(d)); }},
    {CL_DEVICE_EXTENSIONS_WITH_VERSION, [](D d) { return withVersions(deviceExtensions(d)); }},
    // "vYYYY-MM-DD-XX": no version of the conformance suite was ever passed officially.
    // None, in the form that the specification prescribes: no such version can exist.
    {CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, [](D) { return "v0000-01-01-00"; }},
    {CL_DEVICE_UUID_KHR, [](D d) { return d.capabilities().uuid; }},
    {CL_DRIVER_UUID_KHR, by<driverUuid>},
    {CL_DEVICE_LUID_VALID_KHR, always<cl_bool{CL_FALSE}>},
    {CL_DEVICE_LUID_KHR, always<std::array<uint8_t, CL_LUID_SIZE_KHR>{}>},
    {CL_DEVICE_NODE_MASK_KHR, always<cl_uint{0}>},

    {CL_DEVICE_PCI_BUS_INFO_KHR, by<pciBus>},

    // Execution.
    {CL_DEVICE_MAX_COMPUTE_UNITS, capability<cl_uint, &C::compute_units>},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, capability<cl_uint, &C::max_clock_mhz>},
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, always<cl_uint{3}>},
    {CL_DEVICE_MAX_WORK_ITEM_SIZES, [](D d) { return d.capabilities().max_work_item_sizes; }},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, capability<size_t, &C::max_work_group_size>},
    {CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
     capability<size_t, &C::preferred_work_group_multiple>},
    {CL_DEVICE_EXECUTION_CAPABILITIES, by<executionCapabilities>},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, capability<size_t, &C::timer_resolution_ns>},
    {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES,
     always<cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                        CL_QUEUE_PROFILING_ENABLE}>},
    {khr::device_capabilities,
     [](D d) {
       const port::Capabilities& c = d.capabilities();
       return khr::capability_simultaneous_use | (c.printf ? khr::capability_printf : 0) |
              (c.device_queues ? khr::capability_device_side_enqueue : 0);
     }},
    {khr::device_supported_queue_properties,
     always<cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                        CL_QUEUE_PROFILING_ENABLE}>},
    {khr::device_required_queue_properties, always<cl_command_queue_properties{0}>},
    {khr::device_mutable_dispatch_capabilities, always<khr::all_fields>},
    {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, always<cl_bool{CL_TRUE}>},
    {CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT,
     [](D d) { return featureFlag(d, "__opencl_c_work_group_collective_functions"); }},
    {CL_DEVICE_MAX_NUM_SUB_GROUPS, capability<cl_uint, &C::max_sub_groups>},
    {CL_DEVICE_SUB_GROUP_SIZES_INTEL, by<subGroupSizes>},
    {CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR, capability<cl_uint, &C::named_barriers>},
    {CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, always<cl_bool{CL_FALSE}>},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, always<cl_bool{CL_TRUE}>},

    // Numbers and vectors.
    {CL_DEVICE_ADDRESS_BITS, always<cl_uint{64}>},
    {CL_DEVICE_ENDIAN_LITTLE, always<cl_bool{CL_TRUE}>},
    {CL_DEVICE_SINGLE_FP_CONFIG, by<singleConfig>},
    {CL_DEVICE_DOUBLE_FP_CONFIG, by<doubleConfig>},
    {CL_DEVICE_HALF_FP_CONFIG, by<halfConfig>},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, width<1>},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, width<2>},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, width<4>},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, width<8>},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, width<4>},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, double_width},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, half_width},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, width<1>},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, width<2>},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, width<4>},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, width<8>},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, width<4>},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, double_width},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, half_width},

    // Memory.
    {CL_DEVICE_GLOBAL_MEM_SIZE, capability<cl_ulong, &C::global_memory_bytes>},
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, capability<cl_ulong, &C::max_allocation_bytes>},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE,
     [](D d) -> cl_device_mem_cache_type {
       return d.capabilities().global_cache.bytes ? CL_READ_WRITE_CACHE : CL_NONE;
     }},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE,
     [](D d) { return cl_ulong{d.capabilities().global_cache.bytes}; }},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE,
     [](D d) { return cl_uint{d.capabilities().global_cache.line_bytes}; }},
    {CL_DEVICE_LOCAL_MEM_TYPE,
     [](D d) -> cl_device_local_mem_type { return isCpu(d) ? CL_GLOBAL : CL_LOCAL; }},
    {CL_DEVICE_LOCAL_MEM_SIZE, capability<cl_ulong, &C::local_memory_bytes>},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, capability<cl_ulong, &C::constant_buffer_bytes>},
    {CL_DEVICE_MAX_CONSTANT_ARGS, capability<cl_uint, &C::max_constant_arguments>},
    {CL_DEVICE_MAX_PARAMETER_SIZE, capability<size_t, &C::max_parameter_bytes>},
    // In bits.
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN,
     [](D d) { return cl_uint{d.capabilities().base_address_alignment_bytes * 8}; }},
    // "The minimum value is the size in bytes of the largest OpenCL data type supported": long16.
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, always<cl_uint{sizeof(cl_long16)}>},
    {CL_DEVICE_HOST_UNIFIED_MEMORY,
     [](D d) -> cl_bool { return d.capabilities().host_unified_memory; }},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, always<cl_bool{CL_FALSE}>},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, capability<size_t, &C::printf_buffer_bytes>},
    {CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, by<globalVariableBytes>},
    {CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, by<globalVariableBytes>},
    {CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, by<atomicCapabilities>},
    {CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, by<fenceCapabilities>},
    {kernel_clock_capabilities, by<kernelClocks>},
    {single_atomic_capabilities, by<singleAtomics>},
    {double_atomic_capabilities, by<doubleAtomics>},
    {half_atomic_capabilities, by<halfAtomics>},
    {CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR, by<dotProductCapabilities>},
    {CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR, always<no_acceleration>},
    {CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR,
     always<no_acceleration>},

    // The language.
    {CL_DEVICE_COMPILER_AVAILABLE, always<cl_bool{CL_TRUE}>},
    {CL_DEVICE_LINKER_AVAILABLE, always<cl_bool{CL_TRUE}>},
    {CL_DEVICE_OPENCL_C_VERSION,
     [](D d) { return versionText("OpenCL C ", compatibleLanguageVersion(d.features())); }},
    {CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR,
     [](D d) { return toClVersion(compatibleLanguageVersion(d.features())); }},
    {CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT, by<cxxVersion>},
    {CL_DEVICE_OPENCL_C_ALL_VERSIONS, by<listedLanguageVersions>},
    {CL_DEVICE_OPENCL_C_FEATURES, by<languageFeatures>},
    {CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT,
     [](D d) { return featureFlag(d, "__opencl_c_generic_address_space"); }},
    {CL_DEVICE_IL_VERSION, [](D) { return intermediate_languages; }},
    {CL_DEVICE_ILS_WITH_VERSION, by<intermediateLanguages>},
    {spirv_instruction_sets, [](D) { return std::vector<const char*>{"OpenCL.std"}; }},
    {spirv_extensions, [](D d) { return spirvExtensions(d.features()); }},
    {spirv_capabilities, [](D d) { return spirvCapabilities(d.features()); }},
    {CL_DEVICE_BUILT_IN_KERNELS, [](D) { return ""; }},
    {CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, [](D) { return std::vector<cl_name_version>(); }},

    // Partitioning.
    {CL_DEVICE_PARENT_DEVICE, by<parentHandle>},
    {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, capability<cl_uint, &C::max_sub_devices>},
    {CL_DEVICE_PARTITION_PROPERTIES, by<partitionSchemes>},
    {CL_DEVICE_PARTITION_AFFINITY_DOMAIN, by<affinityDomains>},
    {CL_DEVICE_PARTITION_TYPE, by<partitionType>},
    {CL_DEVICE_PROCESSORS_WEFT, by<processors>},
    {CL_DEVICE_MEMBERS_WEFT, by<members>},
    // cl_ext_device_fission.
    {CL_DEVICE_PARENT_DEVICE_EXT, by<parentHandle>},
    {CL_DEVICE_PARTITION_TYPES_EXT, by<fissionSchemes>},
    {CL_DEVICE_AFFINITY_DOMAINS_EXT, by<fissionDomains>},
    {CL_DEVICE_REFERENCE_COUNT_EXT, [](D d) { return cl_uint{d.handleReferences()}; }},
    {CL_DEVICE_PARTITION_STYLE_EXT, by<fissionStyle>},

    // Images.
    {CL_DEVICE_IMAGE_SUPPORT, [](D d) -> cl_bool { return d.features().images; }},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, imageLimit<cl_uint, &L::read_arguments>},
    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, imageLimit<cl_uint, &L::write_arguments>},
    {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, imageLimit<cl_uint, &L::read_write_arguments>},
    {CL_DEVICE_IMAGE2D_MAX_WIDTH, imageLimit<size_t, &L::width_2d>},
    {CL_DEVICE_IMAGE2D_MAX_HEIGHT, imageLimit<size_t, &L::height_2d>},
    {CL_DEVICE_IMAGE3D_MAX_WIDTH, imageLimit<size_t, &L::width_3d>},
    {CL_DEVICE_IMAGE3D_MAX_HEIGHT, imageLimit<size_t, &L::height_3d>},
    {CL_DEVICE_IMAGE3D_MAX_DEPTH, imageLimit<size_t, &L::depth_3d>},
    {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, imageLimit<size_t, &L::buffer_pixels>},
    {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, imageLimit<size_t, &L::array_size>},
    {CL_DEVICE_MAX_SAMPLERS, imageLimit<cl_uint, &L::samplers>},
    {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, imageLimit<cl_uint, &L::pitch_alignment>},
    {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, imageLimit<cl_uint, &L::base_address_alignment>},

    // Shared virtual memory, pipes, device queues.
    {CL_DEVICE_SVM_CAPABILITIES, capability<cl_device_svm_capabilities, &C::shared_memory>},
    {CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, usm<CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL>},
    {CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL, usm<CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL>},
    {CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
     usm<CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL>},
    {CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
     usm<CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL>},
    {CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL,
     usm<CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL>},
    {CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, always<cl_uint{0}>},
    {CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, always<cl_uint{0}>},
    {CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, always<cl_uint{0}>},
    {CL_DEVICE_PIPE_SUPPORT, capability<cl_bool, &C::pipes>},
    {CL_DEVICE_MAX_PIPE_ARGS, pipe_limit<16>},
    // They cost nothing.
    {CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, pipe_limit<65536>},
    {CL_DEVICE_PIPE_MAX_PACKET_SIZE, pipe_limit<max_pipe_packet_bytes>},
    {CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES,
     withDeviceQueues<cl_device_device_enqueue_capabilities{CL_DEVICE_QUEUE_SUPPORTED |
                                                            CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT}>},
    {CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES,
     withDeviceQueues<cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                                  CL_QUEUE_PROFILING_ENABLE}>},
    {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, withDeviceQueues<preferred_device_queue_bytes>},
    {CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, withDeviceQueues<max_device_queue_bytes>},
    {CL_DEVICE_MAX_ON_DEVICE_QUEUES,
     [](D device) {
       const C& c = device.capabilities();
       const cl_uint arguments = c.max_parameter_bytes / (2 * sizeof(cl_command_queue));
       return c.device_queues ? std::min(max_device_queues, arguments) : 0;
     }},
    {CL_DEVICE_MAX_ON_DEVICE_EVENTS, withDeviceQueues<cl_uint{port::max_device_events}>},
};

}  // namespace

constinit const InfoTable<Device> device_info = rows;

}  // namespace weft::api
