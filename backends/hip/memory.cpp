#include "backends/hip/memory.h"

#include <optional>

#include "backends/hip/errors.h"
#include "backends/hip/textures.h"

namespace weft::hip {
namespace {

class DeviceMemory final : public port::Memory {
 public:
  DeviceMemory(std::shared_ptr<DeviceContext> context, void* address, size_t bytes)
      : context_(std::move(context)), address_(address), bytes_(bytes) {
    if (context_->texture_pitch_alignment > 0) textures_.emplace(*context_);
  }
  ~DeviceMemory() override {
    const Current current(context_->api, context_->device);
    textures_.reset();
    context_->memory.give(address_, bytes_);
  }
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return nullptr; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(address_); }
  Textures* textures() const { return textures_ ? &*textures_ : nullptr; }
  int device() const { return context_->device; }

 private:
  std::shared_ptr<DeviceContext> context_;
  mutable std::optional<Textures> textures_;
  void* address_;
  size_t bytes_;
};

class ImportedMemory final : public port::Memory {
 public:
  ImportedMemory(std::shared_ptr<Runtime> runtime, int device, void* host, void* address,
                 size_t bytes)
      : runtime_(std::move(runtime)),
        device_(device),
        host_(static_cast<std::byte*>(host)),
        address_(address),
        bytes_(bytes) {}
  ~ImportedMemory() override {
    const Current current(runtime_->api, device_);
    runtime_->registry.release(host_);
  }
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return host_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(address_); }

 private:
  std::shared_ptr<Runtime> runtime_;
  int device_;
  std::byte* host_;
  void* address_;
  size_t bytes_;
};

class ManagedMemory final : public port::Memory {
 public:
  // Owns what lies at `address`.
  ManagedMemory(std::shared_ptr<Runtime> runtime, int device, void* address, size_t bytes)
      : runtime_(std::move(runtime)),
        device_(device),
        address_(static_cast<std::byte*>(address)),
        bytes_(bytes) {
    runtime_->registry.adopt(address, bytes);
  }
  ~ManagedMemory() override {
    const Current current(runtime_->api, device_);
    runtime_->registry.release(address_);
    runtime_->api.free(address_);
  }
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return address_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(address_); }

 private:
  std::shared_ptr<Runtime> runtime_;
  int device_;
  std::byte* address_;
  size_t bytes_;
};

}  // namespace

Textures* texturesOf(const port::Memory* memory) {
  const auto* const device = dynamic_cast<const DeviceMemory*>(memory);
  return device ? device->textures() : nullptr;
}

std::unique_ptr<port::Memory> allocateMemory(std::shared_ptr<DeviceContext> context, size_t bytes) {
  const Api& api = context->api;
  const Current current(api, context->device);
  check(api, context->usable(current.status()), "making the device current");
  void* address = nullptr;
  // Runtimes align to at least 256 bytes.
  check(api, context->memory.take(&address, bytes), "allocating device memory");
  return std::make_unique<DeviceMemory>(std::move(context), address, bytes);
}

int deviceOf(const port::Memory& memory) noexcept {
  return static_cast<const DeviceMemory&>(memory).device();
}

std::unique_ptr<port::Memory> allocateManaged(std::shared_ptr<Runtime> runtime, int device,
                                              size_t bytes) {
  const Api& api = runtime->api;
  const Current current(api, device);
  check(api, current.status(), "making the device current");
  void* address = nullptr;
  check(api, api.mallocManaged(&address, bytes, attach_global), "allocating managed memory");
  try {
    return std::make_unique<ManagedMemory>(std::move(runtime), device, address, bytes);
  } catch (...) {
    api.free(address);
    throw;
  }
}

std::unique_ptr<port::Memory> importMemory(std::shared_ptr<Runtime> runtime, int device, void* host,
                                           size_t bytes) {
  const Api& api = runtime->api;
  const Current current(api, device);
  if (current.status() != success || bytes == 0) return nullptr;
  if (!runtime->registry.pin(host, bytes)) return nullptr;
  void* address = host;
  if (!runtime->registry.adopted(host, bytes) &&
      api.hostGetDevicePointer(&address, host, 0) != success) {
    runtime->registry.release(host);
    return nullptr;
  }
  return std::make_unique<ImportedMemory>(std::move(runtime), device, host, address, bytes);
}

}  // namespace weft::hip
