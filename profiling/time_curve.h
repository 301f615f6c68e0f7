// What a number of measurements of one kernel on one device, or of one link, say about another
// size. Pure functions.
#pragma once

#include <map>
#include <optional>

#include "profiling/samples.h"

namespace weft::profiling {

struct Prediction {
  double nanoseconds = 0;
  double spread = 0;      // standard deviation as a part of it
  double confidence = 0;  // 0: a guess; 1: measured often, at this size, lately, with little spread
};

// By bucket of size.
using Curve = std::map<int, Samples>;

// Time over size: between two measured sizes as a power of the size, below the smallest and above
// the largest along the line through the nearest two, as a fixed cost and a rate; with one size
// known, in proportion. nullopt: nothing is known.
std::optional<Prediction> predict(const Curve& curve, double size, int64_t now);

}  // namespace weft::profiling
