#include "backends/level_zero/print_buffers.h"

namespace weft::level_zero {
namespace {

constexpr size_t alignment = 4096;

}  // namespace

PrintBuffer::~PrintBuffer() {
  for (void* const address : {device_, host_})
    if (address) context_->api.memFree(context_->driver->context, address);
}

void* PrintBuffer::device() {
  if (device_) return device_;
  const ze_device_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                               0};
  const ze_result_t result = context_->api.memAllocDevice(
      context_->driver->context, &description, bytes, alignment, context_->device, &device_);
  if (result == ZE_RESULT_SUCCESS) return device_;
  device_ = nullptr;
  if (!context_->adds_on_host) check(result, "allocating a buffer to print into");
  return host();
}

std::byte* PrintBuffer::host() {
  if (!host_) {
    const ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    check(context_->api.memAllocHost(context_->driver->context, &description, bytes, alignment,
                                     &host_),
          "allocating a buffer to print from");
  }
  return static_cast<std::byte*>(host_);
}

}  // namespace weft::level_zero
