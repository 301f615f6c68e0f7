// The driver's entry points, as the loader's tables want them.
#pragma once

#include "tests/software_level_zero/objects.h"

namespace weft::software::entry {

#define WEFT_SOFTWARE_ZE(name, type) std::remove_pointer_t<type> name;
#include "tests/software_level_zero/entry_points.def"
#undef WEFT_SOFTWARE_ZE

}  // namespace weft::software::entry
