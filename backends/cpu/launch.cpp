#include "backends/cpu/launch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/cpu/clock.h"
#include "backends/cpu/family.h"
#include "backends/cpu/pixels/pixel_functions.h"
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

// Copies the lines that differ.
void renew(void* to, const void* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += pool::line_bytes) {
    const size_t size = std::min(pool::line_bytes, bytes - at);
    auto* const target = static_cast<std::byte*>(to) + at;
    const auto* const source = static_cast<const std::byte*>(from) + at;
    if (std::memcmp(target, source, size) != 0) std::memcpy(target, source, size);
  }
}

// Cuts a range of linear indices into boxes: the end of a row, whole rows, whole planes, and back.
template <class Visit>
void forEachBox(const port::GroupBox& slice, uint64_t begin, uint64_t end, Visit&& visit) {
  // Small launches are, and divisions are dear.
  if (begin == 0 && end > 0 && end == slice.count()) return visit(slice);
  const uint64_t nx = slice.end[0] - slice.begin[0];
  const uint64_t ny = slice.end[1] - slice.begin[1];
  if (nx == slice.count()) {
    port::GroupBox box = slice;
    box.end[0] = slice.begin[0] + end;
    box.begin[0] += begin;
    if (begin < end) visit(box);
    return;
  }
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
  auto* const module = static_cast<Module*>(launch.module);
  Kernel* const kernel = module->kernel(launch.kernel);
  if (!kernel) return CL_INVALID_KERNEL;
  if (!module->entry(launch.kernel)) return CL_BUILD_PROGRAM_FAILURE;
  module->trials().consider(*kernel);
  head_.entry = kernel->entry.load(std::memory_order_acquire);
  head_.contest = kernel->contest.load(std::memory_order_acquire);
  port::LaunchRecord& record = head_.record;
  record = *launch.record;
  if (!record.services) record.services = &host_services;
  const KernelInfo& info = kernel->info;
  head_.kernel = kernel;
  head_.slice = launch.slice;
  head_.items_per_group = record.local_size[0] * record.local_size[1] * record.local_size[2];
  head_.context_bytes = kernel->context_bytes.load(std::memory_order_relaxed) *
                        roundUp(head_.items_per_group, lane_rounding);
  size_t local_bytes = info.local_bytes;
  const size_t count = launch.arguments.size();
  arguments_.resize(count);
  slots_.resize(count);
  images_.clear();
  images_.reserve(count);  // pointers into it are kept
  for (size_t i = 0; i < count; ++i) {
    const port::LaunchArgument& argument = launch.arguments[i];
    Slot& slot = slots_[i] = {};
    arguments_[i] = &slot;
    const auto put = [&](uint64_t value) { std::memcpy(slot.bytes, &value, sizeof value); };
    if (argument.kind == ArgumentKind::local_pointer) {
      local_bytes = roundUp(local_bytes, localAlignment(info, i));
      put(local_bytes);
      local_bytes += argument.size;
    } else if (argument.kind == ArgumentKind::image) {
      images_.push_back(imageAt(argument.value, pointerValue(argument)));
      arguments_[i] = &images_.back();
    } else if (!argument.value) {
      put(pointerValue(argument));
    } else if (argument.size <= sizeof slot.bytes) {
      std::memcpy(slot.bytes, argument.value, argument.size);
    } else {
      arguments_[i] = argument.value;
    }
  }
  head_.local_bytes = local_bytes;
  record.local_bytes = uint32_t(std::min(local_bytes, scratch_limit));
  const bool fits = local_bytes <= scratch_limit && head_.context_bytes <= scratch_limit &&
                    info.stack_bytes <= kernel_stack_bytes;
  return fits ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

void LaunchFrame::assign(const LaunchFrame& other) {
  const size_t count = other.arguments_.size();
  if (arguments_.size() != count) arguments_.resize(count);
  if (slots_.size() != count) slots_.resize(count);
  if (images_.size() != other.images_.size()) images_.resize(other.images_.size());
  renew(&head_, &other.head_, sizeof head_);
  renew(slots_.data(), other.slots_.data(), count * sizeof(Slot));
  renew(images_.data(), other.images_.data(), images_.size() * sizeof(port::CpuImage));
  size_t image = 0;
  for (size_t i = 0; i < count; ++i) {
    const void* value = other.arguments_[i];
    if (value == &other.slots_[i])
      value = &slots_[i];
    else if (image < images_.size() && value == &other.images_[image])
      value = &images_[image++];
    if (arguments_[i] != value) arguments_[i] = value;
  }
}

void LaunchFrame::fetch() const noexcept {
  const auto lines = [](const void* object, size_t bytes) {
    for (size_t line = 0; line < bytes; line += pool::line_bytes)
      __builtin_prefetch(static_cast<const std::byte*>(object) + line);
  };
  lines(&head_, sizeof head_);
  lines(arguments_.data(), arguments_.size() * sizeof(void*));
  lines(slots_.data(), slots_.size() * sizeof(Slot));
  lines(images_.data(), images_.size() * sizeof(port::CpuImage));
}

// Runs groups from `begin` on in either form, until it is clear which is faster or there are no
// more. Gives the first one that is left.
template <class Run>
uint64_t LaunchFrame::takeTurns(Contest& contest, uint64_t begin, uint64_t end,
                                Run&& run) const noexcept {
  const double per_group = timing().estimate(itemsPerGroup());  // negative while nobody knows
  if (per_group > Contest::longest_turn_ns) return begin;
  const double turn = per_group < 0 ? 1 : Contest::turn_ns / std::max(per_group, 1e-3);
  const auto groups = uint64_t(std::max(1.0, std::min(turn, double(end - begin))));
  while (begin < end && contest.isOpen()) {
    const uint64_t last = std::min(end, begin + groups);
    const Contest::Side side = contest.next();
    const port::Nanoseconds start = now();
    run(contest.entry(side), begin, last);
    contest.record(side, now() - start, (last - begin) * itemsPerGroup());
    begin = last;
  }
  return begin;
}

port::OperationStatus LaunchFrame::run(uint64_t begin, uint64_t end, Scratch& scratch,
                                       const void* const* arguments) const noexcept {
  const port::LaunchRecord& record = head_.record;
  std::byte* local = scratch.local.reserve(head_.local_bytes);
  std::byte* context = head_.context_bytes ? scratch.context.reserve(head_.context_bytes) : nullptr;
  if (!local || (head_.context_bytes && !context)) return CL_OUT_OF_RESOURCES;
  const auto run = [&](port::CpuKernelEntry entry, uint64_t first, uint64_t last) {
    forEachBox(head_.slice, first, last, [&](const port::GroupBox& box) {
      entry(arguments ? arguments : arguments_.data(), &record, &box, local, context);
    });
  };
  Contest* const contest = head_.contest;
  if (contest) begin = takeTurns(*contest, begin, end, run);
  run(contest ? contest->best() : head_.entry, begin, end);
  if (record.services->device_queue) Family::groupsEnded(*record.services);
  return CL_SUCCESS;
}

}  // namespace weft::cpu
