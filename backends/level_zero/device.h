#pragma once

#include <span>
#include <string_view>

#include "backends/level_zero/context.h"
#include "core/ports/device.h"
#include "core/ports/shared_memory.h"

namespace weft::level_zero {

class Device final : public port::Device, public port::SharedMemorySource {
 public:
  // Throws when the driver does not answer.
  Device(std::shared_ptr<Driver> driver, ze_device_handle_t handle, port::MemorySpace space);

  const port::Capabilities& capabilities() const override { return capabilities_; }
  const port::Target& target() const override { return target_; }
  bool reaches(port::MemorySpace space) const override;
  uint64_t freeMemory() const override { return capabilities_.global_memory_bytes; }
  port::ClockPair clocks() const override;
  bool lost() const noexcept override;
  std::vector<std::shared_ptr<port::Device>> partition(
      std::span<const port::UnitSet> parts) override;
  std::unique_ptr<port::Stream> createStream(port::Order order) override;
  std::unique_ptr<port::Memory> allocate(size_t bytes, size_t alignment) override;
  std::unique_ptr<port::Memory> import(void* host, size_t bytes) override;
  std::unique_ptr<port::Memory> allocateShared(size_t bytes) override;
  std::unique_ptr<port::Module> load(const Image& image) override;

  // Lets streams of this device read and write memory of `peer`, where the hardware can.
  void connect(const Device& peer);

  // Of `root`, whose memory it uses: `units` are its own. Throws when the driver does not answer.
  Device(const Device& root, ze_device_handle_t handle, const port::UnitSet& units);

 private:
  void describe();
  ze_device_handle_t handleOf(const port::UnitSet& part) const;
  void describeDevice();
  void describeSubGroups(std::span<const uint32_t> sizes);
  void describeDriver();
  bool driverHas(std::string_view extension) const;
  void describeBus();
  void describeCode();
  void describeFloatSums();
  void describeMemory();
  void describeNativeImages();
  void describeSharedMemory();
  void describeQueues();
  void describeTiles();

  std::shared_ptr<DeviceContext> context_;
  port::Capabilities capabilities_;
  port::Target target_;
  bool uses_any_memory_ = false;  // of the host's
  std::vector<port::MemorySpace> peers_;
  std::vector<ze_device_handle_t> tiles_;  // none, or two or more
};

}  // namespace weft::level_zero
