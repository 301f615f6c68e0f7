// Device-side enqueue: what a kernel asks of the device that runs it, and what a queue_t is to it.
// Plain C layout, shared by the runtime, the backends and the builtin library
// (compiler/builtins/cl/device_queue.cl); change all sides together (abi_version).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::port {

// What a queue_t points at: room for commands that have not ended.
class DeviceQueue {
 public:
  explicit DeviceQueue(uint64_t bytes) : bytes_(bytes) {}

  uint64_t bytes() const noexcept { return bytes_; }
  // False when that much is not left.
  bool take(uint64_t bytes) noexcept {
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used > bytes_ || bytes > bytes_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  // For who has promised it to a kernel already: of several at once, more than there is.
  void takeAnyway(uint64_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
  uint64_t left() const noexcept {
    return bytes_ - std::min(bytes_, used_.load(std::memory_order_relaxed));
  }
  void give(uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const uint64_t bytes_;
  std::atomic<uint64_t> used_{0};
};

// OpenCL C's ndrange_t. A local size of 0 is the device's to choose.
struct DeviceRange {
  uint32_t dimensions;
  uint64_t offset[3];
  uint64_t global[3];
  uint64_t local[3];
};
static_assert(sizeof(DeviceRange) == 80);

enum class DeviceCall : uint32_t {
  enqueue_kernel,
  enqueue_marker,
  default_queue,      // gives the queue
  create_user_event,  // gives the event
  retain_event,
  release_event,
  set_event_status,
  is_valid_event,  // gives 0 or 1
  capture_profiling,
  work_group_size,  // these give the answer
  work_group_multiple,
  sub_group_count,
  sub_group_size,
  sub_group_local_size,  // of work-groups of one dimension that have so many sub-groups; 0: none
  max_sub_groups,
};

// One call. What it does not use is 0. Events are numbers; 0 is none.
struct DeviceRequest {
  DeviceCall call;
  int32_t value;  // the flags of an enqueue; an event's status; a number of sub-groups
  uint64_t queue;
  uint64_t event;
  const DeviceRange* range;
  const void* kernel;  // the entry (CpuKernelEntry) of the block's kernel
  const void* block;   // what its first argument points at; copied
  const uint64_t* waits;
  uint64_t* returned_event;
  const uint64_t* local_sizes;  // of its other arguments
  uint64_t* profile;            // two numbers, to be written when the event is complete
  uint32_t wait_count;
  uint32_t local_count;
  uint32_t block_bytes;
  uint32_t block_alignment;
};
static_assert(sizeof(DeviceRequest) == 96 && offsetof(DeviceRequest, range) == 24);

// What the program holds at a time, of one kernel that the host enqueued.
inline constexpr uint32_t max_device_events = 65536;

// OpenCL C's CLK_* numbers.
inline constexpr int32_t device_success = 0, device_out_of_resources = -5,
                         device_invalid_arg_size = -51, device_invalid_wait_list = -57,
                         device_event_allocation_failure = -100, device_enqueue_failure = -101,
                         device_invalid_queue = -102, device_invalid_range = -160,
                         device_queue_full = -161;
inline constexpr int32_t device_no_wait = 0, device_wait_kernel = 1, device_wait_work_group = 2;

}  // namespace weft::port
