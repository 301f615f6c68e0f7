// Images of the device's own, through which kernels read (KernelInfo::native): what the compiler
// and the backends agree on.
#pragma once

#include <cstdint>
#include <string>

namespace weft::port {

// In Target::features, one of several names separated by commas: kernels that read images come as
// twins, too, that read the device's own.
inline constexpr const char* native_images_feature = "native_images";
// No more of them in a kernel than this; it reads further ones in software.
inline constexpr uint32_t most_native_images = 32, most_native_samplers = 16;

inline void addFeature(std::string& features, const char* one) {
  if (!features.empty()) features += ',';
  features += one;
}

}  // namespace weft::port
