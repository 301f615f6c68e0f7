// What Target::features says of a device that takes SPIR-V: these names, and native_images.h's,
// separated by commas.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ports/native_images.h"

namespace weft::port {

inline constexpr const char* spirv_double = "fp64";
// Sums of float by the device's own atomic operation; others are made by exchanging.
inline constexpr const char* spirv_global_float_sums = "fp32_global_atomic_add";
inline constexpr const char* spirv_local_float_sums = "fp32_local_atomic_add";

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

}  // namespace weft::port
