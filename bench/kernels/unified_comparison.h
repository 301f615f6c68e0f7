// Weft's unified device beside its members.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace weft::bench {

// Prints a row for each case of these names, or of all, at its default local size and as many times
// its size as make the first member take about `seconds`: the time of the best member and of all
// together, and whether the results are the same. Needs WEFT_UNIFIED=1. 1 where results differ by
// more than the case allows, else 0.
int compareUnified(double seconds, const std::vector<std::string>& names);

}  // namespace weft::bench
