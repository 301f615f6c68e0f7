// The demo's stages in plain C++, to compare the kernels with.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/demo/stages.h"

namespace weft::tools::demo {

// Contents of every plane, as bytes.
using Planes = std::array<std::vector<uint8_t>, plane_count>;

// Computes what stage `index` writes into `out` from what it reads in `in`.
void referenceStage(size_t index, const Planes& in, Planes& out, int width, int height);

}  // namespace weft::tools::demo
