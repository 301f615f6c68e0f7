// A set of PUs as an OpenCL-like device.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backends/cpu/executor.h"
#include "backends/cpu/target.h"
#include "backends/cpu/topology.h"
#include "backends/cpu/trials.h"
#include "core/guarded.h"
#include "core/ports/code_maker.h"
#include "core/ports/device.h"

namespace weft::cpu {

// What a device and its sub-devices have in common.
struct Settings {
  bool private_memory = false;           // a memory space for each of them
  uint64_t memory_limit = ~uint64_t(0);  // bytes
  port::Placement placement = port::Placement::cores;
  Spread spread = Spread::interleave;
  bool bind = true;  // threads to their PUs
  Vectors vectors = Vectors::of_512_bits;
  std::shared_ptr<const port::CodeMaker> code;  // who makes what images leave for later
  TrialPolicy trials = TrialPolicy::worthwhile;
  std::shared_ptr<Background> background;  // who makes other forms of kernels
};

class Device final : public port::Device {
 public:
  // `units`: some of the topology's, in its order.
  Device(std::shared_ptr<const Topology> topology, std::vector<port::ComputeUnit> units,
         Settings settings);

  const port::Capabilities& capabilities() const override { return capabilities_; }
  const port::Target& target() const override { return target_; }
  bool reaches(port::MemorySpace space) const override;
  uint64_t freeMemory() const override;
  port::ClockPair clocks() const override;
  std::vector<std::shared_ptr<port::Device>> partition(
      std::span<const port::UnitSet> parts) override;
  std::unique_ptr<port::Stream> createStream(port::Order order) override;
  std::unique_ptr<port::Memory> allocate(size_t bytes, size_t alignment) override;
  std::unique_ptr<port::Memory> import(void* host, size_t bytes) override;
  std::unique_ptr<port::Module> load(const Image& image) override;

 private:
  std::vector<Seat> seats() const;

  const std::shared_ptr<const Topology> topology_;
  const Settings settings_;
  port::Target target_;
  Home home_;
  port::Capabilities capabilities_;
  Guarded<Ref<Executor>> executor_;  // made with the first stream
};

}  // namespace weft::cpu
