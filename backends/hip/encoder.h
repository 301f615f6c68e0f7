// One operation's work as calls of the runtime on a stream.
#pragma once

#include <memory>
#include <vector>

#include "backends/hip/context.h"
#include "core/ports/device.h"

namespace weft::hip {

// A part of a copy that the host does, in stream order.
struct HostMove {
  std::byte* destination;
  size_t destination_pitch;
  const std::byte* source;
  size_t source_pitch;
  size_t width;
  size_t rows;
};

// What an operation borrows until it has finished.
struct Borrowed {
  std::vector<StagingPool::Chunk> chunks;
  std::vector<std::unique_ptr<HostMove>> moves;
  std::vector<PrintBuffer> print_buffers;
};

// With the device current. A failure leaves what was enqueued before it in place.
Status encode(DeviceContext& context, StreamHandle stream, const port::Operation::Work& work,
              Borrowed& borrowed) noexcept;

void giveBack(DeviceContext& context, Borrowed& borrowed) noexcept;

}  // namespace weft::hip
