#include "backends/cpu/clock.h"

#include <ctime>

namespace weft::cpu {

port::Nanoseconds now() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return port::Nanoseconds(t.tv_sec) * 1'000'000'000u + port::Nanoseconds(t.tv_nsec);
}

}  // namespace weft::cpu
