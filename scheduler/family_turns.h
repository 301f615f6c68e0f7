// How many families of a context run on a device at a time: each has a journal of up to 32 MiB
// there.
#pragma once

#include <cstddef>

#include "core/brief_mutex.h"
#include "core/guarded.h"

namespace weft {

class DeviceFamily;

// Thread-safe. No family waits for another one once it has begun, so nobody waits in a circle.
class FamilyTurns {
 public:
  // As much as backends keep of memory that was given back.
  static constexpr size_t most_running = 8;

  // False: it has to wait, until leave() gives it.
  bool enter(DeviceFamily& family) noexcept;
  // One that had begun is over. Who is to begin in its place, if anybody waits: the caller sees to
  // that.
  DeviceFamily* leave() noexcept;

 private:
  struct Line {
    size_t running = 0;
    DeviceFamily* first = nullptr;
    DeviceFamily* last = nullptr;
  };
  Guarded<Line, BriefMutex> line_;
};

}  // namespace weft
