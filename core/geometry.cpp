#include "core/geometry.h"

#include <algorithm>
#include <cstdint>

#include "core/error.h"

namespace weft {
namespace {

// Enough work-items to fill vectors and amortise a group's overhead; in several dimensions rows
// that are long enough for whole lines of memory, and some of them for what neighbours share.
// Measured on CPUs and on NVIDIA's GPUs.
constexpr uint64_t preferred_group_size = 256, preferred_row = 64, longest_row = 1024;
// Rows of a launch that are no longer than this are taken whole where vectors do not go on in the
// next row: then groups pass through memory in order, which is read ahead.
constexpr uint64_t longest_whole_row = 256, whole_rows = 4;
// Few enough to leave groups for every compute unit.
constexpr uint64_t groups_per_unit = 4, least_group_size = 32;

uint64_t largestDivisor(uint64_t n, uint64_t limit) {
  for (uint64_t d = std::min(n, limit); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

uint64_t leastDivisor(uint64_t n, uint64_t from, uint64_t limit) {
  for (uint64_t d = from; d <= limit; ++d)
    if (n % d == 0) return d;
  return 0;
}

// What groups are like in one dimension.
struct Extents {
  uint64_t limit;  // of what is preferred
  uint64_t most;   // where the alternative is groups much smaller than that
  bool uniform;
  uint64_t vector = 1;  // how many work-items of a row do as little as one
};

// The size of a group in one dimension where the program names none. A size with no large divisor,
// or only such as leave vectors half empty, gets a ragged last group where the kernel allows that.
uint64_t groupExtent(uint64_t global, const Extents& extents) {
  const uint64_t preferred = std::min(global, extents.limit);
  const uint64_t divisor = largestDivisor(global, preferred);
  const bool is_small = divisor < preferred / 2;
  if (extents.uniform) {
    const uint64_t larger =
        is_small ? leastDivisor(global, preferred, std::min(global, extents.most)) : 0;
    return larger != 0 ? larger : divisor;
  }
  const uint64_t vectors = (divisor + extents.vector - 1) / extents.vector;
  const bool has_gaps = divisor < preferred && divisor * 8 < vectors * extents.vector * 7;
  return is_small || has_gaps ? preferred : divisor;
}

// Can the size that the kernel hints at be used? A hint fails no launch.
bool hintFits(const port::LaunchRecord& record, const KernelInfo& kernel,
              const port::Capabilities& device, size_t most) {
  uint64_t items = 1;
  for (int d = 0; d < 3; ++d) {
    const uint64_t hint = kernel.hinted_local_size[d];
    if (hint == 0 || hint > device.max_work_item_sizes[d] || record.global_size[d] % hint != 0)
      return false;
    items *= hint;
  }
  return items <= most;
}

// Work-items.
double shareOfUnit(const port::LaunchRecord& record, const port::Capabilities& device) {
  double items = 1;
  for (const uint64_t size : record.global_size) items *= static_cast<double>(size);
  return items / std::max(device.compute_units, 1u);
}

void chooseLocalSize(port::LaunchRecord& record, const KernelInfo& kernel,
                     const port::Capabilities& device, size_t most, bool uniform) {
  if (kernel.required_local_size[0]) {
    std::copy_n(kernel.required_local_size.begin(), 3, record.local_size);
    return;
  }
  if (hintFits(record, kernel, device, most)) {
    std::copy_n(kernel.hinted_local_size.begin(), 3, record.local_size);
    return;
  }
  const double share = shareOfUnit(record, device) / groups_per_unit;
  const auto useful =
      static_cast<uint64_t>(std::clamp<double>(share, least_group_size, preferred_group_size));
  uint64_t room = std::min<uint64_t>(useful, most);
  const bool turned = kernel.lane_dimension == 1;
  const int row = turned ? 1 : 0, other = turned ? 0 : 1;
  const uint64_t length = record.global_size[row];
  const bool whole = device.vectors_are_rows && kernel.lane_context_bytes == 0 &&
                     length > preferred_row && length <= longest_whole_row &&
                     whole_rows * length <= std::min<uint64_t>(most, longest_row) &&
                     static_cast<double>(whole_rows * length) <= share;
  if (whole) room = whole_rows * length;
  for (const int d : {row, other, 2}) {
    uint64_t limit = std::min<uint64_t>(room, device.max_work_item_sizes[d]);
    if (d == row && !whole && record.work_dim > 1 && record.global_size[other] > 1)
      limit = std::min(limit, preferred_row);
    Extents extents{limit, limit, uniform};
    if (d == row) {
      extents.most = std::min<uint64_t>({most, device.max_work_item_sizes[d], longest_row});
      if (device.vectors_are_rows) extents.vector = device.preferred_work_group_multiple;
    }
    record.local_size[d] = groupExtent(record.global_size[d], extents);
    room = std::max<uint64_t>(1, room / record.local_size[d]);
  }
}

void checkLocalSize(const port::LaunchRecord& record, const KernelInfo& kernel,
                    const port::Capabilities& device, size_t most, bool uniform) {
  uint64_t items = 1;
  for (int d = 0; d < 3; ++d) {
    const uint64_t local = record.local_size[d];
    require(local != 0, CL_INVALID_WORK_GROUP_SIZE, "a local size is zero");
    require(local <= device.max_work_item_sizes[d], CL_INVALID_WORK_ITEM_SIZE,
            "the local size exceeds CL_DEVICE_MAX_WORK_ITEM_SIZES");
    // "... is not divisible by the corresponding value in local_work_size" of a program "compiled
    // with -cl-uniform-work-group-size", which is implied before OpenCL C 2.0.
    require(!uniform || local == 1 || record.global_size[d] % local == 0,
            CL_INVALID_WORK_GROUP_SIZE, "the local size does not divide the global size");
    require(!kernel.required_local_size[0] || local == kernel.required_local_size[d],
            CL_INVALID_WORK_GROUP_SIZE, "the local size is not the one the kernel requires");
    items *= local;
  }
  require(items <= most, CL_INVALID_WORK_GROUP_SIZE,
          "the work-group is larger than CL_KERNEL_WORK_GROUP_SIZE");
}

// The dimension in which neighbours lie side by side.
int rowOf(const port::LaunchRecord& record, const KernelInfo& kernel) {
  return kernel.lane_dimension == 1 && record.global_size[1] > 1 ? 1 : 0;
}

// Are the program's groups shorter than what the device does at once, or have they fewer rows,
// though nobody could tell if they were larger? Groups that wait for each other could, and so can
// who reads what they print.
bool areNeedlesslySmall(const port::LaunchRecord& record, const KernelInfo& kernel,
                        const port::Capabilities& device) {
  constexpr auto told = static_cast<uint32_t>(SplitHazard::volatile_accesses) |
                        static_cast<uint32_t>(SplitHazard::fences) |
                        static_cast<uint32_t>(SplitHazard::prints) |
                        static_cast<uint32_t>(SplitHazard::unknown_calls) |
                        static_cast<uint32_t>(SplitHazard::ordered_atomics) |
                        static_cast<uint32_t>(SplitHazard::waiting_atomics);
  if (kernel.observes_groups || kernel.required_local_size[0] || (kernel.split_hazards & told))
    return false;
  const int row = rowOf(record, kernel), other = 1 - row;
  if (device.vectors_are_rows && record.local_size[other] < kernel.rows_at_once &&
      record.local_size[other] < record.global_size[other])
    return true;
  const auto itemsOf = [&](const uint64_t* sizes) {
    return device.vectors_are_rows ? sizes[row] : sizes[0] * sizes[1] * sizes[2];
  };
  const uint64_t items = itemsOf(record.local_size);
  return items < device.preferred_work_group_multiple && items < itemsOf(record.global_size);
}

// Makes groups that are several of the program's, first along the row. Each unit gets one: where
// work-items are long tasks, there are often no more of them than that.
void join(port::LaunchRecord& record, const KernelInfo& kernel, const port::Capabilities& device,
          size_t most) {
  port::LaunchRecord preferred = record;
  chooseLocalSize(preferred, kernel, device, most, false);
  const double share = shareOfUnit(record, device);
  if (share < static_cast<double>(device.preferred_work_group_multiple)) return;
  auto room = static_cast<uint64_t>(std::min(share, static_cast<double>(most)));
  for (const uint64_t size : record.local_size) room /= size;
  const int row = rowOf(record, kernel);
  for (const int d : {row, 1 - row, 2}) {
    const uint64_t wanted = preferred.local_size[d] / record.local_size[d];
    const uint64_t count = std::clamp<uint64_t>(wanted, 1, std::max<uint64_t>(room, 1));
    record.joined[d] = static_cast<uint16_t>(count);
    record.local_size[d] *= count;
    room /= count;
  }
}

}  // namespace

port::GroupBox namedGroups(const port::LaunchRecord& record, const port::GroupBox& groups) {
  port::GroupBox named;
  for (int d = 0; d < 3; ++d) {
    const uint64_t size = record.local_size[d] / record.joined[d];
    const uint64_t count = (record.global_size[d] + size - 1) / size;
    named.begin[d] = groups.begin[d] * record.joined[d];
    named.end[d] = std::min(groups.end[d] * record.joined[d], count);
  }
  return named;
}

port::LaunchRecord makeLaunchRecord(const NDRange& range, const KernelInfo& kernel,
                                    const port::Capabilities& device, size_t max_work_group_size) {
  const size_t most = std::min(max_work_group_size, device.max_work_group_size);
  port::LaunchRecord record;
  record.work_dim = range.dimensions;
  for (cl_uint d = 0; d < range.dimensions; ++d) {
    record.global_size[d] = range.global ? range.global[d] : 0;
    record.global_offset[d] = range.offset ? range.offset[d] : 0;
    // "... or if the sum of global_work_size and global_work_offset exceeds the range of size_t."
    require(record.global_offset[d] <= SIZE_MAX - record.global_size[d], CL_INVALID_GLOBAL_OFFSET);
  }
  const bool empty =
      std::find(record.global_size, record.global_size + 3, 0u) != record.global_size + 3;
  if (range.local) {
    std::copy_n(range.local, range.dimensions, record.local_size);
    checkLocalSize(record, kernel, device, most, kernel.uniform_groups);
    if (!empty && areNeedlesslySmall(record, kernel, device)) join(record, kernel, device, most);
  } else if (!empty) {
    const bool names_size = kernel.required_local_size[0] != 0 || range.local_is_suggestion;
    const bool uniform = kernel.uniform_groups && (kernel.observes_groups || names_size);
    chooseLocalSize(record, kernel, device, most, uniform);
    checkLocalSize(record, kernel, device, most, uniform);
  }
  for (cl_uint d = 0; d < range.dimensions; ++d)
    record.group_count[d] =
        (record.global_size[d] + record.local_size[d] - 1) / record.local_size[d];
  return record;
}

}  // namespace weft
