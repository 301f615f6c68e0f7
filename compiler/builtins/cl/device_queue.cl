// OpenCL C 6.15.18: enqueuing kernels. Each function fills a request (core/ports/device_queue.h) and
// hands it to the host. The names with underscores are those that Clang calls for enqueue_kernel()
// and the queries about blocks.
#include "types.def"

#include "device_queue.def"

long __weft_device_queue(__private Request* request);
// Whether the program was compiled with -g.
PURE int weft_names_errors(void);

// These give back what they are given.
PURE ulong weft_queue_number(queue_t queue);
PURE queue_t weft_number_queue(ulong number);
PURE ulong weft_event_number(clk_event_t event);
PURE clk_event_t weft_number_event(ulong number);

// "... returns CLK_ENQUEUE_FAILURE otherwise. If the -g compile option is specified [...] the
// following errors may be returned instead".
INLINE int outcome(long code) {
  return code == CLK_SUCCESS || weft_names_errors() ? (int)code : CLK_ENQUEUE_FAILURE;
}

// SPIR-V's: the first argument is any memory.
int __weft_enqueue_kernel(queue_t queue, int flags, const __private ndrange_t* range,
                          uint wait_count, const __generic void* waits,
                          __generic void* returned_event, const __generic void* kernel_entry,
                          const __generic void* block, uint block_bytes, uint block_alignment,
                          uint local_count, const __private ulong* local_sizes) {
  Request request = {.call = call_enqueue_kernel,
                     .value = flags,
                     .queue = weft_queue_number(queue),
                     .range = range,
                     .kernel_entry = kernel_entry,
                     .block = block,
                     .waits = waits,
                     .returned_event = returned_event,
                     .local_sizes = local_sizes,
                     .wait_count = wait_count,
                     .local_count = local_count,
                     .block_bytes = block_bytes,
                     .block_alignment = block_alignment};
  return outcome(__weft_device_queue(&request));
}

// A block literal begins with how many bytes it has, and how they are aligned.
int __enqueue_kernel_events_varargs(queue_t queue, int flags, const __private ndrange_t* range,
                                    uint wait_count, const __generic void* waits,
                                    __generic void* returned_event,
                                    const __generic void* kernel_entry,
                                    const __generic void* block, uint local_count,
                                    const __private ulong* local_sizes) {
  const __generic uint* header = block;
  return __weft_enqueue_kernel(queue, flags, range, wait_count, waits, returned_event,
                               kernel_entry, block, header[0], header[1], local_count,
                               local_sizes);
}

int __enqueue_kernel_basic(queue_t queue, int flags, const __private ndrange_t* range,
                           const __generic void* kernel_entry, const __generic void* block) {
  return __enqueue_kernel_events_varargs(queue, flags, range, 0, 0, 0, kernel_entry, block, 0, 0);
}

int __enqueue_kernel_basic_events(queue_t queue, int flags, const __private ndrange_t* range,
                                  uint wait_count, const __generic void* waits,
                                  __generic void* returned_event,
                                  const __generic void* kernel_entry,
                                  const __generic void* block) {
  return __enqueue_kernel_events_varargs(queue, flags, range, wait_count, waits, returned_event,
                                         kernel_entry, block, 0, 0);
}

int __enqueue_kernel_varargs(queue_t queue, int flags, const __private ndrange_t* range,
                             const __generic void* kernel_entry, const __generic void* block,
                             uint local_count, const __private ulong* local_sizes) {
  return __enqueue_kernel_events_varargs(queue, flags, range, 0, 0, 0, kernel_entry, block,
                                         local_count, local_sizes);
}

OVERLOAD int enqueue_marker(queue_t queue, uint wait_count, const __generic clk_event_t* waits,
                            __generic clk_event_t* returned_event) {
  Request request = {.call = call_enqueue_marker,
                     .queue = weft_queue_number(queue),
                     .waits = (const __generic void*)waits,
                     .returned_event = (__generic void*)returned_event,
                     .wait_count = wait_count};
  return outcome(__weft_device_queue(&request));
}

OVERLOAD queue_t get_default_queue(void) {
  Request request = {.call = call_default_queue};
  return weft_number_queue((ulong)__weft_device_queue(&request));
}

OVERLOAD clk_event_t create_user_event(void) {
  Request request = {.call = call_create_user_event};
  return weft_number_event((ulong)__weft_device_queue(&request));
}

OVERLOAD void retain_event(clk_event_t event) {
  Request request = {.call = call_retain_event, .event = weft_event_number(event)};
  __weft_device_queue(&request);
}

OVERLOAD void release_event(clk_event_t event) {
  Request request = {.call = call_release_event, .event = weft_event_number(event)};
  __weft_device_queue(&request);
}

OVERLOAD void set_user_event_status(clk_event_t event, int status) {
  Request request = {.call = call_set_event_status,
                     .value = status,
                     .event = weft_event_number(event)};
  __weft_device_queue(&request);
}

OVERLOAD bool is_valid_event(clk_event_t event) {
  Request request = {.call = call_is_valid_event, .event = weft_event_number(event)};
  return __weft_device_queue(&request) != 0;
}

OVERLOAD void capture_event_profiling_info(clk_event_t event, clk_profiling_info name,
                                           __global void* value) {
  if (name != CLK_PROFILING_COMMAND_EXEC_TIME) return;
  Request request = {
      .call = call_capture_profiling, .event = weft_event_number(event), .profile = value};
  __weft_device_queue(&request);
}

uint __get_kernel_work_group_size_impl(const __generic void* kernel_entry,
                                       const __generic void* block) {
  Request request = {
      .call = call_work_group_size, .kernel_entry = kernel_entry, .block = block};
  return (uint)__weft_device_queue(&request);
}

uint __get_kernel_preferred_work_group_size_multiple_impl(const __generic void* kernel_entry,
                                                          const __generic void* block) {
  Request request = {
      .call = call_work_group_multiple, .kernel_entry = kernel_entry, .block = block};
  return (uint)__weft_device_queue(&request);
}

uint __get_kernel_sub_group_count_for_ndrange_impl(const __private ndrange_t* range,
                                                   const __generic void* kernel_entry,
                                                   const __generic void* block) {
  Request request = {.call = call_sub_group_count,
                     .range = range,
                     .kernel_entry = kernel_entry,
                     .block = block};
  return (uint)__weft_device_queue(&request);
}

uint __get_kernel_max_sub_group_size_for_ndrange_impl(const __private ndrange_t* range,
                                                      const __generic void* kernel_entry,
                                                      const __generic void* block) {
  Request request = {.call = call_sub_group_size,
                     .range = range,
                     .kernel_entry = kernel_entry,
                     .block = block};
  return (uint)__weft_device_queue(&request);
}

// Those that OpenCL C has no functions for.
uint __weft_kernel_sub_group_local_size(uint count, const __generic void* kernel_entry) {
  Request request = {
      .call = call_sub_group_local_size, .value = (int)count, .kernel_entry = kernel_entry};
  return (uint)__weft_device_queue(&request);
}

uint __weft_kernel_max_sub_groups(const __generic void* kernel_entry) {
  Request request = {.call = call_max_sub_groups, .kernel_entry = kernel_entry};
  return (uint)__weft_device_queue(&request);
}

OVERLOAD ndrange_t ndrange_1D(size_t offset, size_t global_size, size_t local_size) {
  return (ndrange_t){1, {offset, 0, 0}, {global_size, 1, 1}, {local_size, 1, 1}};
}
OVERLOAD ndrange_t ndrange_1D(size_t global_size, size_t local_size) {
  return (ndrange_t){1, {0, 0, 0}, {global_size, 1, 1}, {local_size, 1, 1}};
}
OVERLOAD ndrange_t ndrange_1D(size_t global_size) {
  return (ndrange_t){1, {0, 0, 0}, {global_size, 1, 1}, {0, 0, 0}};
}

#define DEFINE_RANGES(n, LIST)                                                               \
  OVERLOAD ndrange_t ndrange_##n##D(const __private size_t* offset,                              \
                                    const __private size_t* global_size,                         \
                                    const __private size_t* local_size) {                        \
    return (ndrange_t){n, {LIST(offset, 0)}, {LIST(global_size, 1)}, {LIST(local_size, 1)}};         \
  }                                                                                              \
  OVERLOAD ndrange_t ndrange_##n##D(const __private size_t* global_size,                         \
                                    const __private size_t* local_size) {                        \
    return (ndrange_t){n, {0, 0, 0}, {LIST(global_size, 1)}, {LIST(local_size, 1)}};                \
  }                                                                                              \
  OVERLOAD ndrange_t ndrange_##n##D(const __private size_t* global_size) {                       \
    return (ndrange_t){n, {0, 0, 0}, {LIST(global_size, 1)}, {0, 0, 0}};                           \
  }
#define TWO(from, unused) from[0], from[1], unused
#define THREE(from, unused) from[0], from[1], from[2]
DEFINE_RANGES(2, TWO)
DEFINE_RANGES(3, THREE)
