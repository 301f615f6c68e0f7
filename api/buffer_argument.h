// A buffer as the argument of a command.
#pragma once

#include "api/checks.h"

namespace weft::api {

// "CL_MISALIGNED_SUB_BUFFER_OFFSET if buffer is a sub-buffer object and the offset specified when
// the sub-buffer object was created is not aligned to the CL_DEVICE_MEM_BASE_ADDR_ALIGN value for
// the device associated with command_queue."
inline void requireAligned(const MemObject& object, const Device& device) {
  require(object.origin() % device.capabilities().base_address_alignment_bytes == 0,
          CL_MISALIGNED_SUB_BUFFER_OFFSET);
}

// A buffer of the queue's context that its device can address. The queue was checked before.
inline Buffer& bufferFor(const Queue& queue, cl_mem handle) {
  Buffer& buffer = toBuffer(handle);
  requireSameContext(queue, buffer);
  requireAligned(buffer, queue.device());
  return buffer;
}

// "CL_INVALID_OPERATION if clEnqueueReadBuffer is called on buffer which has been created with
// CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS", and its counterpart for writing.
inline void requireHostMayRead(const MemObject& object) {
  require(!(object.flags() & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)),
          CL_INVALID_OPERATION, "the host may not read this object");
}
inline void requireHostMayWrite(const MemObject& object) {
  require(!(object.flags() & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)), CL_INVALID_OPERATION,
          "the host may not write this object");
}

}  // namespace weft::api
