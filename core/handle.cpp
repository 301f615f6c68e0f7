#include "core/handle.h"

namespace weft {

const void* icd_dispatch = nullptr;

}  // namespace weft
