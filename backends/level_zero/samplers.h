// The device's own samplers, one for each way to sample.
#pragma once

#include <map>

#include "backends/level_zero/api.h"
#include "core/guarded.h"

namespace weft::level_zero {

struct Driver;

// Thread-safe.
class SamplerPool {
 public:
  SamplerPool(const Driver& driver, ze_device_handle_t device) : driver_(driver), device_(device) {}
  SamplerPool(const SamplerPool&) = delete;
  SamplerPool& operator=(const SamplerPool&) = delete;
  ~SamplerPool();

  // Of a kernel's argument (core/ports/launch.h), without what only mip-maps ask for; nullptr where
  // the driver has none such.
  ze_sampler_handle_t get(uint32_t value);

 private:
  const Driver& driver_;
  const ze_device_handle_t device_;
  Guarded<std::map<uint32_t, ze_sampler_handle_t>> samplers_;
};

}  // namespace weft::level_zero
