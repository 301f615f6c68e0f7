// What OpenCL C has on GPUs, whoever drives them, because the compiler makes it there.
#pragma once

#include <iterator>
#include <string>

#include "core/ports/capabilities.h"

namespace weft {

inline constexpr const char* gpu_language_extensions[] = {
    "cl_khr_extended_async_copies",
    "cl_khr_extended_bit_ops",
    "cl_khr_integer_dot_product",
    "cl_ext_float_atomics",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_expect_assume",
    "cl_khr_work_group_uniform_arithmetic",
    "cl_ext_cxx_for_opencl",
    "cl_khr_mipmap_image",
    "cl_khr_mipmap_image_writes",
    "cl_intel_required_subgroup_size",
    "cl_amd_media_ops",
    "cl_amd_media_ops2",
    "cl_amd_popcnt",
    "cl_amd_printf",
    "cl_amd_vec3",
};
inline constexpr const char* gpu_long_atomics[] = {
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
};
inline constexpr const char* gpu_language_features[] = {
    "__opencl_c_generic_address_space",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_work_group_collective_functions",
    "__opencl_c_subgroups",
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
};
// Made by exchanging as many bits.
inline constexpr const char* gpu_double_atomics[] = {
    "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max",
    "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
};

// Where the compiler reaches the device's counters.
inline void describeGpuClocks(port::Capabilities& c) {
  c.language_extensions.emplace_back("cl_khr_kernel_clock");
  for (const char* scope : {"device", "work_group", "sub_group"})
    c.language_features.emplace_back(std::string("__opencl_c_kernel_clock_scope_") + scope);
}

inline void describeNamedBarriers(port::Capabilities& c) {
  c.named_barriers = port::gpu_named_barriers;
  c.language_extensions.emplace_back("cl_khr_subgroup_named_barrier");
}

// `c.fp64` has to be known. `long_atomics`: has the device those of 64 bits?
inline void describeGpuLanguage(port::Capabilities& c, bool long_atomics) {
  const auto add = [](std::vector<std::string>& names, const auto& more) {
    names.insert(names.end(), std::begin(more), std::end(more));
  };
  add(c.language_extensions, gpu_language_extensions);
  add(c.language_features, gpu_language_features);
  if (c.fp64) c.language_extensions.emplace_back("cl_amd_fp64");
  if (!long_atomics) return;
  c.pipes = true;
  c.language_features.emplace_back("__opencl_c_pipes");
  c.device_queues = true;
  c.language_features.emplace_back("__opencl_c_device_enqueue");
  add(c.language_extensions, gpu_long_atomics);
  if (c.fp64) add(c.language_features, gpu_double_atomics);
}

}  // namespace weft
