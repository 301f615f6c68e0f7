// cl_sampler. Specification 5.7.
#pragma once

#include <limits>
#include <vector>

#include "core/context.h"
#include "core/handle.h"

namespace weft {

struct SamplerState {
  cl_bool normalized_coords = CL_TRUE;
  cl_addressing_mode addressing_mode = CL_ADDRESS_CLAMP;
  cl_filter_mode filter_mode = CL_FILTER_NEAREST;
  // cl_khr_mipmap_image.
  cl_filter_mode level_filter_mode = CL_FILTER_NEAREST;
  cl_float least_level = 0;
  cl_float greatest_level = std::numeric_limits<float>::max();
};

// Immutable. Keeps its context alive.
class Sampler final : public HandleObject<_cl_sampler> {
 public:
  // Throws CL_INVALID_VALUE for modes that do not exist.
  Sampler(Ref<Context> context, const SamplerState& state,
          std::vector<cl_sampler_properties> properties);

  Context& context() const { return *context_; }
  const SamplerState& state() const { return state_; }
  const std::vector<cl_sampler_properties>& properties() const { return properties_; }
  // As a kernel's argument (core/ports/launch.h).
  uint32_t encoding() const { return encoding_; }

 private:
  ~Sampler() override = default;

  Ref<Context> context_;
  SamplerState state_;
  std::vector<cl_sampler_properties> properties_;
  uint32_t encoding_;
};

}  // namespace weft
