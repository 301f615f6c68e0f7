// How an unordered stream deals its operations out to in-order ones.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/ports/device.h"

namespace weft {

// Right behind what it has to follow anyway: a chain of operations needs no other order than that
// of one stream. Else the one with least to do; among equals, the next in turn. `streams`: pointers
// to streams that have pending() and core()->endsWith(place).
template <class Streams>
auto& chooseStream(const Streams& streams, const port::Operation& operation,
                   std::atomic<size_t>& turn) noexcept {
  for (const port::Operation* before : operation.behind)
    for (const auto& stream : streams)
      if (stream->core()->endsWith(before->place)) return *stream;
  const size_t first = turn.fetch_add(1, std::memory_order_relaxed);
  auto* best = streams[first % streams.size()].get();
  for (size_t i = 1; i < streams.size(); ++i) {
    auto* const stream = streams[(first + i) % streams.size()].get();
    if (stream->pending() < best->pending()) best = stream;
  }
  return *best;
}

}  // namespace weft
