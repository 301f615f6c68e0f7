// The one clock domain that every time in Weft is in.
#pragma once

#include <ctime>

#include <cstdint>

namespace weft::profiling {

// CLOCK_MONOTONIC, nanoseconds.
inline uint64_t now() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace weft::profiling
