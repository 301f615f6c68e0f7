#include "api/extensions.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "api/cl_weft_ext.h"
#include "core/command_buffer_khr.h"
#include "core/ports/processors.h"
#include "core/svm.h"

namespace weft::api {
namespace {

constexpr std::array<std::string_view, 12> host_extensions = {
    "cl_khr_icd",
    "cl_khr_extended_versioning",
    "cl_khr_create_command_queue",
    "cl_khr_device_uuid",
    "cl_khr_suggested_local_work_size",
    khr::command_buffer_name,
    khr::mutable_dispatch_name,
    CL_WEFT_STATISTICS_EXTENSION_NAME,
    CL_WEFT_REPORT_EXTENSION_NAME,
    "cl_khr_spirv_linkonce_odr",
    "cl_khr_spirv_no_integer_wrap_decoration",
    "cl_khr_spirv_queries",
};

constexpr std::string_view usm_name = "cl_intel_unified_shared_memory";

// What programs may use and test for, but the conformance suite refuses in devices' lists.
constexpr std::string_view unlisted = "cl_khr_work_group_uniform_arithmetic";

// Those whose version is not 1.0.0.
constexpr std::pair<std::string_view, cl_version> other_versions[] = {
    {"cl_khr_integer_dot_product", CL_MAKE_VERSION(2, 0, 0)},
    {khr::command_buffer_name, khr::command_buffer_version},
    {khr::mutable_dispatch_name, khr::mutable_dispatch_version},
    {usm_name, CL_MAKE_VERSION(1, 2, 0)},
};

cl_version versionOf(std::string_view name) {
  for (const auto& [extension, version] : other_versions)
    if (name == extension) return version;
  return CL_MAKE_VERSION(1, 0, 0);
}

}  // namespace

std::vector<std::string_view> platformExtensions(const Platform& platform) {
  std::vector<std::string_view> names(host_extensions.begin(), host_extensions.end());
  // "Each extension that is supported by all devices associated with this platform must be
  // reported here."
  const auto& devices = platform.devices();
  if (std::all_of(devices.begin(), devices.end(),
                  [](const Ref<Device>& device) { return hasUsm(*device); }))
    names.push_back(usm_name);
  return names;
}

std::vector<std::string_view> deviceExtensions(const Device& device) {
  std::vector<std::string_view> names(host_extensions.begin(), host_extensions.end());
  for (const std::string& name : device.features().extensions)
    if (name != unlisted) names.emplace_back(name);
  // A part that cannot be divided has the queries all the same.
  if (device.capabilities().max_sub_devices > 0 || !device.isRoot())
    names.emplace_back("cl_ext_device_fission");
  if (hasUsm(device)) names.push_back(usm_name);
  if (device.capabilities().pci) names.emplace_back("cl_khr_pci_bus_info");
  if (port::hasProcessors(device.capabilities()))
    names.emplace_back(CL_WEFT_PROCESSORS_EXTENSION_NAME);
  if (!device.members().empty()) names.emplace_back(CL_WEFT_UNIFIED_DEVICE_EXTENSION_NAME);
  return names;
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ' ';
    text += name;
  }
  return text;
}

std::vector<cl_name_version> withVersions(std::span<const std::string_view> names) {
  std::vector<cl_name_version> versions;
  for (const std::string_view name : names) versions.push_back(nameVersion(name, versionOf(name)));
  return versions;
}

cl_name_version nameVersion(std::string_view name, cl_version version) {
  cl_name_version result{};
  if (name.size() >= sizeof result.name) throw std::length_error("name of an extension");
  result.version = version;
  std::copy(name.begin(), name.end(), result.name);
  return result;
}

}  // namespace weft::api
