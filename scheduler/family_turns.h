// How many families of a context run on a device at a time: each has a journal of up to 32 MiB
// there.
#pragma once

#include <cstddef>

#include "core/brief_mutex.h"
#include "core/guarded.h"

namespace weft {

class DeviceFamily;

// Thread-safe. Families may wait for memory that others have, even such that have begun, as long as
// one of those does not: so nobody waits in a circle.
class FamilyTurns {
 public:
  // As much as backends keep of memory that was given back.
  static constexpr size_t most_running = 8;

  // False: it has to wait, until leave() gives it.
  bool enter(DeviceFamily& family) noexcept;
  // One that had its turn is over. Who is to go on for that: those that wait for memory, and who
  // gets its turn. The caller sees to them, one after the other (DeviceFamily::next_in_line_).
  DeviceFamily* leave() noexcept;
  // There was no memory for one that has its turn. False: nobody else has one who could give any
  // back. Else it waits for leave() to give it, and keeps its turn.
  bool waitForMemory(DeviceFamily& family) noexcept;
  // Does nobody but the caller go on?
  bool isOnlyOne() const noexcept {
    const auto line = line_.lock();
    return line->running - line->starving == 1;
  }

 private:
  struct List {
    DeviceFamily* first = nullptr;
    DeviceFamily* last = nullptr;

    void push(DeviceFamily& family) noexcept;
    DeviceFamily* pop() noexcept;
  };
  struct Line {
    size_t running = 0;  // the starving ones among them
    size_t starving = 0;
    List waiting, starved;
  };
  Guarded<Line, BriefMutex> line_;
};

}  // namespace weft
