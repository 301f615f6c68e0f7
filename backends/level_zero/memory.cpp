#include "backends/level_zero/memory.h"

#include <algorithm>

#include "backends/level_zero/images.h"

namespace weft::level_zero {
namespace {

constexpr size_t page_bytes = 4096;

class HostMemory : public port::Memory {
 public:
  HostMemory(void* address, size_t bytes)
      : address_(static_cast<std::byte*>(address)), bytes_(bytes) {}
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return address_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(address_); }

 private:
  std::byte* address_;
  size_t bytes_;
};

class OwnedHostMemory final : public HostMemory {
 public:
  OwnedHostMemory(std::shared_ptr<Driver> driver, void* address, size_t bytes)
      : HostMemory(address, bytes), driver_(std::move(driver)) {
    driver_->host_ranges.add(host(), bytes);
  }
  ~OwnedHostMemory() override {
    driver_->host_ranges.remove(host());
    driver_->api.memFree(driver_->context, host());
  }

 private:
  std::shared_ptr<Driver> driver_;
};

}  // namespace

DeviceMemory::DeviceMemory(std::shared_ptr<DeviceContext> context, void* address, size_t bytes)
    : context_(std::move(context)), address_(address), bytes_(bytes) {
  if (context_->driver->native_images) copies_ = std::make_shared<ImageCopies>();
}

std::unique_ptr<port::Memory> allocateHost(std::shared_ptr<Driver> driver, size_t bytes) {
  const ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* address = nullptr;
  check(driver->api.memAllocHost(driver->context, &description, bytes, page_bytes, &address),
        "allocating memory of the host's");
  try {
    return std::make_unique<OwnedHostMemory>(driver, address, bytes);
  } catch (...) {
    driver->api.memFree(driver->context, address);
    throw;
  }
}

std::unique_ptr<port::Memory> importHost(std::shared_ptr<Driver> driver, void* host, size_t bytes) {
  const Api& api = driver->api;
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  if (api.memGetAllocProperties(driver->context, host, &properties, nullptr) != ZE_RESULT_SUCCESS ||
      properties.type != ZE_MEMORY_TYPE_HOST)
    return nullptr;
  void* base = nullptr;
  size_t size = 0;
  if (api.memGetAddressRange(driver->context, host, &base, &size) != ZE_RESULT_SUCCESS)
    return nullptr;
  const auto offset =
      static_cast<size_t>(static_cast<std::byte*>(host) - static_cast<std::byte*>(base));
  if (offset > size || bytes > size - offset) return nullptr;
  return std::make_unique<HostMemory>(host, bytes);
}

std::unique_ptr<port::Memory> importAny(void* host, size_t bytes) {
  return std::make_unique<HostMemory>(host, bytes);
}

std::unique_ptr<port::Memory> allocateDevice(std::shared_ptr<DeviceContext> context, size_t bytes,
                                             size_t alignment) {
  const ze_device_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                               0};
  void* address = nullptr;
  check(context->api.memAllocDevice(context->driver->context, &description,
                                    std::max<size_t>(bytes, 1), alignment, context->memory_owner,
                                    &address),
        "allocating device memory");
  return std::make_unique<DeviceMemory>(std::move(context), address, bytes);
}

std::byte* Staging::host() {
  if (!host_) {
    const ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    check(driver_.api.memAllocHost(driver_.context, &description, bytes, page_bytes, &host_),
          "allocating memory for copies");
  }
  return static_cast<std::byte*>(host_);
}

}  // namespace weft::level_zero
