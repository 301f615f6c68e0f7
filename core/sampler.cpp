#include "core/sampler.h"

#include <algorithm>

#include "core/ports/launch.h"

namespace weft {
namespace {

struct Mode {
  cl_uint value;
  uint32_t bits;
};
constexpr Mode addressing_modes[] = {
    {CL_ADDRESS_NONE, port::sampler_address_none},
    {CL_ADDRESS_CLAMP_TO_EDGE, port::sampler_address_clamp_to_edge},
    {CL_ADDRESS_CLAMP, port::sampler_address_clamp},
    {CL_ADDRESS_REPEAT, port::sampler_address_repeat},
    {CL_ADDRESS_MIRRORED_REPEAT, port::sampler_address_mirrored_repeat},
};
constexpr Mode filter_modes[] = {
    {CL_FILTER_NEAREST, port::sampler_filter_nearest},
    {CL_FILTER_LINEAR, port::sampler_filter_linear},
};

uint32_t bitsOf(std::span<const Mode> modes, cl_uint value) {
  const auto mode =
      std::find_if(modes.begin(), modes.end(), [&](const Mode& m) { return m.value == value; });
  require(mode != modes.end(), CL_INVALID_VALUE, "no such mode of a sampler");
  return mode->bits;
}

// A level of detail in 256ths. NaN is 0.
uint32_t fixedLevel(cl_float level) {
  constexpr auto limit = static_cast<float>(port::sampler_level_limit);
  const float scaled = level * 256;
  return scaled > 0 ? static_cast<uint32_t>(std::min(scaled, limit)) : 0;
}

uint32_t encodeLevels(const SamplerState& state) {
  const bool linear = bitsOf(filter_modes, state.level_filter_mode) == port::sampler_filter_linear;
  const uint32_t below = port::sampler_level_limit - fixedLevel(state.greatest_level);
  return (linear ? port::sampler_levels_linear : 0) |
         fixedLevel(state.least_level) << port::sampler_level_least_shift |
         below << port::sampler_level_greatest_shift;
}

uint32_t encode(const SamplerState& state) {
  require(state.normalized_coords == CL_TRUE || state.normalized_coords == CL_FALSE,
          CL_INVALID_VALUE, "normalised coordinates are true or false");
  return bitsOf(addressing_modes, state.addressing_mode) | bitsOf(filter_modes, state.filter_mode) |
         (state.normalized_coords ? port::sampler_normalized : 0) | encodeLevels(state);
}

}  // namespace

Sampler::Sampler(Ref<Context> context, const SamplerState& state,
                 std::vector<cl_sampler_properties> properties)
    : context_(std::move(context)),
      state_(state),
      properties_(std::move(properties)),
      encoding_(encode(state)) {}

}  // namespace weft
