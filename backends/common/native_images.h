// Images of the device's own, which kernels read through where they can (KernelInfo::native).
#pragma once

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/image.h"
#include "core/image_format.h"
#include "core/ports/device.h"
#include "core/ports/launch.h"

namespace weft {

// WEFT_NATIVE_IMAGES: 1 asks for them, 0 asks for none; else what is usual for the device.
inline bool wishesNativeImages(bool usual) {
  const char* const text = std::getenv("WEFT_NATIVE_IMAGES");
  const std::string_view wish = text ? text : "";
  return usual ? wish != "0" : wish == "1";
}

inline uint32_t valueOf(const NativeSampler& sampler, const port::Launch& launch) {
  if (!sampler.is_argument) return sampler.value;
  uint32_t value = 0;
  std::memcpy(&value, launch.arguments[sampler.value].value, sizeof value);
  return value;
}

inline bool filters(uint32_t sampler) { return (sampler & port::sampler_filter_linear) != 0; }

inline bool holdsIntegers(const ImageFormat& format) {
  return format.type->kind == ChannelClass::signed_int ||
         format.type->kind == ChannelClass::unsigned_int;
}

}  // namespace weft
