#include "backends/cpu/pixels/forms.h"

#include "backends/cpu/pixels/lanes_8.h"
#include "backends/cpu/pixels/single.h"

namespace weft::cpu {

void enterAvx2Forms(port::PixelFunctions* tables) {
  enter<Lanes8, Vectors<Lanes8>>(tables);
  enter<Lanes1, Single>(tables);
}

}  // namespace weft::cpu
