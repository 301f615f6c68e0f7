// Pipes: a ring of packets that kernels write and read. Specification 5.4.
#pragma once

#include "core/memory.h"

namespace weft {

inline constexpr uint32_t max_pipe_packet_bytes = 4096;
inline constexpr uint32_t max_pipe_packets = 1u << 30;

// What a pipe's memory begins with, in front of its packets (compiler/builtins/cl/pipe.cl).
struct PipeHeader {
  uint32_t packets = 0;
  uint32_t modulus = 0;
  uint64_t writes = 0, reads = 0;
  uint32_t written = 0, read = 0;
  uint32_t unused[8] = {};

  // Of an empty pipe.
  static PipeHeader of(uint32_t packets) {
    PipeHeader header;
    header.packets = packets;
    // The greatest multiple that fits: more than twice what the ring holds, so that the counters'
    // differences have a sign.
    header.modulus = ~0u - ~0u % packets;
    return header;
  }
};
static_assert(sizeof(PipeHeader) == 64);

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
