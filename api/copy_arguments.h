// The arguments of functions that copy and fill memory objects, checked and converted. For the
// functions that enqueue such a command, and for those that record one; the queue was checked.
#pragma once

#include "api/checks.h"
#include "scheduler/work.h"

namespace weft::api {

// As clEnqueueCopyBuffer and so on throw.
CopyWork checkCopyBuffer(const Queue& queue, cl_mem src_buffer, cl_mem dst_buffer,
                         size_t src_offset, size_t dst_offset, size_t size);

struct RectPitches {
  size_t row, slice;
};
CopyWork checkCopyBufferRect(const Queue& queue, cl_mem src_buffer, cl_mem dst_buffer,
                             const size_t* src_origin, const size_t* dst_origin,
                             const size_t* region, RectPitches src_pitches,
                             RectPitches dst_pitches);
FillWork checkFillBuffer(const Queue& queue, cl_mem buffer, const void* pattern,
                         size_t pattern_size, size_t offset, size_t size);

CopyWork checkCopyImage(const Queue& queue, cl_mem src_image, cl_mem dst_image,
                        const size_t* src_origin, const size_t* dst_origin, const size_t* region);
CopyWork checkCopyImageToBuffer(const Queue& queue, cl_mem src_image, cl_mem dst_buffer,
                                const size_t* src_origin, const size_t* region, size_t dst_offset);
CopyWork checkCopyBufferToImage(const Queue& queue, cl_mem src_buffer, cl_mem dst_image,
                                size_t src_offset, const size_t* dst_origin, const size_t* region);
FillWork checkFillImage(const Queue& queue, cl_mem image, const void* fill_color,
                        const size_t* origin, const size_t* region);

// "CL_INVALID_OPERATION if the device associated with command_queue does not support SVM."
void requireSharedMemory(const Queue& queue);
// CL_INVALID_VALUE for a pointer into the memory of a device that the host does not see.
void requireHostAccess(const Queue& queue, const void* pointer);
// A range that starts in an allocation ends in it. One of no allocation is the host's own memory,
// which `may_be_anywhere`, or which the queue's device can use. Throws CL_INVALID_VALUE.
void checkSvmRange(const Queue& queue, const void* pointer, size_t size, bool may_be_anywhere);
SvmCopyWork checkSvmMemcpy(const Queue& queue, void* dst_ptr, const void* src_ptr, size_t size);
SvmFillWork checkSvmMemFill(const Queue& queue, void* svm_ptr, const void* pattern,
                            size_t pattern_size, size_t size);

}  // namespace weft::api
