// One operation's work as calls of the runtime on a stream.
#pragma once

#include <memory>
#include <vector>

#include "backends/hip/context.h"
#include "backends/hip/host_order.h"
#include "backends/hip/relay.h"
#include "core/ports/device.h"

namespace weft::hip {

// What an operation borrows until it has finished.
struct Borrowed {
  std::vector<StagingPool::Chunk> chunks;
  std::vector<std::shared_ptr<HostPart>> parts;
  std::shared_ptr<HostPart> last_part;  // to be run when the operation has ended
  std::vector<PrintBuffer> print_buffers;
};

// Where an operation goes. `held`: it may start long after it was submitted, when something else
// than what the stream did before lets it.
struct Place {
  StreamHandle stream;
  RelayStation& station;
  HostOrder& order;
  bool held;
};

// With the device current. A failure leaves what was enqueued before it in place.
Status encode(DeviceContext& context, const Place& place, const port::Operation::Work& work,
              Borrowed& borrowed) noexcept;

void giveBack(DeviceContext& context, Borrowed& borrowed) noexcept;

}  // namespace weft::hip
