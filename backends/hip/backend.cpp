#include "backends/hip/backend.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <span>
#include <string_view>

#include "backends/common/memory_space.h"
#include "backends/hip/device.h"

namespace weft::hip {
namespace {

// WEFT_GPU: "0" uses no GPU; "1" opens the drivers even where the system shows no GPU.
enum class Setting : uint8_t { usual, off, always };
Setting setting() {
  const char* const text = std::getenv("WEFT_GPU");
  if (!text || !*text) return Setting::usual;
  if (std::string_view(text) == "0") return Setting::off;
  return std::string_view(text) == "1" ? Setting::always : Setting::usual;
}

// What a driver of the kernel puts there. Opening a vendor's runtime can take long, so machines
// without such a GPU are spared it.
constexpr const char* amd_nodes[] = {"/dev/kfd"};
constexpr const char* nvidia_nodes[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvhost-ctrl-gpu",
                                        "/dev/dxg"};

bool mayExist(const char* vendor, std::span<const char* const> nodes,
              std::vector<port::Diagnostic>& diagnostics) {
  const auto exists = [](const char* path) { return access(path, F_OK) == 0; };
  if (setting() == Setting::always || std::ranges::any_of(nodes, exists)) return true;
  diagnostics.push_back({std::string("hip: no GPU of ") + vendor + ": there is no " + nodes[0]});
  return false;
}

void connectAll(const std::vector<std::shared_ptr<Device>>& devices) {
  for (const auto& device : devices)
    for (const auto& peer : devices)
      if (device != peer) device->connect(*peer);
}

std::vector<std::shared_ptr<Device>> devicesOf(const std::shared_ptr<Runtime>& runtime,
                                               port::MemorySpace first_space,
                                               std::vector<port::Diagnostic>& diagnostics) {
  const std::string& name = runtime->provider->name;
  std::vector<std::shared_ptr<Device>> devices;
  int count = 0;
  const Status status = runtime->api.getDeviceCount(&count);
  if (status != success || count == 0) {
    diagnostics.push_back(
        {name + ": " + (status != success ? describe(runtime->api, status) : "no device")});
    return devices;
  }
  for (int i = 0; i < count; ++i) {
    try {
      devices.push_back(std::make_shared<Device>(runtime, i, first_space));
    } catch (const std::exception& error) {
      diagnostics.push_back({name + ": device " + std::to_string(i) + ": " + error.what()});
    }
  }
  connectAll(devices);
  return devices;
}

}  // namespace

Backend::Backend()
    : providers_{[](auto& diagnostics) {
                   const bool here = wishedHipRuntime() || mayExist("AMD", amd_nodes, diagnostics);
                   return here ? openHipRuntime(diagnostics) : nullptr;
                 },
                 [](auto& diagnostics) {
                   const bool here = mayExist("NVIDIA", nvidia_nodes, diagnostics);
                   return here ? openCudaDriver(diagnostics) : nullptr;
                 }} {}

std::vector<std::shared_ptr<port::Device>> Backend::discover(
    std::vector<port::Diagnostic>& diagnostics) {
  std::vector<std::shared_ptr<port::Device>> all;
  port::MemorySpace space = hip_space_base;
  if (setting() == Setting::off) {
    diagnostics.push_back({"hip: switched off by WEFT_GPU=0"});
    return all;
  }
  for (const Open& open : providers_) {
    try {
      std::unique_ptr<Provider> provider = open(diagnostics);
      if (!provider) continue;
      const auto runtime = std::make_shared<Runtime>(std::move(provider));
      const auto devices = devicesOf(runtime, space, diagnostics);
      all.insert(all.end(), devices.begin(), devices.end());
      space += static_cast<port::MemorySpace>(devices.size());
    } catch (const std::exception& error) {
      diagnostics.push_back({std::string("HIP: ") + error.what()});
    }
  }
  return all;
}

}  // namespace weft::hip
