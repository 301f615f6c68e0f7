#include "core/pipe.h"

#include <cstring>

namespace weft {
size_t Pipe::bytes(uint32_t packet_bytes, uint32_t packets) {
  return sizeof(PipeHeader) + size_t{packet_bytes} * packets;
}

Pipe::Pipe(Ref<Context> context, cl_mem_flags flags, uint32_t packet_bytes, uint32_t packets)
    : MemObject(std::move(context), CL_MEM_OBJECT_PIPE, flags, bytes(packet_bytes, packets),
                nullptr, {}, FirstContents::on_host),
      packet_bytes_(packet_bytes),
      packets_(packets) {
  const PipeHeader header = PipeHeader::of(packets);
  std::memcpy(storage().in(port::host_space).host(), &header, sizeof header);
}

}  // namespace weft
