// The driver's entry points, as the loader's tables want them. Exported under the interface's
// names, too, as drivers do, so that a program can do without the loader.
#pragma once

#include "tests/software_level_zero/objects.h"

namespace weft::software::entry {

#define WEFT_SOFTWARE_ZE(function, name) \
  [[gnu::visibility("default")]] decltype(::name) function asm(#name);
#include "tests/software_level_zero/entry_points.def"
#undef WEFT_SOFTWARE_ZE

}  // namespace weft::software::entry
