#include "backends/hip/relay.h"

#include <algorithm>
#include <exception>

namespace weft::hip {
namespace {

// The first and the last piece move alone, and each costs a call of the host.
constexpr size_t least_piece = size_t(512) << 10;
constexpr size_t usual_pieces = 8;

}  // namespace

void RelayStation::close(DeviceContext& context) noexcept {
  if (side) context.api.streamDestroy(side);
  context.fence_events.give(handed);
  for (const Slot& slot : slots) {
    if (slot.chunk.host) context.runtime->staging.give(slot.chunk);
    context.fence_events.give(slot.empty);
  }
}

Relay::Relay(DeviceContext& context, StreamHandle stream, RelayStation& station,
             Direction direction, size_t bytes)
    : context_(context),
      api_(context.api),
      stream_(stream),
      station_(station),
      direction_(direction),
      bytes_(bytes),
      piece_bytes_(std::clamp(bytes / usual_pieces, least_piece, StagingPool::large_bytes)) {}

Relay::~Relay() {
  if (!joined_) follow(station_.side, stream_);
}

Status Relay::takeEvent(EventHandle& event) noexcept {
  Status status = success;
  if (!event) event = context_.fence_events.take(status);
  return status;
}

// An event may be recorded anew as soon as a stream was told to wait for it.
Status Relay::follow(StreamHandle ahead, StreamHandle behind) noexcept {
  const Status status = api_.eventRecord(station_.handed, ahead);
  return status == success ? api_.streamWaitEvent(behind, station_.handed, 0) : status;
}

bool Relay::open() noexcept {
  if (!station_.side && api_.streamCreateWithFlags(&station_.side, stream_non_blocking) != success)
    station_.side = nullptr;
  return station_.side && takeEvent(station_.handed) == success;
}

Status Relay::begin() noexcept {
  if (bytes_ <= piece_bytes_ || !open()) return success;
  alone_ = false;
  slot_count_ = station_.slots.size();
  const Status status = follow(stream_, station_.side);
  joined_ = status != success;
  return status;
}

Status Relay::take(std::byte*& chunk) {
  if (!slot().chunk.host) {
    try {
      slot().chunk = context_.runtime->staging.take(StagingPool::large_bytes);
    } catch (const std::exception&) {
      if (pieces_ == 0) throw;
      slot_count_ = pieces_;  // those that there are will do
    }
  }
  chunk = slot().chunk.host;
  return pieces_ >= slot_count_ && !alone_ ? api_.streamWaitEvent(first(), slot().empty, 0)
                                           : success;
}

Status Relay::hand() noexcept { return alone_ ? success : follow(first(), second()); }

Status Relay::give() noexcept {
  RelayStation::Slot& given = slot();
  ++pieces_;
  if (alone_) return success;
  const Status status = takeEvent(given.empty);
  return status == success ? api_.eventRecord(given.empty, second()) : status;
}

Status Relay::end() noexcept {
  if (joined_) return success;
  joined_ = true;
  // On the way to the device each piece has brought the stream behind the side.
  return direction_ == Direction::to_device ? success : follow(station_.side, stream_);
}

}  // namespace weft::hip
