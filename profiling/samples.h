// Measurements as a mean and a spread, in which new ones outweigh old ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace weft::profiling {

// Of a rate: nanoseconds for each work-item, or for each byte.
struct Samples {
  // A mean is worth this many measurements at most, so that what changed is learned anew.
  static constexpr double memory = 32;

  uint64_t count = 0;
  double size = 0;      // mean: work-items or bytes of one measurement
  double rate = 0;      // mean: nanoseconds for each of them
  double variance = 0;  // of the rate
  int64_t updated = 0;  // seconds since 1970

  // Adds `other`, measured later. The database does the same (store.cpp).
  void add(const Samples& other) {
    const double weight = share(other.count);
    const double change = other.rate - rate;
    size += weight * (other.size - size);
    variance = (1 - weight) * (variance + weight * change * change) + weight * other.variance;
    rate += weight * change;
    count += other.count;
    updated = std::max(updated, other.updated);
  }
  // Standard deviation as a part of the mean.
  double spread() const { return rate > 0 ? std::sqrt(variance) / rate : 0; }

  static Samples of(double size, double nanoseconds, int64_t now) {
    return {1, size, nanoseconds / size, 0, now};
  }
  // Sizes of one bucket are within half an octave.
  static int bucketOf(double size) {
    return static_cast<int>(std::floor(2 * std::log2(std::max(size, 1.0))));
  }

 private:
  double share(uint64_t added) const {
    const double fresh = static_cast<double>(added);
    return fresh / (std::min(static_cast<double>(count), memory) + fresh);
  }
};

}  // namespace weft::profiling
