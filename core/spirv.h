// As much of SPIR-V as the host interface has to look into: is it a module, and which constants may
// be specialised. Reading it for good is the compiler's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace weft {

// Bytes of a specialisation constant's value by its id in the application's numbering (SpecId).
using SpecializationSizes = std::map<uint32_t, size_t>;

// A module's instructions follow one another to its end.
bool isSpirvModule(std::string_view bytes);

SpecializationSizes specializationSizes(std::string_view module);

}  // namespace weft
