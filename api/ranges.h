// Ranges and rectangles of buffers: resolved, in bounds, overlapping. Specification 5.2.2 to 5.2.4
// and appendix 'Checking for Memory Copy Overlap'. Pure functions.
#pragma once

#include <cstddef>

#include "scheduler/enqueue.h"

namespace weft::api {

// a * b + c, or CL_INVALID_VALUE when it does not fit.
size_t multiplyAdd(size_t a, size_t b, size_t c);

// "CL_INVALID_VALUE if pattern is NULL or if pattern_size is 0 or if pattern_size is not one of {1,
// 2, 4, 8, 16, 32, 64, 128}."
void requirePattern(const void* pattern, size_t size);

// CL_INVALID_VALUE unless the flags of a map are known and agree.
void requireMapFlags(cl_map_flags flags);

// "CL_INVALID_VALUE if flags is not 0 or is not any of the values described in the table above."
void requireMigrationFlags(cl_mem_migration_flags flags);

// "CL_INVALID_VALUE if the region specified by offset and size is out of bounds."
void requireRange(size_t offset, size_t size, size_t limit);

// "CL_INVALID_VALUE if region is NULL [or] if any region array element is zero."
Region toRegion(const size_t* region);

// One side of a rectangular transfer with its pitches resolved: "if row_pitch is 0, row_pitch is
// computed as region[0]; if slice_pitch is 0, slice_pitch is computed as region[1] * row_pitch".
// Throws CL_INVALID_VALUE, also for a rectangle whose end does not fit into a size_t.
RectLayout toLayout(const size_t* origin, const Region& region, size_t row_pitch,
                    size_t slice_pitch);

// Do two copies of `region`, which begin `source` and `destination` bytes into the same memory,
// share a byte?
bool overlaps(size_t source, const RectLayout& source_layout, size_t destination,
              const RectLayout& destination_layout, const Region& region);

}  // namespace weft::api
