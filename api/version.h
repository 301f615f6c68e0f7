// What Weft calls itself.
#pragma once

#include <CL/cl.h>

#include <string>
#include <string_view>

#include "core/opencl_version.h"

namespace weft::api {

inline constexpr char platform_name[] = "Weft";
inline constexpr char platform_vendor[] = "The Weft project";
// What the strings have behind the number of a version. Without the last part of Weft's own:
// programs look for "1.0" in them, and take it for OpenCL's. CL_DRIVER_VERSION has all of it.
inline constexpr char version_suffix[] = " Weft " WEFT_SERIES;

// "OpenCL 3.1 Weft ...": `name` is "OpenCL " or "OpenCL C ".
inline std::string versionText(std::string_view name, Version version) {
  return std::string(name) + std::to_string(version / 100) + "." +
         std::to_string(version / 10 % 10) + version_suffix;
}

inline cl_version toClVersion(Version version) {
  return CL_MAKE_VERSION(version / 100, version / 10 % 10, 0);
}

// What clCreateProgramWithIL takes on every device.
inline constexpr unsigned latest_spirv_minor = 6;
inline constexpr char intermediate_languages[] =
    "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4 SPIR-V_1.5 SPIR-V_1.6";

}  // namespace weft::api
