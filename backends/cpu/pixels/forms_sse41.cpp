#include "backends/cpu/pixels/forms.h"

#include "backends/cpu/pixels/accesses.h"
#include "backends/cpu/pixels/lanes_4.h"

namespace weft::cpu {

void enterSse41Forms(port::PixelFunctions* tables) { enter<Lanes4, Vectors<Lanes4>>(tables); }

}  // namespace weft::cpu
