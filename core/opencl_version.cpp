#include "core/opencl_version.h"

#include <algorithm>
#include <span>
#include <string>

namespace weft {
namespace {

// Each version's table has only what the one before it does not.

// What OpenCL 3.1 makes mandatory of the language, and not of every device of ours; the rest of it
// (SPIR-V up to 1.4, queries, entry points) the platform has for all of them.
constexpr const char* mandatory_in_3_1[] = {
    "__opencl_c_subgroups",           "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "cl_khr_extended_bit_ops",        "cl_khr_integer_dot_product",
    "cl_khr_subgroup_extended_types", "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",        "cl_khr_subgroup_shuffle_relative",
};

// What OpenCL C 2.0 has without asking, by its name in 3.0.
constexpr const char* features_of_2_0[] = {
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_device_enqueue",
    "__opencl_c_generic_address_space",
    "__opencl_c_pipes",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_work_group_collective_functions",
    "__opencl_c_3d_image_writes",
    "__opencl_c_read_write_images",
};

// OpenCL C 3.0, 6.2.1: optional there.
constexpr const char* options_of_3_0[] = {
    "__opencl_c_fp64",
    "__opencl_c_images",
    "__opencl_c_int64",
    "__opencl_c_subgroups",
};

constexpr const char* options_of_3_1[] = {
    "__opencl_c_integer_dot_product_input_4x8bit",
};

bool has(const port::LanguageFeatures& features, std::span<const char* const> names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto& list = name.starts_with("__") ? features.feature_macros : features.extensions;
    return std::find(list.begin(), list.end(), name) != list.end();
  });
}

}  // namespace

Version deviceVersion(const port::LanguageFeatures& features) {
  return claims_3_1 && has(features, mandatory_in_3_1) ? 310 : 300;
}

std::vector<Version> languageVersions(const port::LanguageFeatures& features) {
  std::vector<Version> versions = {100, 110, 120};
  if (has(features, features_of_2_0)) versions.push_back(200);
  versions.push_back(300);
  if (deviceVersion(features) >= 310) versions.push_back(310);
  return versions;
}

// "An OpenCL 3.0 or newer device may return an OpenCL C version newer than OpenCL C 1.2 if and only
// if all optional OpenCL C features are supported by the device for the newer version."
Version compatibleLanguageVersion(const port::LanguageFeatures& features) {
  if (!has(features, features_of_2_0)) return 120;
  if (!has(features, options_of_3_0)) return 200;
  return deviceVersion(features) >= 310 && has(features, options_of_3_1) ? 310 : 300;
}

}  // namespace weft
