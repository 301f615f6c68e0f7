#pragma once

#include <mutex>

#include "backends/hip/context.h"
#include "backends/hip/stream.h"
#include "core/ports/device.h"
#include "core/ports/shared_memory.h"

namespace weft::hip {

class Device final : public port::Device, public port::ManagedMemorySource {
 public:
  // Throws when the runtime does not answer.
  Device(std::shared_ptr<Runtime> runtime, int ordinal, port::MemorySpace first_space);

  const port::Capabilities& capabilities() const override { return capabilities_; }
  const port::Target& target() const override { return target_; }
  bool reaches(port::MemorySpace space) const override;
  uint64_t freeMemory() const override;
  port::ClockPair clocks() const override;
  bool lost() const noexcept override;
  std::vector<std::shared_ptr<port::Device>> partition(
      std::span<const port::UnitSet> parts) override;
  std::unique_ptr<port::Stream> createStream(port::Order order) override;
  std::unique_ptr<port::Memory> allocate(size_t bytes, size_t alignment) override;
  std::unique_ptr<port::Memory> import(void* host, size_t bytes) override;
  std::unique_ptr<port::Memory> allocateManaged(size_t bytes) override;
  std::unique_ptr<port::Module> load(const Image& image) override;

  std::unique_ptr<InOrderStream> createInOrderStream(const StreamOptions& options);
  // Lets streams of this device read and write memory of `peer`, where the hardware can.
  void connect(const Device& peer);
  const std::shared_ptr<DeviceContext>& context() const { return context_; }

 private:
  int attribute(Attribute attribute) const;
  void describeDevice();
  void describeMemory();
  void describeImages();
  void describeTextures();
  // NVIDIA's compute capability, major * 10 + minor.
  int capability() const;
  void enablePeers();

  struct Peer {
    port::MemorySpace space;
    int device;
  };

  std::shared_ptr<DeviceContext> context_;
  port::Capabilities capabilities_;
  port::Target target_;
  std::vector<Peer> peers_;
  std::mutex enabling_;
  bool peers_enabled_ = false;
};

}  // namespace weft::hip
