// Large copies of ordinary host memory through several pieces of pinned memory.
#pragma once

#include <array>

#include "backends/hip/context.h"

namespace weft::hip {

struct Borrowed;

// Who hands pieces on: the device's copies stay in the operation's stream, the host's part has a
// stream of its own, so that one piece moves while the next is copied. Where the whole is too small
// for that, both are in the operation's stream. With the device current; what it takes is lent to
// the operation.
class Relay {
 public:
  enum class Direction : uint8_t { to_device, to_host };

  Relay(DeviceContext& context, StreamHandle stream, Borrowed& borrowed, Direction direction,
        size_t bytes);

  size_t pieceBytes() const { return piece_bytes_; }
  // Where the host's part goes.
  StreamHandle side() const { return side_; }

  // The side starts where the stream stands.
  Status begin();
  // Pinned memory for the next piece. What is enqueued on the first stream then finds it free.
  Status take(std::byte*& chunk);
  // From the stream that fills it to the one that empties it.
  Status hand();
  // It is empty when that stream has come here.
  Status give();
  // The stream goes on when the side has done its part.
  Status end();

 private:
  struct Slot {
    StagingPool::Chunk chunk;
    EventHandle empty = nullptr;
    bool used = false;
  };
  bool alone() const { return side_ == stream_; }
  StreamHandle first() const { return direction_ == Direction::to_device ? side_ : stream_; }
  StreamHandle second() const { return direction_ == Direction::to_device ? stream_ : side_; }
  Status takeEvent(EventHandle& event);
  Status follow(StreamHandle ahead, StreamHandle behind, EventHandle event);

  DeviceContext& context_;
  const Api& api_;
  const StreamHandle stream_;
  Borrowed& borrowed_;
  const Direction direction_;
  const size_t bytes_;
  const size_t piece_bytes_;
  StreamHandle side_;
  EventHandle handed_ = nullptr;
  std::array<Slot, 3> slots_;
  size_t pieces_ = 0;
};

}  // namespace weft::hip
