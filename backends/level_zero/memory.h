// Memory of the device, and memory of the host that the device reads and writes.
#pragma once

#include <memory>

#include "backends/level_zero/context.h"

namespace weft::level_zero {

class ImageCopies;

class DeviceMemory final : public port::Memory {
 public:
  // Owns what lies at `address`.
  DeviceMemory(std::shared_ptr<DeviceContext> context, void* address, size_t bytes);
  ~DeviceMemory() override { context_->api.memFree(context_->driver->context, address_); }
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return nullptr; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(address_); }

  // As images of the device's own; nullptr where nobody wishes for such.
  const std::shared_ptr<ImageCopies>& copies() const { return copies_; }

 private:
  std::shared_ptr<DeviceContext> context_;
  std::shared_ptr<ImageCopies> copies_;
  void* address_;
  size_t bytes_;
};

// Throws CL_MEM_OBJECT_ALLOCATION_FAILURE.
std::unique_ptr<port::Memory> allocateDevice(std::shared_ptr<DeviceContext> context, size_t bytes,
                                             size_t alignment);

// Memory of the host that all devices of the driver use at its address. Throws
// CL_MEM_OBJECT_ALLOCATION_FAILURE.
std::unique_ptr<port::Memory> allocateHost(std::shared_ptr<Driver> driver, size_t bytes);
// The same, of another owner: nullptr where not all of it is in one such allocation.
std::unique_ptr<port::Memory> importHost(std::shared_ptr<Driver> driver, void* host, size_t bytes);
// For devices that use any memory of the host.
std::unique_ptr<port::Memory> importAny(void* host, size_t bytes);

// Memory of the host through which copies of ordinary memory go.
class Staging {
 public:
  static constexpr size_t bytes = size_t(4) << 20;

  explicit Staging(const Driver& driver) : driver_(driver) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    if (host_) driver_.api.memFree(driver_.context, host_);
  }
  // Allocates it when it is first asked for. Throws.
  std::byte* host();

 private:
  const Driver& driver_;
  void* host_ = nullptr;
};

}  // namespace weft::level_zero
