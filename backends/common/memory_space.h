// Memory spaces are numbered per backend, so that a backend knows its own without asking anyone.
#pragma once

#include "core/ports/capabilities.h"

namespace weft {

// Each backend numbers its spaces from its base; bases are this far apart.
inline constexpr port::MemorySpace spaces_per_backend = 1u << 24;
inline constexpr port::MemorySpace cpu_space_base = 1 * spaces_per_backend;
inline constexpr port::MemorySpace hip_space_base = 2 * spaces_per_backend;
inline constexpr port::MemorySpace level_zero_space_base = 3 * spaces_per_backend;

constexpr bool inSpaceRange(port::MemorySpace space, port::MemorySpace base) {
  return space >= base && space - base < spaces_per_backend;
}

}  // namespace weft
