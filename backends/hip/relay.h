// Large copies of ordinary host memory through several pieces of pinned memory.
#pragma once

#include <array>

#include "backends/hip/context.h"

namespace weft::hip {

// What the large copies of one stream go through, one after the other. All of it is made for the
// first one and stays with the stream.
struct RelayStation {
  struct Slot {
    StagingPool::Chunk chunk;
    EventHandle empty = nullptr;
  };
  StreamHandle side = nullptr;
  EventHandle handed = nullptr;
  std::array<Slot, 3> slots;

  // Nothing of the stream is under way any more. With the device current.
  void close(DeviceContext& context) noexcept;
};

// One copy. The device's part stays in the operation's stream and the host's has a stream of its
// own, so that one piece moves while the next is copied; where the whole is too small for that, or
// no other stream can be had, both are in the operation's. When the relay goes, also after a
// failure, what comes next in the operation's stream is behind all of it. With the device current,
// under the stream's submitting lock.
class Relay {
 public:
  enum class Direction : uint8_t { to_device, to_host };

  Relay(DeviceContext& context, StreamHandle stream, RelayStation& station, Direction direction,
        size_t bytes);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  size_t pieceBytes() const { return piece_bytes_; }
  // Where the host's part goes.
  StreamHandle side() const { return alone_ ? stream_ : station_.side; }

  // The side starts where the stream stands.
  Status begin() noexcept;
  // Pinned memory for the next piece. What is enqueued on the first stream then finds it free.
  // Throws if there is none at all.
  Status take(std::byte*& chunk);
  // From the stream that fills it to the one that empties it.
  Status hand() noexcept;
  // It is empty when that stream has come here.
  Status give() noexcept;
  // The stream goes on when the side has done its part.
  Status end() noexcept;

 private:
  StreamHandle first() const { return direction_ == Direction::to_device ? side() : stream_; }
  StreamHandle second() const { return direction_ == Direction::to_device ? stream_ : side(); }
  RelayStation::Slot& slot() { return station_.slots[pieces_ % slot_count_]; }
  bool open() noexcept;
  Status takeEvent(EventHandle& event) noexcept;
  Status follow(StreamHandle ahead, StreamHandle behind) noexcept;

  DeviceContext& context_;
  const Api& api_;
  const StreamHandle stream_;
  RelayStation& station_;
  const Direction direction_;
  const size_t bytes_, piece_bytes_;
  bool alone_ = true;
  bool joined_ = true;  // the stream is behind the side
  size_t slot_count_ = 1;
  size_t pieces_ = 0;
};

}  // namespace weft::hip
