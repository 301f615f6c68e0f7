#include "backends/level_zero/memory.h"

#include <algorithm>

namespace weft::level_zero {
namespace {

class DeviceMemory final : public port::Memory {
 public:
  DeviceMemory(std::shared_ptr<DeviceContext> context, void* address, size_t bytes)
      : context_(std::move(context)), address_(address), bytes_(bytes) {}
  ~DeviceMemory() override { context_->api.memFree(context_->driver->context, address_); }
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return nullptr; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(address_); }

 private:
  std::shared_ptr<DeviceContext> context_;
  void* address_;
  size_t bytes_;
};

}  // namespace

std::unique_ptr<port::Memory> allocateDevice(std::shared_ptr<DeviceContext> context, size_t bytes,
                                             size_t alignment) {
  const ze_device_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                               0};
  void* address = nullptr;
  check(
      context->api.memAllocDevice(context->driver->context, &description,
                                  std::max<size_t>(bytes, 1), alignment, context->device, &address),
      "allocating device memory");
  return std::make_unique<DeviceMemory>(std::move(context), address, bytes);
}

std::byte* Staging::host() {
  if (!host_) {
    const ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    constexpr size_t alignment = 4096;
    check(driver_.api.memAllocHost(driver_.context, &description, bytes, alignment, &host_),
          "allocating memory for copies");
  }
  return static_cast<std::byte*>(host_);
}

}  // namespace weft::level_zero
