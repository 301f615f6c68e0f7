#include "backends/hip/backend.h"

#include <exception>

#include "backends/common/memory_space.h"
#include "backends/hip/device.h"

namespace weft::hip {
namespace {

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
    : providers_{[](auto& diagnostics) { return openHipRuntime(diagnostics); },
                 [](auto& diagnostics) { return openCudaDriver(diagnostics); }} {}

std::vector<std::shared_ptr<port::Device>> Backend::discover(
    std::vector<port::Diagnostic>& diagnostics) {
  std::vector<std::shared_ptr<port::Device>> all;
  port::MemorySpace space = hip_space_base;
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
