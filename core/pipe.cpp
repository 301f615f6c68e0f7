#include "core/pipe.h"

#include <cstring>

namespace weft {
namespace {

// As compiler/builtins/cl/pipe.cl has it.
struct Header {
  uint32_t packets;
  uint32_t modulus;
  uint64_t writes, reads;
  uint32_t written, read;
  uint32_t unused[8];
};
static_assert(sizeof(Header) == 64);

// The greatest multiple that fits: more than twice what the ring holds, so that the counters'
// differences have a sign.
uint32_t counterModulus(uint32_t packets) { return ~0u - ~0u % packets; }

}  // namespace

size_t Pipe::bytes(uint32_t packet_bytes, uint32_t packets) {
  return sizeof(Header) + size_t{packet_bytes} * packets;
}

Pipe::Pipe(Ref<Context> context, cl_mem_flags flags, uint32_t packet_bytes, uint32_t packets)
    : MemObject(std::move(context), CL_MEM_OBJECT_PIPE, flags, bytes(packet_bytes, packets),
                nullptr, {}, FirstContents::on_host),
      packet_bytes_(packet_bytes),
      packets_(packets) {
  Header header{};
  header.packets = packets;
  header.modulus = counterModulus(packets);
  std::memcpy(storage().in(port::host_space).host(), &header, sizeof header);
}

}  // namespace weft
