// Images of the device's own, through which kernels read (KernelInfo::native): what the compiler
// and the backends agree on.
#pragma once

#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>

#include "core/ports/capabilities.h"

namespace weft::port {

// In Target::features, one of several names separated by commas: kernels that read images come as
// twins, too, that read the device's own.
inline constexpr const char* native_images_feature = "native_images";
// No more of them in a kernel than this; it reads further ones in software.
inline constexpr uint32_t most_native_images = 32, most_native_samplers = 16;

// Rows that begin at multiples of so many bytes are read by NVIDIA's textures, for software GPUs
// too. Intel's images are copies, which want none between the rows.
inline size_t nativeRowAlignment(const Target& target) {
  constexpr size_t of_textures = 32;
  const bool has_images = target.features.find(native_images_feature) != std::string::npos;
  return has_images && target.kind != TargetKind::spirv ? of_textures : 1;
}

inline void addFeature(std::string& features, std::string_view one) {
  if (!features.empty()) features += ',';
  features += one;
}
inline Target withoutNativeImages(Target target) {
  std::string others;
  for (const auto& part : std::views::split(std::string_view(target.features), ','))
    if (const std::string_view one(part.begin(), part.end()); one != native_images_feature)
      addFeature(others, one);
  target.features = std::move(others);
  return target;
}

// Does a device load code that was made for another target? Devices launch twins, or kernels
// without, as they have images of their own or not. But the driver compiles all of a SPIR-V module,
// and what reads images only where it has them.
inline bool loads(const Target& device, const Target& code) {
  const bool has_twins = withoutNativeImages(code) != code;
  return device == code || (withoutNativeImages(device) == withoutNativeImages(code) &&
                            !(has_twins && code.kind == TargetKind::spirv));
}

}  // namespace weft::port
