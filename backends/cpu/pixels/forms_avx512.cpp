#include "backends/cpu/pixels/forms.h"

#include "backends/cpu/pixels/accesses.h"
#include "backends/cpu/pixels/lanes_16.h"

namespace weft::cpu {

void enterAvx512Forms(port::PixelFunctions* tables) { enter<Lanes16, Vectors<Lanes16>>(tables); }

}  // namespace weft::cpu
