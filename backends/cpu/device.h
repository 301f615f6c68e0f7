// A set of PUs as an OpenCL-like device.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backends/cpu/executor.h"
#include "core/guarded.h"
#include "core/ports/device.h"

namespace weft::cpu {

struct MemorySettings {
  bool is_private = false;        // a memory space of its own, also for each sub-device
  uint64_t limit = ~uint64_t(0);  // bytes
};

class Device final : public port::Device {
 public:
  // `pus`: OS indices in topology order.
  Device(std::vector<unsigned> pus, MemorySettings memory);

  const port::Capabilities& capabilities() const override { return capabilities_; }
  const port::Target& target() const override { return target_; }
  bool reaches(port::MemorySpace space) const override;
  uint64_t freeMemory() const override;
  port::ClockPair clocks() const override;
  std::vector<std::shared_ptr<port::Device>> partition(std::span<const uint32_t> counts) override;
  std::unique_ptr<port::Stream> createStream(port::Order order) override;
  std::unique_ptr<port::Memory> allocate(size_t bytes, size_t alignment) override;
  std::unique_ptr<port::Memory> import(void* host, size_t bytes) override;
  std::unique_ptr<port::Module> load(const Image& image) override;

 private:
  const std::vector<unsigned> pus_;
  const MemorySettings memory_;
  port::Target target_;
  port::Capabilities capabilities_;
  Guarded<Ref<Executor>> executor_;  // made with the first stream
};

}  // namespace weft::cpu
