// What Weft calls itself.
#pragma once

#include <CL/cl_version.h>

namespace weft::api {

inline constexpr char platform_name[] = "Weft";
inline constexpr char platform_vendor[] = "The Weft project";
inline constexpr char platform_version[] = "OpenCL 3.0 Weft " WEFT_VERSION;
inline constexpr char device_version[] = "OpenCL 3.0 Weft " WEFT_VERSION;
// 1.2 until everything that OpenCL C 2.0 demands is there; 3.0 is in
// CL_DEVICE_OPENCL_C_ALL_VERSIONS.
inline constexpr char language_version[] = "OpenCL C 1.2 Weft " WEFT_VERSION;

// What clCreateProgramWithIL takes on every device.
inline constexpr unsigned latest_spirv_minor = 4;
inline constexpr char intermediate_languages[] =
    "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4";

}  // namespace weft::api
