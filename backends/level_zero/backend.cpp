#include "backends/level_zero/backend.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "backends/common/memory_space.h"
#include "backends/level_zero/device.h"

namespace weft::level_zero {
namespace {

constexpr const char* loader_name = "libze_loader.so.1";
// The oldest version of the interface that has all that is used here.
constexpr uint32_t least_version = ZE_MAKE_VERSION(1, 3);

bool isSet(const char* variable) {
  const char* const text = std::getenv(variable);
  return text && *text;
}

// WEFT_GPU as for other GPUs: "0" uses none, "1" opens the loader even where the system shows none.
bool isGpuSetting(std::string_view value) {
  return isSet("WEFT_GPU") && std::getenv("WEFT_GPU") == value;
}

// Opening the loader opens drivers, so machines without such a GPU are spared it.
bool hasRenderNode() {
  std::error_code error;
  for (const auto& node : std::filesystem::directory_iterator("/sys/class/drm", error)) {
    if (!node.path().filename().string().starts_with("renderD")) continue;
    std::string vendor;
    std::ifstream(node.path() / "device/vendor") >> vendor;
    if (vendor == "0x8086") return true;
  }
  return false;
}

class Backend final : public port::Backend {
 public:
  Backend(std::string library, bool asked, Binaries binaries)
      : library_(std::move(library)), asked_(asked), binaries_(std::move(binaries)) {}
  std::string_view name() const override { return "level_zero"; }
  std::vector<std::shared_ptr<port::Device>> discover(
      std::vector<port::Diagnostic>& diagnostics) override;

 private:
  using Devices = std::vector<std::shared_ptr<Device>>;
  void addDriver(const Api& api, ze_driver_handle_t handle, Devices& devices,
                 std::vector<port::Diagnostic>& diagnostics) const;
  // False, with a line that says why, where nobody wants the loader opened.
  static bool wished(std::vector<port::Diagnostic>& diagnostics);

  const std::string library_;
  const bool asked_;
  const Binaries binaries_;
};

template <class Handle, class Get>
std::vector<Handle> listOf(Get&& get, const char* what) {
  uint32_t count = 0;
  check(get(&count, nullptr), what);
  std::vector<Handle> handles(count);
  if (count > 0) check(get(&count, handles.data()), what);
  handles.resize(count);
  return handles;
}

void Backend::addDriver(const Api& api, ze_driver_handle_t handle, Devices& devices,
                        std::vector<port::Diagnostic>& diagnostics) const {
  ze_api_version_t version{};
  check(api.driverGetApiVersion(handle, &version), "the driver's version");
  if (static_cast<uint32_t>(version) < least_version) {
    diagnostics.push_back({"level_zero: a driver of version " +
                           std::to_string(ZE_MAJOR_VERSION(version)) + "." +
                           std::to_string(ZE_MINOR_VERSION(version)) + " is too old"});
    return;
  }
  const auto driver = std::make_shared<Driver>(api, handle, static_cast<uint32_t>(version),
                                               devices.empty(), binaries_);
  const auto found = listOf<ze_device_handle_t>(
      [&](auto... list) { return api.deviceGet(handle, list...); }, "the devices");
  for (const ze_device_handle_t device : found) {
    try {
      const auto space = level_zero_space_base + static_cast<port::MemorySpace>(devices.size());
      devices.push_back(std::make_shared<Device>(driver, device, space));
    } catch (const std::exception& error) {
      diagnostics.push_back({std::string("level_zero: a device: ") + error.what()});
    }
  }
}

bool Backend::wished(std::vector<port::Diagnostic>& diagnostics) {
  if (isGpuSetting("0")) {
    diagnostics.push_back({"level_zero: switched off by WEFT_GPU=0"});
    return false;
  }
  if (isGpuSetting("1") || isSet("ZE_ENABLE_ALT_DRIVERS") || hasRenderNode()) return true;
  diagnostics.push_back({"level_zero: no GPU of Intel: there is no /dev/dri/renderD*"});
  return false;
}

std::vector<std::shared_ptr<port::Device>> Backend::discover(
    std::vector<port::Diagnostic>& diagnostics) {
  Devices devices;
  if (!asked_ && !wished(diagnostics)) return {};
  try {
    const Api* const api = openLoader(library_, diagnostics);
    if (!api) return {};
    const auto drivers = listOf<ze_driver_handle_t>(
        [&](auto... list) { return api->driverGet(list...); }, "the drivers");
    for (const ze_driver_handle_t driver : drivers) addDriver(*api, driver, devices, diagnostics);
    if (devices.empty()) diagnostics.push_back({"level_zero: no device"});
  } catch (const std::exception& error) {
    diagnostics.push_back({std::string("level_zero: ") + error.what()});
  }
  for (const auto& device : devices)
    for (const auto& peer : devices)
      if (device != peer) device->connect(*peer);
  return {devices.begin(), devices.end()};
}

}  // namespace

std::unique_ptr<port::Backend> makeBackend(Binaries binaries) {
  return std::make_unique<Backend>(loader_name, false, std::move(binaries));
}

std::unique_ptr<port::Backend> makeBackend(const std::string& library, Binaries binaries) {
  return std::make_unique<Backend>(library, true, std::move(binaries));
}

}  // namespace weft::level_zero
