// A device's stream that is made when somebody first needs it.
#pragma once

#include <atomic>
#include <memory>

#include "core/guarded.h"
#include "core/ports/device.h"

namespace weft {

// Thread-safe.
class LazyStream {
 public:
  // `make` gives a std::unique_ptr<port::Stream> and may throw.
  template <class Make>
  port::Stream& get(Make&& make) {
    if (port::Stream* const there = made()) return *there;
    const auto stream = stream_.lock();
    if (!*stream) {
      *stream = make();
      made_.store(stream->get(), std::memory_order_release);
    }
    return **stream;
  }
  // Null when nobody has needed it yet.
  port::Stream* made() const noexcept { return made_.load(std::memory_order_acquire); }

 private:
  std::atomic<port::Stream*> made_{nullptr};
  Guarded<std::unique_ptr<port::Stream>> stream_;
};

}  // namespace weft
