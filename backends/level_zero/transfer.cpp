#include "backends/level_zero/transfer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/level_zero/module.h"

namespace weft::level_zero {
namespace {

// ZE_COMMAND_QUEUE_FLAG_IN_ORDER: newer than the oldest headers that this is built with.
constexpr ze_command_queue_flags_t ordered_list = 1u << 1;
constexpr uint32_t has_ordered_lists = ZE_MAKE_VERSION(1, 7);

bool isEmpty(const port::Copy& copy) {
  return copy.region[0] == 0 || copy.region[1] == 0 || copy.region[2] == 0;
}

bool fitsRegion(const port::Location& end) {
  constexpr size_t most = std::numeric_limits<uint32_t>::max();
  return end.row_pitch <= most && end.slice_pitch <= most;
}

void moveRows(std::byte* to, size_t to_pitch, const std::byte* from, size_t from_pitch,
              size_t width, size_t rows) {
  for (size_t y = 0; y < rows; ++y) std::memmove(to + y * to_pitch, from + y * from_pitch, width);
}

}  // namespace

Transfers::Transfers(std::shared_ptr<DeviceContext> context, const QueueGroup& group)
    : context_(std::move(context)),
      api_(context_->api),
      pattern_bytes_(group.pattern_bytes),
      staging_(*context_->driver),
      print_buffer_(context_),
      images_(context_) {
  check(context_->usable(), "the device");
  in_order_ = context_->driver->version >= has_ordered_lists &&
              create(group.ordinal, ordered_list) == ZE_RESULT_SUCCESS;
  // The loader may check flags, and be older than the driver.
  if (!in_order_) check(create(group.ordinal, 0), "making a command list");
}

ze_result_t Transfers::create(uint32_t ordinal, ze_command_queue_flags_t flags) {
  const ze_command_queue_desc_t description{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                            nullptr,
                                            ordinal,
                                            0,
                                            flags,
                                            ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                            ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  return api_.commandListCreateImmediate(context_->driver->context, context_->device, &description,
                                         &list_);
}

Transfers::~Transfers() { api_.commandListDestroy(list_); }

// The device reaches what its driver made.
std::byte* Transfers::hostOf(const port::Location& location,
                             const std::array<size_t, 3>& region) const {
  if (location.memory) return location.memory->deviceAddress() ? nullptr : location.memory->host();
  if (region[0] == 0 || region[1] == 0 || region[2] == 0) return location.host;
  const size_t bytes =
      (region[2] - 1) * location.slice_pitch + (region[1] - 1) * location.row_pitch + region[0];
  const bool known = context_->driver->host_ranges.hold(location.host + location.offset, bytes);
  return known ? nullptr : location.host;
}

Transfers::End Transfers::endOf(const port::Location& location) {
  const uint64_t device = location.memory ? location.memory->deviceAddress() : 0;
  std::byte* const host = location.memory ? location.memory->host() : location.host;
  std::byte* const address = device ? reinterpret_cast<std::byte*>(device) : host;
  return {address + location.offset, location.row_pitch, location.slice_pitch};
}

bool Transfers::needsHost(const port::Copy& copy) const {
  return sourceOnHost(copy) || destinationOnHost(copy);
}

bool Transfers::needsHost(const port::Fill& fill) const {
  return fill.pattern_size > pattern_bytes_ || !fill.memory->deviceAddress();
}

bool Transfers::isFromHost(const port::Copy& copy) const { return sourceOnHost(copy) != nullptr; }

bool Transfers::isSmall(const port::Copy& copy) const {
  const auto& region = copy.region;
  const bool both = sourceOnHost(copy) && destinationOnHost(copy);
  return !both && region[2] == 1 && region[0] <= DeviceContext::small_bytes &&
         region[1] <= DeviceContext::small_bytes / std::max<size_t>(region[0], 1) &&
         fitsRegion(copy.source) && fitsRegion(copy.destination);
}

ze_result_t Transfers::append(const port::Copy& copy, Borrowed& borrowed) {
  if (isEmpty(copy)) return ZE_RESULT_SUCCESS;
  borrowed.chunk = context_->small.take();
  if (!borrowed.chunk) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  const End from = endOf(copy.source), to = endOf(copy.destination);
  const size_t width = copy.region[0], count = copy.region[1];
  if (isFromHost(copy)) {
    moveRows(borrowed.chunk, width, from.address, from.row_pitch, width, count);
    return rows(to.address, to.row_pitch, borrowed.chunk, width, width, count);
  }
  const ze_result_t result =
      rows(borrowed.chunk, width, from.address, from.row_pitch, width, count);
  if (result != ZE_RESULT_SUCCESS) return result;
  borrowed.to_host = to.address;
  borrowed.row_pitch = to.row_pitch;
  borrowed.width = width;
  borrowed.rows = count;
  return result;
}

ze_result_t Transfers::append(const port::Launch& launch, Borrowed& borrowed,
                              const void* print_buffer) {
  const auto& module = *static_cast<const Module*>(launch.module);
  NativeArguments native;
  bool behind = false;  // does the kernel come behind copies?
  const NativeImages* const wanted = module.native(launch.kernel);
  const bool is_native = wanted && images_.bind(list_, launch, *wanted, native, behind);
  const bool any = std::ranges::find(launch.arguments, ArgumentKind::image,
                                     &port::LaunchArgument::kind) != launch.arguments.end();
  if (any) {
    borrowed.chunk = context_->small.take();
    borrowed.images = context_->images.take();
    if (!borrowed.chunk || !borrowed.images) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    const size_t bytes = Module::describeImages(launch, borrowed.chunk);
    if (bytes > DeviceContext::images_bytes) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const ze_result_t result = rows(borrowed.images, 0, borrowed.chunk, 0, bytes, 1);
    if (result != ZE_RESULT_SUCCESS) return result;
    behind = true;
  }
  const ze_result_t result = behind && !in_order_
                                 ? api_.commandListAppendBarrier(list_, nullptr, 0, nullptr)
                                 : ZE_RESULT_SUCCESS;
  if (result != ZE_RESULT_SUCCESS) return result;
  return module.launch(list_, launch, {print_buffer, borrowed.images},
                       is_native ? &native : nullptr);
}

void Borrowed::finish() const noexcept {
  if (to_host) moveRows(to_host, row_pitch, chunk, width, width, rows);
}

void Borrowed::giveBack(DeviceContext& context) const noexcept {
  context.small.give(chunk);
  context.images.give(images);
}

ze_result_t Transfers::rows(std::byte* to, size_t to_pitch, const std::byte* from,
                            size_t from_pitch, size_t width, size_t count) {
  if (count == 1)
    return api_.commandListAppendMemoryCopy(list_, to, from, width, nullptr, 0, nullptr);
  const ze_copy_region_t region{0, 0, 0, static_cast<uint32_t>(width), static_cast<uint32_t>(count),
                                0};
  return api_.commandListAppendMemoryCopyRegion(list_, to, &region, static_cast<uint32_t>(to_pitch),
                                                0, from, &region, static_cast<uint32_t>(from_pitch),
                                                0, nullptr, 0, nullptr);
}

ze_result_t Transfers::append(const port::Copy& copy) {
  if (isEmpty(copy)) return ZE_RESULT_SUCCESS;
  const End from = endOf(copy.source), to = endOf(copy.destination);
  const auto& region = copy.region;
  const bool by_rows = !fitsRegion(copy.source) || !fitsRegion(copy.destination) ||
                       region[0] > std::numeric_limits<uint32_t>::max();
  const size_t step = by_rows ? 1 : region[1];
  for (size_t z = 0; z < region[2]; ++z)
    for (size_t y = 0; y < region[1]; y += step) {
      const ze_result_t result =
          rows(to.at(y, z), to.row_pitch, from.at(y, z), from.row_pitch, region[0], step);
      if (result != ZE_RESULT_SUCCESS) return result;
    }
  return ZE_RESULT_SUCCESS;
}

ze_result_t Transfers::append(const port::Fill& fill) {
  if (fill.size == 0) return ZE_RESULT_SUCCESS;
  auto* const base = reinterpret_cast<std::byte*>(fill.memory->deviceAddress() + fill.offset);
  for (size_t z = 0; z < fill.slices; ++z)
    for (size_t y = 0; y < fill.rows; ++y) {
      std::byte* const row = base + z * fill.slice_pitch + y * fill.row_pitch;
      const ze_result_t result = api_.commandListAppendMemoryFill(
          list_, row, fill.pattern, fill.pattern_size, fill.size, nullptr, 0, nullptr);
      if (result != ZE_RESULT_SUCCESS) return result;
    }
  return ZE_RESULT_SUCCESS;
}

// What the device may be at must not count as done because the driver refuses what would tell.
void Transfers::wait() {
  for (unsigned tries = 0;;) {
    check(context_->usable(), "the device");
    const ze_event_handle_t end = context_->events.take();
    const ze_result_t result = end ? api_.commandListAppendBarrier(list_, end, 0, nullptr)
                                   : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZE_RESULT_SUCCESS) {
      const ze_result_t ended = context_->await(end);
      if (ended == ZE_RESULT_SUCCESS) context_->events.give(end);
      return check(ended, "a copy");
    }
    context_->note(result);
    context_->events.give(end);
    context_->rest(tries);
  }
}

void Transfers::piece(const port::Copy& copy, const End& from, const End& to, size_t width,
                      size_t count) {
  std::byte* const staging = staging_.host();
  if (isFromHost(copy)) {
    moveRows(staging, width, from.address, from.row_pitch, width, count);
    check(rows(to.address, to.row_pitch, staging, width, width, count), "a copy");
    return wait();
  }
  check(rows(staging, width, from.address, from.row_pitch, width, count), "a copy");
  wait();
  moveRows(to.address, to.row_pitch, staging, width, width, count);
}

void Transfers::perform(const port::Copy& copy) {
  if (isEmpty(copy)) return;
  const auto& region = copy.region;
  const End from = endOf(copy.source), to = endOf(copy.destination);
  const bool by_host = sourceOnHost(copy) && destinationOnHost(copy);
  const size_t width = by_host ? region[0] : std::min(region[0], Staging::bytes);
  const bool fits = fitsRegion(copy.source) && fitsRegion(copy.destination);
  const size_t count = by_host ? region[1] : fits ? Staging::bytes / width : 1;
  for (size_t z = 0; z < region[2]; ++z)
    for (size_t y = 0; y < region[1]; y += count)
      for (size_t x = 0; x < region[0]; x += width) {
        const End source{from.at(y, z) + x, from.row_pitch, 0};
        const End destination{to.at(y, z) + x, to.row_pitch, 0};
        const size_t bytes = std::min(width, region[0] - x), most = std::min(count, region[1] - y);
        if (by_host)
          moveRows(destination.address, destination.row_pitch, source.address, source.row_pitch,
                   bytes, most);
        else
          piece(copy, source, destination, bytes, most);
      }
}

void Transfers::perform(const port::Fill& fill) {
  if (fill.size == 0) return;
  const size_t unit = fill.pattern_size;
  const size_t most = std::min(fill.size, Staging::bytes / unit * unit);
  std::byte* const pattern = staging_.host();
  for (size_t i = 0; i < most; i += unit) std::memcpy(pattern + i, fill.pattern, unit);
  const bool by_host = !fill.memory->deviceAddress();
  std::byte* const base =
      (by_host ? fill.memory->host() : reinterpret_cast<std::byte*>(fill.memory->deviceAddress())) +
      fill.offset;
  for (size_t z = 0; z < fill.slices; ++z)
    for (size_t y = 0; y < fill.rows; ++y)
      for (size_t x = 0; x < fill.size; x += most) {
        std::byte* const to = base + z * fill.slice_pitch + y * fill.row_pitch + x;
        const size_t bytes = std::min(most, fill.size - x);
        if (by_host)
          std::memcpy(to, pattern, bytes);
        else
          check(rows(to, 0, pattern, 0, bytes, 1), "a fill");
      }
  if (!by_host) wait();
}

void Transfers::perform(const port::Launch& printing) {
  void* const device = print_buffer_.device();
  std::byte* const host = print_buffer_.host();
  PrintBufferHead head{0, PrintBuffer::capacity,
                       reinterpret_cast<uintptr_t>(device) + sizeof(PrintBufferHead)};
  std::memcpy(host, &head, sizeof head);
  const bool on_host = device == host;
  if (!on_host) {
    check(rows(static_cast<std::byte*>(device), 0, host, 0, sizeof head, 1), "a print buffer");
    wait();
  }
  Borrowed borrowed;
  const ze_result_t launched = append(printing, borrowed, device);
  wait();
  borrowed.giveBack(*context_);
  check(launched, "a launch");
  const auto fetch = [&](size_t begin, size_t end) {
    if (on_host) return;
    check(rows(host + begin, 0, static_cast<std::byte*>(device) + begin, 0, end - begin, 1),
          "a print buffer");
    wait();
  };
  fetch(0, sizeof head);
  std::memcpy(&head, host, sizeof head);
  const size_t bytes = sizeof head + std::min<uint64_t>(head.used, PrintBuffer::capacity);
  if (bytes > sizeof head) fetch(sizeof head, bytes);
  printRecords({host, bytes});
}

}  // namespace weft::level_zero
