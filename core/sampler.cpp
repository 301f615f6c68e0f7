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

uint32_t encode(const SamplerState& state) {
  require(state.normalized_coords == CL_TRUE || state.normalized_coords == CL_FALSE,
          CL_INVALID_VALUE, "normalised coordinates are true or false");
  return bitsOf(addressing_modes, state.addressing_mode) | bitsOf(filter_modes, state.filter_mode) |
         (state.normalized_coords ? port::sampler_normalized : 0);
}

}  // namespace

Sampler::Sampler(Ref<Context> context, const SamplerState& state,
                 std::vector<cl_sampler_properties> properties)
    : context_(std::move(context)),
      state_(state),
      properties_(std::move(properties)),
      encoding_(encode(state)) {}

}  // namespace weft
