// A thread that ends one small command after the other gives up references to the same few objects
// each time, while another thread takes new ones: each of the two waits for the other to hand over
// the line with the count. So it gives up many at a time.
#pragma once

#include <utility>

#include "core/ref.h"

namespace weft {

// While one is alive on a thread, give() keeps references back there, until flush(), until there
// are many, or until somebody reclaims them. The thread flushes before it does anything that takes
// long.
class ReleaseBatch {
 public:
  ReleaseBatch() noexcept;
  ~ReleaseBatch();
  ReleaseBatch(const ReleaseBatch&) = delete;
  ReleaseBatch& operator=(const ReleaseBatch&) = delete;

  // Gives up the reference; at once where no batch is open.
  template <class T>
  static void give(Ref<T> reference) noexcept {
    if (const Object* const object = reference.detach()) add(*object);
  }
  // Was anything kept back on this thread since it last flushed?
  static bool holdsAny() noexcept;
  // Gives up what was kept back on this thread. What ends thereby ends as within a RuntimeScope.
  static void flush() noexcept;
  // Gives up what any thread has kept back of the object, of which the caller has a reference: so
  // that it ends with that.
  static void reclaim(const Object& object) noexcept;
  // Gives up what any thread has kept back, as flush(): some thread may be at what it did not know
  // to take long. Of very many threads not all of it at once.
  static void flushAll() noexcept;

 private:
  static void add(const Object& object) noexcept;
};

}  // namespace weft
