// The extensions that the platform and its devices report.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "core/platform.h"

namespace weft::api {

// Those of the host interface, which every device has.
std::vector<std::string_view> platformExtensions(const Platform& platform);
// Those and what the language of the device has.
std::vector<std::string_view> deviceExtensions(const Device& device);

// As CL_PLATFORM_EXTENSIONS and CL_DEVICE_EXTENSIONS want them: separated by spaces.
std::string joined(std::span<const std::string_view> names);
// As the *_WITH_VERSION queries want them.
std::vector<cl_name_version> withVersions(std::span<const std::string_view> names);
// Throws std::length_error when the name is too long for the structure.
cl_name_version nameVersion(std::string_view name, cl_version version);

}  // namespace weft::api
