// What of SPIR-V devices take: cl_khr_spirv_queries, and the compiler's check of what a module
// declares.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/ports/compiler.h"

namespace weft {

// May a module declare it that is for a device with these features?
bool takesSpirvCapability(const port::LanguageFeatures& features, uint32_t capability);

// Of a device with these features.
std::vector<uint32_t> spirvCapabilities(const port::LanguageFeatures& features);
std::vector<const char*> spirvExtensions(const port::LanguageFeatures& features);

}  // namespace weft
