#include "core/opencl_version.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft {
namespace {

port::LanguageFeatures everything() {
  port::LanguageFeatures features;
  features.feature_macros = {"__opencl_c_atomic_order_acq_rel",
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
                             "__opencl_c_fp64",
                             "__opencl_c_images",
                             "__opencl_c_int64",
                             "__opencl_c_subgroups",
                             "__opencl_c_integer_dot_product_input_4x8bit",
                             "__opencl_c_integer_dot_product_input_4x8bit_packed"};
  features.extensions = {"cl_khr_extended_bit_ops",        "cl_khr_integer_dot_product",
                         "cl_khr_subgroup_extended_types", "cl_khr_subgroup_rotate",
                         "cl_khr_subgroup_shuffle",        "cl_khr_subgroup_shuffle_relative"};
  return features;
}

port::LanguageFeatures without(const std::string& name) {
  port::LanguageFeatures features = everything();
  std::erase(features.feature_macros, name);
  std::erase(features.extensions, name);
  return features;
}

constexpr Version newest = platform_version;

TEST(OpenClVersion, OfADeviceWithEverything) {
  EXPECT_EQ(deviceVersion(everything()), newest);
  EXPECT_EQ(compatibleLanguageVersion(everything()), newest);
  std::vector<Version> versions = {100, 110, 120, 200, 300};
  if (newest > 300) versions.push_back(newest);
  EXPECT_EQ(languageVersions(everything()), versions);
}

TEST(OpenClVersion, OfADeviceThatLacksWhat31Demands) {
  for (const std::string& name : everything().extensions) {
    EXPECT_EQ(deviceVersion(without(name)), 300u) << name;
    EXPECT_EQ(compatibleLanguageVersion(without(name)), 300u) << name;
    EXPECT_EQ(languageVersions(without(name)), (std::vector<Version>{100, 110, 120, 200, 300}));
  }
}

TEST(OpenClVersion, OptionsOf30AreDemandedOfCompatibility) {
  for (const char* name : {"__opencl_c_fp64", "__opencl_c_images", "__opencl_c_subgroups"})
    EXPECT_EQ(compatibleLanguageVersion(without(name)), 200u) << name;
}

TEST(OpenClVersion, WithoutAPartOf20) {
  const auto features = without("__opencl_c_device_enqueue");
  EXPECT_EQ(compatibleLanguageVersion(features), 120u);
  const auto versions = languageVersions(features);
  EXPECT_EQ(std::count(versions.begin(), versions.end(), 200u), 0);
  EXPECT_EQ(deviceVersion(features), newest);
}

}  // namespace
}  // namespace weft
