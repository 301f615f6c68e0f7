// From clEnqueue* to the command graph: one function per kind of command. Specification 5.2
// to 5.13.
//
// Handles and ranges were checked by api/; what is checked here is named. Every function returns
// the command's event, already in the graph; nothing waits. Pointers into the application's memory
// must stay valid until the event is done, as the specification asks of the application.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>

#include "core/geometry.h"
#include "core/kernel.h"
#include "core/memory.h"
#include "core/pixel_image.h"
#include "scheduler/event.h"
#include "scheduler/queue.h"

namespace weft {

// One side of a rectangular transfer: where it starts and how it is laid out, in bytes. Pitches are
// the resolved ones, never 0.
struct RectLayout {
  std::array<size_t, 3> origin{0, 0, 0};
  size_t row_pitch = 0;
  size_t slice_pitch = 0;

  size_t offset() const { return origin[0] + origin[1] * row_pitch + origin[2] * slice_pitch; }
};

using Region = std::array<size_t, 3>;  // bytes, rows, slices

// Bytes from the first to behind the last byte of a rectangle, and whether it has all of them.
inline size_t spanOf(const RectLayout& layout, const Region& region) {
  return (region[2] - 1) * layout.slice_pitch + (region[1] - 1) * layout.row_pitch + region[0];
}
inline bool isContiguous(const RectLayout& layout, const Region& region) {
  return (region[1] == 1 || layout.row_pitch == region[0]) &&
         (region[2] == 1 || layout.slice_pitch == region[0] * region[1]);
}

// The rectangle's bytes where its first one is at `begin`; as one row if it has all of its span.
inline ByteRows toRows(size_t begin, const RectLayout& layout, const Region& region) {
  if (isContiguous(layout, region)) return {begin, spanOf(layout, region)};
  return {begin, region[0], region[1], region[2], layout.row_pitch, layout.slice_pitch};
}

Ref<Event> enqueueRead(Queue& queue, Buffer& buffer, size_t offset, size_t size, void* destination,
                       WaitList waits);
Ref<Event> enqueueWrite(Queue& queue, Buffer& buffer, size_t offset, size_t size,
                        const void* source, WaitList waits);
// Rectangles of buffers and images: `type` says which the application asked for.
Ref<Event> enqueueReadRect(Queue& queue, MemObject& object, const RectLayout& object_layout,
                           const RectLayout& host_layout, const Region& region, void* destination,
                           WaitList waits, cl_command_type type = CL_COMMAND_READ_BUFFER_RECT);
Ref<Event> enqueueWriteRect(Queue& queue, MemObject& object, const RectLayout& object_layout,
                            const RectLayout& host_layout, const Region& region, const void* source,
                            WaitList waits, cl_command_type type = CL_COMMAND_WRITE_BUFFER_RECT);
Ref<Event> enqueueCopy(Queue& queue, Buffer& source, Buffer& destination, size_t source_offset,
                       size_t destination_offset, size_t size, WaitList waits);
Ref<Event> enqueueCopyRect(Queue& queue, MemObject& source, MemObject& destination,
                           const RectLayout& source_layout, const RectLayout& destination_layout,
                           const Region& region, WaitList waits,
                           cl_command_type type = CL_COMMAND_COPY_BUFFER_RECT);
// `pattern_size` is a power of two of at most 128.
Ref<Event> enqueueFill(Queue& queue, Buffer& buffer, const void* pattern, size_t pattern_size,
                       size_t offset, size_t size, WaitList waits);
Ref<Event> enqueueFillRect(Queue& queue, PixelImage& image, const void* pattern,
                           size_t pattern_size, const RectLayout& layout, const Region& region,
                           WaitList waits);

// With its command's event.
struct Mapped : Mapping {
  Ref<Event> event;
};
// Throws CL_MAP_FAILURE, CL_INVALID_OPERATION.
Mapped enqueueMap(Queue& queue, Buffer& buffer, cl_map_flags flags, size_t offset, size_t size,
                  WaitList waits);
Mapped enqueueMapRect(Queue& queue, PixelImage& image, cl_map_flags flags, const RectLayout& layout,
                      const Region& region, WaitList waits);
// Throws CL_INVALID_VALUE when `pointer` is not a mapped one.
Ref<Event> enqueueUnmap(Queue& queue, MemObject& object, void* pointer, WaitList waits);

Ref<Event> enqueueMigrate(Queue& queue, std::span<MemObject* const> objects,
                          cl_mem_migration_flags flags, WaitList waits);

// Checks what depends on kernel and device (specification 5.10): CL_INVALID_PROGRAM_EXECUTABLE,
// CL_INVALID_KERNEL_ARGS, CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE,
// CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_GLOBAL_OFFSET, CL_OUT_OF_RESOURCES.
// `type` is CL_COMMAND_NDRANGE_KERNEL or CL_COMMAND_TASK.
Ref<Event> enqueueLaunch(Queue& queue, Kernel& kernel, const NDRange& range, WaitList waits,
                         cl_command_type type = CL_COMMAND_NDRANGE_KERNEL);

// The local size that a launch of `range`, which names none, would get; checked as one. Throws
// CL_INVALID_GLOBAL_WORK_SIZE where a size is zero, too.
std::array<size_t, 3> suggestLocalSize(const Queue& queue, const Kernel& kernel,
                                       const NDRange& range);

using NativeFunction = void(CL_CALLBACK*)(void*);
struct NativeMemory {
  MemObject* object;  // may be null
  size_t offset;      // where in the copied arguments the object's address goes
};
// Copies `args`. Throws CL_INVALID_OPERATION when the device runs no native kernels.
Ref<Event> enqueueNative(Queue& queue, NativeFunction function, const void* args, size_t size,
                         std::span<const NativeMemory> objects, WaitList waits);

// Has `allocate` take `bytes` of the memory of a device that has its own, and keep the `room` there
// as long as it has them: what idle memory objects have there may go instead. It is called again
// where it throws CL_MEM_OBJECT_ALLOCATION_FAILURE and more can go. Throws that, too.
using RoomUser = std::function<void(std::shared_ptr<void> room)>;
void allocateIn(const Context& context, const Device& device, size_t bytes,
                const RoomUser& allocate);

// Shared virtual memory (specification 5.6). Where a pointer is into an allocation, so is the whole
// range; otherwise it is memory of the host.
Ref<Event> enqueueSvmCopy(Queue& queue, void* destination, const void* source, size_t size,
                          WaitList waits);
// `pattern_size` is a power of two of at most 128.
Ref<Event> enqueueSvmFill(Queue& queue, void* pointer, const void* pattern, size_t pattern_size,
                          size_t size, WaitList waits);
// Advice: the memory is in place everywhere, so this only takes its turn.
Ref<Event> enqueueSvmSync(Queue& queue, cl_command_type type, std::span<const void* const> pointers,
                          WaitList waits);
// So do migration, map (to the host) and unmap, but for pages that move nearer to who is going to
// use them. `sizes` may be null, and 0 in it is the whole allocation.
Ref<Event> enqueueSvmMigrate(Queue& queue, std::span<const void* const> pointers,
                             const size_t* sizes, cl_mem_migration_flags flags, WaitList waits,
                             cl_command_type type = CL_COMMAND_SVM_MIGRATE_MEM);
using SvmFreeFunction = void(CL_CALLBACK*)(cl_command_queue queue, cl_uint count, void* pointers[],
                                           void* user);
// Without a function, frees the allocations that begin at the pointers.
Ref<Event> enqueueSvmFree(Queue& queue, std::span<void* const> pointers, SvmFreeFunction function,
                          void* user, WaitList waits);

// An empty wait list means everything enqueued before.
Ref<Event> enqueueMarker(Queue& queue, WaitList waits);
Ref<Event> enqueueBarrier(Queue& queue, WaitList waits);

}  // namespace weft
