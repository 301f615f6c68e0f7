// printf on devices that cannot call the host: records in a buffer that is printed after the launch
// (core/printf.h).
#include "types.def"

typedef struct {
  atomic_ulong used;
  ulong capacity;
  ulong records;
} Buffer;

// The launch's services: on such a device the buffer's address.
__private void* __weft_host_services(void) __attribute__((const));

// Room for a record; null where the buffer is full. Records of one work-item lie in their order.
__global ulong* __weft_print_begin(ulong bytes) {
  __global Buffer* buffer = (__global Buffer*)(ulong)__weft_host_services();
  if (!buffer) return 0;
  __global ulong* records = (__global ulong*)buffer->records;
  const ulong at = __opencl_atomic_fetch_add(&buffer->used, bytes, memory_order_relaxed,
                                             memory_scope_device);
  if (at + bytes <= buffer->capacity) return records + at / sizeof(ulong);
  // The first that does not fit ends the records.
  if (at < buffer->capacity) records[at / sizeof(ulong)] = 0;
  return 0;
}

#define LONGEST_STRING 65536
ulong __weft_print_length(const __constant char* string) {
  ulong length = 0;
  if (string)
    while (length < LONGEST_STRING && string[length]) ++length;
  return length;
}

// The first `length` characters, and zeros up to `bytes`.
void __weft_print_string(__global char* to, const __constant char* string, ulong length,
                         ulong bytes) {
  for (ulong i = 0; i < bytes; ++i) to[i] = i < length ? string[i] : 0;
}
