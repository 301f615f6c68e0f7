#include "backends/hip/encoder.h"

#include <algorithm>
#include <cstring>

#include "backends/hip/memory.h"
#include "backends/hip/module.h"
#include "core/error.h"

namespace weft::hip {
namespace {

// One end of a copy: an address that the device's copy engines take, or host memory they do not.
struct End {
  std::byte* address;
  size_t row_pitch;
  size_t slice_pitch;
  bool pageable;

  std::byte* at(size_t row, size_t slice) const {
    return address + row * row_pitch + slice * slice_pitch;
  }
};

size_t span(const port::Location& location, const std::array<size_t, 3>& region) {
  return (region[2] - 1) * location.slice_pitch + (region[1] - 1) * location.row_pitch + region[0];
}

// A copy without needless dimensions.
struct Shape {
  std::array<size_t, 3> region;
  End source;
  End destination;

  void flatten() {
    if (region[2] > 1 && source.slice_pitch == region[1] * source.row_pitch &&
        destination.slice_pitch == region[1] * destination.row_pitch) {
      region[1] *= region[2];
      region[2] = 1;
    }
    if (region[2] == 1 && region[1] > 1 && source.row_pitch == region[0] &&
        destination.row_pitch == region[0]) {
      region[0] *= region[1];
      region[1] = 1;
    }
  }
};

struct Piece {
  std::byte* source;
  std::byte* destination;
  size_t width;
  size_t rows;
};

class Encoder {
 public:
  Encoder(DeviceContext& context, const Place& place, Borrowed& borrowed)
      : context_(context),
        api_(context.api),
        place_(place),
        stream_(place.stream),
        borrowed_(borrowed) {}

  Status operator()(std::monostate) { return success; }
  Status operator()(const port::Launch& launch);
  Status operator()(const port::Prefetch& prefetch);
  Status operator()(const port::HostCall& call) {
    return onHost(stream_, std::make_shared<HostPart>(call));
  }
  Status operator()(const port::Copy& copy);
  Status operator()(const port::Fill& fill);

 private:
  End end(const port::Location& location, std::array<size_t, 3> region) const;
  bool betweenDevices(const port::Copy& copy) const;
  Status direct(const Shape& shape);
  Status staged(const Shape& shape);
  Status relayed(const Shape& shape, size_t bytes);
  Status piece(const Shape& shape, const Piece& piece, Relay& relay);
  Status small(const Shape& shape, const StagingPool::Chunk& chunk);
  bool touchesPinned(const End& end, const std::array<size_t, 3>& region) const;
  Status transfer(std::byte* to, size_t to_pitch, std::byte* from, size_t from_pitch, size_t width,
                  size_t rows);
  Status move(std::span<const port::MemoryPart> parts, int to);
  Status onHost(StreamHandle stream, const std::shared_ptr<HostPart>& part);
  Status onHost(StreamHandle stream, const HostMove& move) {
    return onHost(stream, std::make_shared<HostPart>(context_.runtime->crew, move));
  }
  Status fillRow(const port::Fill& fill);
  Status fillByDoubling(std::byte* at, const port::Fill& fill);

  DeviceContext& context_;
  const Api& api_;
  const Place& place_;
  const StreamHandle stream_;
  Borrowed& borrowed_;
};

Status Encoder::operator()(const port::Launch& launch) {
  const auto& module = *static_cast<const Module*>(launch.module);
  Status status = move(launch.prefetch, context_.device);
  if (status != success) return status;
  if (!module.prints(launch.kernel)) return module.launch(stream_, launch, nullptr);
  const PrintBuffer buffer = context_.print_buffers.take();
  borrowed_.print_buffers.push_back(buffer);
  status = context_.print_buffers.begin(stream_, buffer);
  if (status == success) status = module.launch(stream_, launch, buffer.head());
  return status == success ? context_.print_buffers.end(stream_, buffer) : status;
}

End Encoder::end(const port::Location& location, std::array<size_t, 3> region) const {
  std::byte* host = location.memory ? location.memory->host() : location.host;
  if (host) {
    host += location.offset;
    const bool pinned = context_.runtime->registry.covers(host, span(location, region));
    return {host, location.row_pitch, location.slice_pitch, !pinned};
  }
  const uint64_t address = location.memory->deviceAddress() + location.offset;
  return {reinterpret_cast<std::byte*>(address), location.row_pitch, location.slice_pitch, false};
}

// Between this one and a peer, in whose memory its kernels may look.
bool Encoder::betweenDevices(const port::Copy& copy) const {
  const auto is_devices = [](const port::Location& end) {
    return end.memory && !end.memory->host();
  };
  if (!is_devices(copy.source) || !is_devices(copy.destination)) return false;
  const int from = deviceOf(*copy.source.memory), to = deviceOf(*copy.destination.memory);
  const PeerCopies& copies = context_.peer_copies;
  return (from == context_.device && copies.enabled(to)) ||
         (to == context_.device && copies.enabled(from));
}

Status Encoder::operator()(const port::Copy& copy) {
  const auto& region = copy.region;
  if (region[0] == 0 || region[1] == 0 || region[2] == 0) return success;
  Shape shape{region, end(copy.source, region), end(copy.destination, region)};
  shape.flatten();
  const bool pageable = shape.source.pageable || shape.destination.pageable;
  if (pageable) return staged(shape);
  Status status = success;
  if (shape.region[1] == 1 && shape.region[2] == 1 && betweenDevices(copy) &&
      context_.peer_copies.copy(stream_, shape.destination.address, shape.source.address,
                                shape.region[0], status))
    return status;
  return direct(shape);
}

Status Encoder::direct(const Shape& shape) {
  const auto& [region, from, to] = shape;
  if (region[1] == 1 && region[2] == 1)
    return api_.memcpyAsync(to.address, from.address, region[0], copy_default, stream_);
  const auto whole = [](const End& end) { return end.slice_pitch % end.row_pitch == 0; };
  if (region[2] > 1 && region[1] > 1 && whole(from) && whole(to)) {
    Copy3D copy{};
    copy.source = {from.address, from.row_pitch, region[0], from.slice_pitch / from.row_pitch};
    copy.destination = {to.address, to.row_pitch, region[0], to.slice_pitch / to.row_pitch};
    std::copy(region.begin(), region.end(), copy.extent);
    copy.kind = copy_default;
    return api_.memcpy3DAsync(&copy, stream_);
  }
  for (size_t z = 0; z < region[2]; ++z) {
    const Status status = api_.memcpy2DAsync(
        to.at(0, z), region[1] > 1 ? to.row_pitch : region[0], from.at(0, z),
        region[1] > 1 ? from.row_pitch : region[0], region[0], region[1], copy_default, stream_);
    if (status != success) return status;
  }
  return success;
}

// The runtime copies ordinary host memory too, but while the caller waits, and it reads the
// source when it is called: neither is what a stream promises. So the bytes go through pinned
// memory, in pieces, with the host's part done in stream order.
Status Encoder::staged(const Shape& shape) {
  const auto& [region, from, to] = shape;
  if (from.pageable && to.pageable) {
    for (size_t z = 0; z < region[2]; ++z) {
      const HostMove move{to.at(0, z),    to.row_pitch, from.at(0, z),
                          from.row_pitch, region[0],    region[1]};
      if (const Status status = onHost(stream_, move); status != success) return status;
    }
    return success;
  }
  const size_t bytes = region[0] * region[1] * region[2];
  if (bytes > StagingPool::small_bytes || region[2] != 1 ||
      touchesPinned(from.pageable ? from : to, region))
    return relayed(shape, bytes);
  const auto chunk = context_.runtime->staging.take(bytes);
  borrowed_.chunks.push_back(chunk);
  return small(shape, chunk);
}

// In pieces of whole rows, or of one row's bytes.
Status Encoder::relayed(const Shape& shape, size_t bytes) {
  const auto& [region, from, to] = shape;
  Relay relay(context_, stream_, place_.station,
              from.pageable ? Relay::Direction::to_device : Relay::Direction::to_host, bytes);
  Status status = relay.begin();
  const size_t width = std::min(region[0], relay.pieceBytes());
  const size_t rows = std::max<size_t>(1, relay.pieceBytes() / region[0]);
  for (size_t z = 0; z < region[2]; ++z)
    for (size_t y = 0; y < region[1]; y += rows)
      for (size_t x = 0; x < region[0] && status == success; x += width)
        status = piece(shape,
                       {from.at(y, z) + x, to.at(y, z) + x, std::min(width, region[0] - x),
                        std::min(rows, region[1] - y)},
                       relay);
  return status == success ? relay.end() : status;
}

// Where only a part of it is pinned, the device may use that part at any time.
bool Encoder::touchesPinned(const End& end, const std::array<size_t, 3>& region) const {
  return context_.runtime->registry.touches(
      end.address, (region[1] - 1) * (region[1] > 1 ? end.row_pitch : 0) + region[0]);
}

// Without calls of the host in stream order, each of which costs more than the rest: the source is
// read now, if nothing before can still write it, and the destination written by whoever notices
// the end.
Status Encoder::small(const Shape& shape, const StagingPool::Chunk& chunk) {
  const auto& [region, from, to] = shape;
  const size_t width = region[0], rows = region[1];
  const size_t from_pitch = rows > 1 ? from.row_pitch : width;
  const size_t to_pitch = rows > 1 ? to.row_pitch : width;
  if (from.pageable) {
    const HostMove move{chunk.host, width, from.address, from_pitch, width, rows};
    if (!place_.held && place_.order.idle())
      move.run();
    else if (const Status status = onHost(stream_, move); status != success)
      return status;
    return transfer(to.address, to_pitch, chunk.host, width, width, rows);
  }
  const Status status = transfer(chunk.host, width, from.address, from_pitch, width, rows);
  if (status != success) return status;
  const HostMove move{to.address, to_pitch, chunk.host, width, width, rows};
  borrowed_.last_part = std::make_shared<HostPart>(context_.runtime->crew, move);
  place_.order.leave(borrowed_.last_part);
  return success;
}

Status Encoder::transfer(std::byte* to, size_t to_pitch, std::byte* from, size_t from_pitch,
                         size_t width, size_t rows) {
  if (rows == 1) return api_.memcpyAsync(to, from, width, copy_default, stream_);
  return api_.memcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, copy_default, stream_);
}

Status Encoder::piece(const Shape& shape, const Piece& piece, Relay& relay) {
  const auto& [source, destination, width, rows] = piece;
  const size_t source_pitch = rows > 1 ? shape.source.row_pitch : width;
  const size_t destination_pitch = rows > 1 ? shape.destination.row_pitch : width;
  std::byte* chunk = nullptr;
  Status status = relay.take(chunk);
  if (status != success) return status;
  if (shape.source.pageable)
    status = onHost(relay.side(), {.destination = chunk,
                                   .destination_pitch = width,
                                   .source = source,
                                   .source_pitch = source_pitch,
                                   .width = width,
                                   .rows = rows,
                                   .for_device = true});
  else
    status = transfer(chunk, width, source, source_pitch, width, rows);
  if (status == success) status = relay.hand();
  if (status != success) return status;
  if (shape.source.pageable)
    status = transfer(destination, destination_pitch, chunk, width, width, rows);
  else
    status = onHost(relay.side(), {destination, destination_pitch, chunk, width, width, rows});
  return status == success ? relay.give() : status;
}

Status Encoder::onHost(StreamHandle stream, const std::shared_ptr<HostPart>& part) {
  borrowed_.parts.push_back(part);
  place_.order.add(part);
  const auto run = [](void* given) { static_cast<HostPart*>(given)->run(); };
  return api_.launchHostFunc(stream, run, part.get());
}

// A wish: what cannot be had is no failure.
Status Encoder::operator()(const port::Prefetch& prefetch) {
  return move(prefetch.parts, prefetch.to_host ? host_ordinal : context_.device);
}

Status Encoder::move(std::span<const port::MemoryPart> parts, int to) {
  for (const port::MemoryPart& part : parts) {
    std::byte* const at = part.memory->host();
    if (!at || !context_.runtime->registry.adopted(at + part.offset, part.size)) continue;
    const Status status = api_.memPrefetchAsync(at + part.offset, part.size, to, stream_);
    if (losesDevice(status)) return status;
  }
  return success;
}

template <class T>
T patternAs(const port::Fill& fill) {
  T value;
  std::memcpy(&value, fill.pattern, sizeof value);
  return value;
}

Status Encoder::operator()(const port::Fill& fill) {
  Status status = success;
  for (size_t slice = 0; slice < fill.slices; ++slice)
    for (size_t row = 0; row < fill.rows && status == success; ++row) {
      port::Fill one = fill;
      one.offset += slice * fill.slice_pitch + row * fill.row_pitch;
      status = fillRow(one);
    }
  return status;
}

Status Encoder::fillRow(const port::Fill& fill) {
  if (fill.size == 0) return success;
  auto* const at = reinterpret_cast<std::byte*>(fill.memory->deviceAddress() + fill.offset);
  const size_t count = fill.size / fill.pattern_size;
  switch (fill.pattern_size) {
    case 1:
      return api_.memsetD8Async(at, patternAs<unsigned char>(fill), count, stream_);
    case 2:
      return api_.memsetD16Async(at, patternAs<unsigned short>(fill), count, stream_);
    case 4:
      return api_.memsetD32Async(at, patternAs<int>(fill), count, stream_);
    default:
      return fillByDoubling(at, fill);
  }
}

Status Encoder::fillByDoubling(std::byte* at, const port::Fill& fill) {
  const auto chunk = context_.runtime->staging.take(1);
  borrowed_.chunks.push_back(chunk);
  size_t done = std::min(fill.size, chunk.bytes / fill.pattern_size * fill.pattern_size);
  for (size_t i = 0; i < done; i += fill.pattern_size)
    std::memcpy(chunk.host + i, fill.pattern, fill.pattern_size);
  Status status = api_.memcpyAsync(at, chunk.host, done, copy_default, stream_);
  while (status == success && done < fill.size) {
    const size_t more = std::min(done, fill.size - done);
    status = api_.memcpyAsync(at + done, at, more, copy_default, stream_);
    done += more;
  }
  return status;
}

}  // namespace

Status encode(DeviceContext& context, const Place& place, const port::Operation::Work& work,
              Borrowed& borrowed) noexcept {
  try {
    return std::visit(Encoder(context, place, borrowed), work);
  } catch (const std::exception&) {  // no memory, pinned or ordinary
    return out_of_memory;
  }
}

void giveBack(DeviceContext& context, Borrowed& borrowed) noexcept {
  // They use the chunks.
  for (const auto& part : borrowed.parts) part->drop();
  borrowed.parts.clear();
  if (borrowed.last_part) borrowed.last_part->drop();
  borrowed.last_part = nullptr;
  for (const auto& chunk : borrowed.chunks) context.runtime->staging.give(chunk);
  borrowed.chunks.clear();
  for (const PrintBuffer& buffer : borrowed.print_buffers) context.print_buffers.give(buffer);
  borrowed.print_buffers.clear();
}

}  // namespace weft::hip
