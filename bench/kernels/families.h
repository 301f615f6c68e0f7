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
const std::vector<Case>& sparse();
const std::vector<Case>& filters();
const std::vector<Case>& texts();
const std::vector<Case>& dynamic();
const std::vector<Case>& physics();

inline constexpr Family families[] = {streams,    dense,  stencils, particles, numeric, signal,
                                      primitives, sparse, filters,  texts,     dynamic, physics};

}  // namespace weft::bench
