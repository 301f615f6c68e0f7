#include "backends/hip/relay.h"

#include <algorithm>

#include "backends/hip/encoder.h"

namespace weft::hip {
namespace {

// The first and the last piece move alone, and each costs a call of the host.
constexpr size_t least_piece = size_t(512) << 10;
constexpr size_t usual_pieces = 8;

}  // namespace

Relay::Relay(DeviceContext& context, StreamHandle stream, Borrowed& borrowed, Direction direction,
             size_t bytes)
    : context_(context),
      api_(context.api),
      stream_(stream),
      borrowed_(borrowed),
      direction_(direction),
      bytes_(bytes),
      piece_bytes_(bytes <= StagingPool::small_bytes
                       ? StagingPool::small_bytes
                       : std::clamp(bytes / usual_pieces, least_piece, StagingPool::large_bytes)),
      side_(stream) {}

Status Relay::takeEvent(EventHandle& event) {
  Status status = success;
  event = context_.plain_events.take(status);
  if (event) borrowed_.plain_events.push_back(event);
  return status;
}

// An event may be recorded anew as soon as a stream was told to wait for it.
Status Relay::follow(StreamHandle ahead, StreamHandle behind, EventHandle event) {
  const Status status = api_.eventRecord(event, ahead);
  return status == success ? api_.streamWaitEvent(behind, event, 0) : status;
}

Status Relay::begin() {
  if (bytes_ <= piece_bytes_) return success;
  Status status = context_.side_streams.take(side_);
  if (status != success) return status;
  borrowed_.side_streams.push_back(side_);
  status = takeEvent(handed_);
  return status == success ? follow(stream_, side_, handed_) : status;
}

Status Relay::take(std::byte*& chunk) {
  Slot& slot = slots_[pieces_ % (alone() ? 1 : slots_.size())];
  if (!slot.chunk.host) {
    slot.chunk = context_.runtime->staging.take(piece_bytes_);
    borrowed_.chunks.push_back(slot.chunk);
  }
  chunk = slot.chunk.host;
  return !alone() && slot.used ? api_.streamWaitEvent(first(), slot.empty, 0) : success;
}

Status Relay::hand() { return alone() ? success : follow(first(), second(), handed_); }

Status Relay::give() {
  Slot& slot = slots_[pieces_++ % (alone() ? 1 : slots_.size())];
  if (alone()) return success;
  const Status status = slot.empty ? success : takeEvent(slot.empty);
  slot.used = true;
  return status == success ? api_.eventRecord(slot.empty, second()) : status;
}

Status Relay::end() {
  return alone() || direction_ == Direction::to_device ? success : follow(side_, stream_, handed_);
}

}  // namespace weft::hip
