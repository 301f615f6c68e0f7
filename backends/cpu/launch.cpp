#include "backends/cpu/launch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/cpu/family.h"
#include "core/error.h"
#include "core/printf.h"

namespace weft::cpu {
namespace {

constexpr port::HostServices host_services{&printToStdout};

constexpr size_t lane_rounding = 64;
constexpr size_t minimum_local_alignment = 16;
constexpr size_t maximum_local_alignment = 128;

size_t roundUp(size_t n, size_t step) { return (n + step - 1) / step * step; }

size_t localAlignment(const KernelInfo& info, size_t argument) {
  if (argument >= info.arguments.size()) return maximum_local_alignment;
  const size_t wanted = std::bit_ceil<size_t>(info.arguments[argument].alignment);
  return std::clamp(wanted, minimum_local_alignment, maximum_local_alignment);
}

uint64_t pointerValue(const port::LaunchArgument& argument) {
  if (!argument.memory) return argument.raw_address;
  return argument.memory->deviceAddress() + argument.offset;
}

// Cuts a range of linear indices into boxes: the end of a row, whole rows, whole planes, and back.
template <class Visit>
void forEachBox(const port::GroupBox& slice, uint64_t begin, uint64_t end, Visit&& visit) {
  // Small launches are, and divisions are dear.
  if (begin == 0 && end > 0 && end == slice.count()) return visit(slice);
  const uint64_t nx = slice.end[0] - slice.begin[0];
  const uint64_t ny = slice.end[1] - slice.begin[1];
  while (begin < end) {
    const uint64_t left = end - begin;
    const uint64_t x = begin % nx, row = begin / nx, y = row % ny, z = row / ny;
    uint64_t size[3] = {std::min(nx - x, left), 1, 1};
    if (x == 0 && left >= nx) size[1] = std::min(ny - y, left / nx);
    if (x == 0 && y == 0 && left >= nx * ny) size[2] = left / (nx * ny);
    const uint64_t at[3] = {x, y, z};
    port::GroupBox box;
    for (int d = 0; d < 3; ++d) {
      box.begin[d] = slice.begin[d] + at[d];
      box.end[d] = box.begin[d] + size[d];
    }
    visit(box);
    begin += size[0] * size[1] * size[2];
  }
}

}  // namespace

port::OperationStatus LaunchFrame::prepare(const port::Launch& launch) {
  kernel_ = static_cast<Module*>(launch.module)->kernel(launch.kernel);
  if (!kernel_) return CL_INVALID_KERNEL;
  record_ = *launch.record;
  if (!record_.services) record_.services = &host_services;
  slice_ = launch.slice;
  items_per_group_ = record_.local_size[0] * record_.local_size[1] * record_.local_size[2];
  const KernelInfo& info = kernel_->info;
  context_bytes_ = info.lane_context_bytes * roundUp(items_per_group_, lane_rounding);
  local_bytes_ = info.local_bytes;
  const size_t count = launch.arguments.size();
  arguments_.resize(count);
  slots_.resize(count);
  images_.clear();
  images_.reserve(count);  // pointers into it are kept
  for (size_t i = 0; i < count; ++i) {
    const port::LaunchArgument& argument = launch.arguments[i];
    arguments_[i] = &slots_[i];
    if (argument.kind == ArgumentKind::local_pointer) {
      local_bytes_ = roundUp(local_bytes_, localAlignment(info, i));
      slots_[i] = local_bytes_;
      local_bytes_ += argument.size;
    } else if (argument.kind == ArgumentKind::image) {
      std::memcpy(&images_.emplace_back(), argument.value, sizeof(port::ImageDescriptor));
      images_.back().address = pointerValue(argument);
      arguments_[i] = &images_.back();
    } else if (argument.value) {
      arguments_[i] = argument.value;
    } else {
      slots_[i] = pointerValue(argument);
    }
  }
  record_.local_bytes = uint32_t(std::min(local_bytes_, scratch_limit));
  const bool fits = local_bytes_ <= scratch_limit && context_bytes_ <= scratch_limit &&
                    info.stack_bytes <= kernel_stack_bytes;
  return fits ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

port::OperationStatus LaunchFrame::run(uint64_t begin, uint64_t end,
                                       Scratch& scratch) const noexcept {
  std::byte* local = scratch.local.reserve(local_bytes_);
  std::byte* context = context_bytes_ ? scratch.context.reserve(context_bytes_) : nullptr;
  if (!local || (context_bytes_ && !context)) return CL_OUT_OF_RESOURCES;
  forEachBox(slice_, begin, end, [&](const port::GroupBox& box) {
    kernel_->entry(arguments_.data(), &record_, &box, local, context);
  });
  if (record_.services->device_queue) Family::groupsEnded(*record_.services);
  return CL_SUCCESS;
}

}  // namespace weft::cpu
