// The families of cases; each is a file of kernels and a file of rows of the same name.
#pragma once

#include "bench/kernels/case.h"

namespace weft::bench {

using Family = const std::vector<Case>& (*)();

const std::vector<Case>& streams();
const std::vector<Case>& dense();
const std::vector<Case>& stencils();
const std::vector<Case>& particles();
const std::vector<Case>& numeric();
const std::vector<Case>& signal();
const std::vector<Case>& primitives();

inline constexpr Family families[] = {streams, dense,  stencils,  particles,
                                      numeric, signal, primitives};

}  // namespace weft::bench
