#include "backends/cpu/pixels/forms.h"

#include "backends/cpu/pixels/lanes_1.h"
#include "backends/cpu/pixels/single.h"

namespace weft::cpu {

void enterPlainForms(port::PixelFunctions* tables) { enter<Lanes1, Single>(tables); }

}  // namespace weft::cpu
