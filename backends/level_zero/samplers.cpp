#include "backends/level_zero/samplers.h"

#include "backends/level_zero/context.h"
#include "core/ports/launch.h"

namespace weft::level_zero {
namespace {

constexpr uint32_t address_bits = 0xe;
constexpr uint32_t known_bits = port::sampler_normalized | address_bits |
                                port::sampler_filter_nearest | port::sampler_filter_linear;

ze_sampler_address_mode_t addressMode(uint32_t value) {
  switch (value & address_bits) {
    case port::sampler_address_clamp_to_edge:
      return ZE_SAMPLER_ADDRESS_MODE_CLAMP;
    case port::sampler_address_clamp:
      return ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
    case port::sampler_address_repeat:
      return ZE_SAMPLER_ADDRESS_MODE_REPEAT;
    case port::sampler_address_mirrored_repeat:
      return ZE_SAMPLER_ADDRESS_MODE_MIRROR;
    default:
      return ZE_SAMPLER_ADDRESS_MODE_NONE;
  }
}

}  // namespace

SamplerPool::~SamplerPool() {
  for (const auto& [value, sampler] : *samplers_.lock())
    if (sampler) driver_.api.samplerDestroy(sampler);
}

ze_sampler_handle_t SamplerPool::get(uint32_t value) {
  value &= known_bits;
  const auto samplers = samplers_.lock();
  const auto [known, is_new] = samplers->try_emplace(value, nullptr);
  if (!is_new) return known->second;
  const bool linear = (value & port::sampler_filter_linear) != 0;
  const ze_sampler_desc_t description{
      ZE_STRUCTURE_TYPE_SAMPLER_DESC, nullptr, addressMode(value),
      linear ? ZE_SAMPLER_FILTER_MODE_LINEAR : ZE_SAMPLER_FILTER_MODE_NEAREST,
      static_cast<ze_bool_t>((value & port::sampler_normalized) != 0)};
  if (driver_.api.samplerCreate(driver_.context, device_, &description, &known->second) !=
      ZE_RESULT_SUCCESS)
    known->second = nullptr;
  return known->second;
}

}  // namespace weft::level_zero
