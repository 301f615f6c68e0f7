// The functions of core/ports/pixels.h by the processors that they are compiled for. Each enters
// its own into the tables of all layouts (layout.h).
#pragma once

#include "core/ports/pixels.h"

namespace weft::cpu {

void enterPlainForms(port::PixelFunctions* tables);   // one lane
void enterSse41Forms(port::PixelFunctions* tables);   // 4
void enterAvx2Forms(port::PixelFunctions* tables);    // 8; one, with F16C
void enterAvx512Forms(port::PixelFunctions* tables);  // 16

}  // namespace weft::cpu
