// A landscape of photograph's size and texture, for machines without a photograph.
#pragma once

#include "tools/demo/picture.h"

namespace weft::tools::demo {

// The same picture every time for one size.
Picture paintScene(int width, int height);

}  // namespace weft::tools::demo
