// What Target::features says of a device that takes SPIR-V: these names, separated by commas.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::port {

inline constexpr const char* spirv_double = "fp64";
// Sums of float by the device's own atomic operation; others are made by exchanging.
inline constexpr const char* spirv_global_float_sums = "fp32_global_atomic_add";
inline constexpr const char* spirv_local_float_sums = "fp32_local_atomic_add";
// Kernels that sample images come as such, too, that sample the device's own (KernelInfo::native).
inline constexpr const char* spirv_native_images = "native_images";
// No more of them in a kernel than this; it reads further ones in software.
inline constexpr uint32_t most_native_images = 32, most_native_samplers = 16;

struct SpirvSubGroups {
  uint32_t size;
  const char* feature;
};
// Those that code is made for, of which a device has one at least.
inline constexpr std::array<SpirvSubGroups, 3> spirv_sub_groups = {
    {{8, "sub_groups_of_8"}, {16, "sub_groups_of_16"}, {32, "sub_groups_of_32"}}};

inline std::vector<uint32_t> spirvSubGroupSizes(std::string_view features) {
  std::vector<uint32_t> sizes;
  for (const auto& [size, feature] : spirv_sub_groups)
    if (features.find(feature) != std::string_view::npos) sizes.push_back(size);
  return sizes;
}

inline void addFeature(std::string& features, const char* one) {
  if (!features.empty()) features += ',';
  features += one;
}

}  // namespace weft::port
