// Pipes: a ring of packets that kernels write and read. Specification 5.4.
#pragma once

#include "core/memory.h"

namespace weft {

inline constexpr uint32_t max_pipe_packet_bytes = 4096;
inline constexpr uint32_t max_pipe_packets = 1u << 30;

class Pipe final : public MemObject {
 public:
  // Arguments are checked by api/: neither is 0. Throws CL_MEM_OBJECT_ALLOCATION_FAILURE.
  Pipe(Ref<Context> context, cl_mem_flags flags, uint32_t packet_bytes, uint32_t packets);

  uint32_t packetBytes() const { return packet_bytes_; }
  uint32_t packets() const { return packets_; }

  // What the memory of such a pipe holds.
  static size_t bytes(uint32_t packet_bytes, uint32_t packets);

 private:
  uint32_t packet_bytes_;
  uint32_t packets_;
};

}  // namespace weft
