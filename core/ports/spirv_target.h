// What Target::features says of a device that takes SPIR-V: these names, separated by commas.
#pragma once

namespace weft::port {

inline constexpr const char* spirv_double = "fp64";
// Sums of float by the device's own atomic operation; others are made by exchanging.
inline constexpr const char* spirv_global_float_sums = "fp32_global_atomic_add";
inline constexpr const char* spirv_local_float_sums = "fp32_local_atomic_add";

}  // namespace weft::port
