#include "api/ranges.h"

#include <bit>

#include "core/byte_rows.h"

namespace weft::api {
namespace {

// Do two intervals of `length` that repeat every `pitch` bytes from `a` and `b` stay apart?
bool interleaved(size_t a, size_t b, size_t length, size_t pitch) {
  const size_t x = a % pitch;
  const size_t y = b % pitch;
  return (y >= x + length && y + length <= x + pitch) ||
         (x >= y + length && x + length <= y + pitch);
}

ByteRows rowsAt(size_t begin, const RectLayout& layout, const Region& region) {
  return {begin, region[0], region[1], region[2], layout.row_pitch, layout.slice_pitch};
}

}  // namespace

size_t multiplyAdd(size_t a, size_t b, size_t c) {
  size_t product = 0;
  size_t sum = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &product) |
                        static_cast<int>(__builtin_add_overflow(product, c, &sum));
  require(!overflow, CL_INVALID_VALUE, "the rectangle is larger than memory");
  return sum;
}

void requirePattern(const void* pattern, size_t size) {
  constexpr size_t longest = 128;
  require(pattern && std::has_single_bit(size) && size <= longest, CL_INVALID_VALUE, "pattern");
}

void requireMapFlags(cl_map_flags flags) {
  constexpr cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
  require((flags & ~known) == 0, CL_INVALID_VALUE, "unknown map flag");
  // "CL_MAP_READ or CL_MAP_WRITE and CL_MAP_WRITE_INVALIDATE_REGION are mutually exclusive."
  require(!(flags & CL_MAP_WRITE_INVALIDATE_REGION) || !(flags & (CL_MAP_READ | CL_MAP_WRITE)),
          CL_INVALID_VALUE, "contents are either wanted or not");
}

void requireMigrationFlags(cl_mem_migration_flags flags) {
  constexpr cl_mem_migration_flags known =
      CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  require((flags & ~known) == 0, CL_INVALID_VALUE, "unknown migration flag");
}

void requireRange(size_t offset, size_t size, size_t limit) {
  require(offset <= limit && size <= limit - offset, CL_INVALID_VALUE, "out of bounds");
}

Region toRegion(const size_t* region) {
  require(region && region[0] && region[1] && region[2], CL_INVALID_VALUE, "empty region");
  return {region[0], region[1], region[2]};
}

RectLayout toLayout(const size_t* origin, const Region& region, size_t row_pitch,
                    size_t slice_pitch) {
  require(origin != nullptr, CL_INVALID_VALUE, "no origin");
  require(row_pitch == 0 || row_pitch >= region[0], CL_INVALID_VALUE, "row pitch too small");
  const size_t row = row_pitch ? row_pitch : region[0];
  const size_t rows = multiplyAdd(region[1], row, 0);
  require(slice_pitch == 0 || (slice_pitch >= rows && slice_pitch % row == 0), CL_INVALID_VALUE,
          "slice pitch too small, or not a multiple of the row pitch");
  const RectLayout layout{{origin[0], origin[1], origin[2]}, row, slice_pitch ? slice_pitch : rows};
  // The end must be an address: after this, offset() and spanOf() do not overflow.
  const size_t start =
      multiplyAdd(origin[2], layout.slice_pitch, multiplyAdd(origin[1], row, origin[0]));
  const size_t slice = multiplyAdd(region[1] - 1, row, region[0]);
  multiplyAdd(1, start, multiplyAdd(region[2] - 1, layout.slice_pitch, slice));
  return layout;
}

bool overlaps(size_t source, const RectLayout& source_layout, size_t destination,
              const RectLayout& destination_layout, const Region& region) {
  if (destination + spanOf(destination_layout, region) <= source ||
      source + spanOf(source_layout, region) <= destination)
    return false;
  const size_t row = source_layout.row_pitch;
  const size_t slice = source_layout.slice_pitch;
  if (destination_layout.row_pitch != row || destination_layout.slice_pitch != slice)
    return overlap(rowsAt(source, source_layout, region),
                   rowsAt(destination, destination_layout, region));
  return !interleaved(source, destination, region[0], row) &&
         !interleaved(source, destination, (region[1] - 1) * row + region[0], slice);
}

}  // namespace weft::api
