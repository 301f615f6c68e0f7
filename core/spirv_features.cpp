#include "core/spirv_features.h"

#include <algorithm>

namespace weft {
namespace {

using Features = port::LanguageFeatures;

// An extension or a feature macro without its prefix "__opencl_c_", which the device has to have
// for it; nullptr: none.
struct CapabilityRow {
  uint32_t number;
  const char* needs;
};

// By the numbers and names of the SPIR-V specification, 3.31.
constexpr CapabilityRow capabilities[] = {
    {4, nullptr},                                       // Addresses
    {5, nullptr},                                       // Linkage
    {6, nullptr},                                       // Kernel
    {7, nullptr},                                       // Vector16
    {8, nullptr},                                       // Float16Buffer
    {9, "cl_khr_fp16"},                                 // Float16
    {10, "cl_khr_fp64"},                                // Float64
    {11, nullptr},                                      // Int64
    {12, "cl_khr_int64_base_atomics"},                  // Int64Atomics
    {13, "images"},                                     // ImageBasic
    {14, "images"},                                     // ImageReadWrite
    {15, "cl_khr_mipmap_image"},                        // ImageMipmap
    {17, "pipes"},                                      // Pipes
    {18, "work_group_collective_functions"},            // Groups
    {19, "device_enqueue"},                             // DeviceEnqueue
    {20, "images"},                                     // LiteralSampler
    {22, nullptr},                                      // Int16
    {38, "generic_address_space"},                      // GenericPointer
    {39, nullptr},                                      // Int8
    {43, "images"},                                     // Sampled1D
    {44, "images"},                                     // Image1D
    {46, "images"},                                     // SampledBuffer
    {47, "images"},                                     // ImageBuffer
    {58, "subgroups"},                                  // SubgroupDispatch
    {59, "cl_khr_subgroup_named_barrier"},              // NamedBarrier
    {60, "pipes"},                                      // PipeStorage
    {61, "cl_khr_subgroup_non_uniform_vote"},           // GroupNonUniform
    {62, "cl_khr_subgroup_non_uniform_vote"},           // GroupNonUniformVote
    {63, "cl_khr_subgroup_non_uniform_arithmetic"},     // GroupNonUniformArithmetic
    {64, "cl_khr_subgroup_ballot"},                     // GroupNonUniformBallot
    {65, "cl_khr_subgroup_shuffle"},                    // GroupNonUniformShuffle
    {66, "cl_khr_subgroup_shuffle_relative"},           // GroupNonUniformShuffleRelative
    {67, "cl_khr_subgroup_clustered_reduce"},           // GroupNonUniformClustered
    {71, nullptr},                                      // UniformDecoration
    {5055, "cl_khr_kernel_clock"},                      // ShaderClockKHR
    {5612, "ext_fp32_global_atomic_min_max"},           // AtomicFloat32MinMaxEXT
    {5613, "ext_fp64_global_atomic_min_max"},           // AtomicFloat64MinMaxEXT
    {5568, "cl_khr_subgroup_shuffle"},                  // SubgroupShuffleINTEL
    {5569, "subgroups"},                                // SubgroupBufferBlockIOINTEL
    {5629, "cl_khr_expect_assume"},                     // ExpectAssumeKHR
    {5837, nullptr},                                    // FPFastMathModeINTEL
    {5910, nullptr},                                    // MemoryAccessAliasingINTEL
    {6017, "integer_dot_product_input_4x8bit"},         // DotProductInput4x8Bit
    {6018, "integer_dot_product_input_4x8bit_packed"},  // DotProductInput4x8BitPacked
    {6019, "cl_khr_integer_dot_product"},               // DotProduct
    {6025, "cl_khr_extended_bit_ops"},                  // BitInstructions
    {6026, "cl_khr_subgroup_rotate"},                   // GroupNonUniformRotateKHR
    {6033, "ext_fp32_global_atomic_add"},               // AtomicFloat32AddEXT
    {6034, "ext_fp64_global_atomic_add"},               // AtomicFloat64AddEXT
    {6094, nullptr},                                    // OptNoneINTEL
    {6400, "cl_khr_work_group_uniform_arithmetic"},     // GroupUniformArithmeticKHR
};

// What modules may declare without using it: Matrix and ImageMipmap.
constexpr uint32_t unused[] = {0, 15};

struct ExtensionRow {
  const char* name;
  const char* needs;
};

constexpr ExtensionRow extensions[] = {
    {"SPV_KHR_linkonce_odr", nullptr},
    {"SPV_KHR_no_integer_wrap_decoration", nullptr},
    {"SPV_KHR_non_semantic_info", nullptr},
    {"SPV_KHR_expect_assume", "cl_khr_expect_assume"},
    {"SPV_KHR_bit_instructions", "cl_khr_extended_bit_ops"},
    {"SPV_KHR_integer_dot_product", "cl_khr_integer_dot_product"},
    {"SPV_KHR_shader_clock", "cl_khr_kernel_clock"},
    {"SPV_KHR_subgroup_rotate", "cl_khr_subgroup_rotate"},
    {"SPV_KHR_uniform_group_instructions", "cl_khr_work_group_uniform_arithmetic"},
    {"SPV_INTEL_fp_fast_math_mode", nullptr},
    {"SPV_INTEL_memory_access_aliasing", nullptr},
    {"SPV_INTEL_optnone", nullptr},
    {"SPV_INTEL_subgroups", "cl_khr_subgroup_shuffle"},
    {"SPV_EXT_shader_atomic_float_add", "ext_fp32_global_atomic_add"},
    {"SPV_EXT_shader_atomic_float_min_max", "ext_fp32_global_atomic_min_max"},
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has(const Features& features, const char* needs) {
  if (!needs) return true;
  const std::string name = needs;
  if (name == "images") return features.images;
  if (name == "cl_khr_fp16") return features.fp16;
  if (name == "cl_khr_fp64") return features.fp64;
  return contains(features.extensions, name) ||
         contains(features.feature_macros, "__opencl_c_" + name);
}

}  // namespace

bool takesSpirvCapability(const Features& features, uint32_t capability) {
  if (std::find(std::begin(unused), std::end(unused), capability) != std::end(unused)) return true;
  const auto* row = std::find_if(std::begin(capabilities), std::end(capabilities),
                                 [&](const auto& r) { return r.number == capability; });
  return row != std::end(capabilities) && has(features, row->needs);
}

std::vector<uint32_t> spirvCapabilities(const Features& features) {
  std::vector<uint32_t> numbers;
  for (const CapabilityRow& row : capabilities)
    if (has(features, row.needs)) numbers.push_back(row.number);
  return numbers;
}

std::vector<const char*> spirvExtensions(const Features& features) {
  std::vector<const char*> names;
  for (const ExtensionRow& row : extensions)
    if (has(features, row.needs)) names.push_back(row.name);
  return names;
}

}  // namespace weft
