// Which versions of OpenCL and of OpenCL C a device's features amount to. Specification 4.2,
// CL_DEVICE_VERSION and CL_DEVICE_OPENCL_C_VERSION.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ports/compiler.h"

namespace weft {

// Versions are numbers like __OPENCL_VERSION__: 310 is 3.1.
using Version = uint32_t;

// The switch: is OpenCL 3.1 claimed by the platform, and by devices that have all it demands?
inline constexpr bool claims_3_1 = true;
inline constexpr Version platform_version = claims_3_1 ? 310 : 300;

Version deviceVersion(const port::LanguageFeatures& features);

// The versions of OpenCL C that programs may ask for, oldest first.
std::vector<Version> languageVersions(const port::LanguageFeatures& features);

// "Returns the highest fully backwards compatible OpenCL C version."
Version compatibleLanguageVersion(const port::LanguageFeatures& features);

}  // namespace weft
