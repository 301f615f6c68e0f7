#include "backends/hip/print_buffers.h"

#include <cstring>

#include "backends/hip/errors.h"

namespace weft::hip {

PrintBuffers::~PrintBuffers() {
  const Current current(api_, device_);
  for (const PrintBuffer& buffer : *free_.lock()) {
    if (buffer.device) api_.free(buffer.device);
    api_.hostFree(buffer.host);
  }
}

PrintBuffer PrintBuffers::take() {
  {
    auto free = free_.lock();
    if (!free->empty()) {
      const PrintBuffer buffer = free->back();
      free->pop_back();
      return buffer;
    }
  }
  PrintBuffer made;
  if (api_.malloc(&made.device, sizeof(PrintBufferHead)) != success) made.device = nullptr;
  void *host = nullptr, *seen = nullptr;
  Status status = api_.hostMalloc(&host, bytes, host_portable | host_mapped);
  if (status == success) {
    status = api_.hostGetDevicePointer(&seen, host, 0);
    if (status != success) api_.hostFree(host);
  }
  if (status != success && made.device) api_.free(made.device);
  check(api_, status, "allocating a buffer to print into");
  made.host = static_cast<std::byte*>(host);
  made.seen = static_cast<std::byte*>(seen);
  return made;
}

Status PrintBuffers::begin(StreamHandle stream, const PrintBuffer& buffer) const {
  const PrintBufferHead head{0, capacity, reinterpret_cast<uintptr_t>(buffer.records())};
  std::memcpy(buffer.host, &head, sizeof head);
  if (!buffer.device) return success;
  return api_.memcpyAsync(buffer.device, buffer.host, sizeof head, copy_default, stream);
}

Status PrintBuffers::end(StreamHandle stream, const PrintBuffer& buffer) const {
  const Status status = buffer.device
                            ? api_.memcpyAsync(buffer.host, buffer.device, sizeof(PrintBufferHead),
                                               copy_default, stream)
                            : success;
  if (status != success) return status;
  const auto print = [](void* host) { printRecords({static_cast<std::byte*>(host), bytes}); };
  return api_.launchHostFunc(stream, print, buffer.host);
}

}  // namespace weft::hip
