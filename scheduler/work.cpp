#include "scheduler/work.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/access_evaluation.h"
#include "core/pixel_image.h"

namespace weft {
namespace {

// Of less it makes no difference where it is.
constexpr size_t least_moved = size_t(256) << 10;

size_t bytesOf(const std::vector<TouchedRange>& touched) {
  return std::accumulate(
      touched.begin(), touched.end(), size_t{0},
      [](size_t sum, const TouchedRange& range) { return sum + range.end - range.begin; });
}

bool hasMemory(ArgumentKind kind) { return isAddress(kind) || kind == ArgumentKind::image; }

void append(AccessList& list, const CopyEnd& end, const Region& region, bool writes) {
  if (!end.object) return;
  const size_t begin = end.object->origin() + end.offset;
  appendRows(list, *end.object, toRows(begin, end.pitches, region), !writes, writes);
}

}  // namespace

port::Location CopyEnd::in(port::MemorySpace space) const {
  port::Location location;
  if (object)
    location = locate(*object, space, object->origin() + offset);
  else
    location.host = host + offset;
  location.row_pitch = pitches.row_pitch;
  location.slice_pitch = pitches.slice_pitch;
  return location;
}

cl_command_type CopyWork::type() const {
  const bool from_image = isImageType(source.object->type());
  const bool to_image = isImageType(destination.object->type());
  if (from_image) return to_image ? CL_COMMAND_COPY_IMAGE : CL_COMMAND_COPY_IMAGE_TO_BUFFER;
  if (to_image) return CL_COMMAND_COPY_BUFFER_TO_IMAGE;
  return region[1] * region[2] > 1 ? CL_COMMAND_COPY_BUFFER_RECT : CL_COMMAND_COPY_BUFFER;
}

void CopyWork::accesses(AccessList& list) const {
  append(list, source, region, false);
  append(list, destination, region, true);
}

FillWork::FillWork(MemObject& filled, const void* pattern, size_t pattern_size,
                   const RectLayout& layout, const Region& region)
    : object_(&filled), layout_(layout), region_(region), pattern_size_(pattern_size) {
  std::memcpy(pattern_.data(), pattern, pattern_size);
  if (!isContiguous(layout_, region_)) return;
  region_ = {region_[0] * region_[1] * region_[2], 1, 1};
}

cl_command_type FillWork::type() const {
  return isImageType(object_->type()) ? CL_COMMAND_FILL_IMAGE : CL_COMMAND_FILL_BUFFER;
}

void FillWork::accesses(AccessList& list) const {
  appendRows(list, *object_, toRows(begin(), layout_, region_), false, true);
}

port::Operation::Work FillWork::make(port::MemorySpace space) const {
  if (region_[0] == 0) return {};
  return port::Fill{&object_->storage().in(space),
                    begin(),
                    region_[0],
                    pattern_.data(),
                    pattern_size_,
                    region_[1],
                    region_[2],
                    layout_.row_pitch,
                    layout_.slice_pitch};
}

port::Location SvmPointer::in(port::MemorySpace space) const {
  port::Location location;
  if (allocation_ && (space != port::host_space || allocation_->home())) {
    location.memory = &allocation_->in(space);
    location.offset = allocation_->offsetOf(address_);
  } else {
    location.host = address_;
  }
  return location;
}

port::Operation::Work SvmCopyWork::make(port::MemorySpace space) const {
  if (size == 0) return {};
  return port::Copy{source.in(space), destination.in(space), {size, 1, 1}};
}

SvmFillWork::SvmFillWork(const Context& context, void* pointer, const void* pattern,
                         size_t pattern_size, size_t size)
    : target_(context, pointer), size_(size), pattern_size_(pattern_size) {
  std::memcpy(pattern_.data(), pattern, pattern_size);
}

port::Operation::Work SvmFillWork::make(port::MemorySpace space, Device& device,
                                        std::unique_ptr<port::Memory>& imported) const {
  if (size_ == 0) return {};
  if (SvmAllocation* allocation = target_.allocation())
    return port::Fill{&allocation->in(space), allocation->offsetOf(target_.address()), size_,
                      pattern_.data(), pattern_size_};
  imported = device.port().import(target_.address(), size_);
  require(imported != nullptr, CL_OUT_OF_RESOURCES, "the device cannot reach this memory");
  return port::Fill{imported.get(), 0, size_, pattern_.data(), pattern_size_};
}

port::GroupBox LaunchWork::wholeBox() const {
  port::GroupBox whole;
  std::copy_n(record.group_count, 3, whole.end);
  return whole;
}

void LaunchWork::accesses(AccessList& list) const {
  const auto& values = arguments.values;
  const auto launch = kernel->accesses.of(record, {values.begin(), values.end()});
  // Where nothing is touched the command has the object's address, so its memory may not go.
  for (const auto& [i, range] : launch->touched) {
    MemObject* const object = values[i].memory();
    const bool writes = mayWrite(info().arguments[i]) && object->kernelMayWrite();
    list.push_back({object, object->origin() + range.begin, object->origin() + range.end,
                    range.reads, range.writes && writes});
  }
}

// What it touches by other ways than its arguments nobody knows.
std::vector<port::MemoryPart> LaunchWork::noteMoves(const Device& device) const {
  const port::Capabilities& c = device.capabilities();
  const AccessEvaluation evaluation(record, arguments.values);
  std::vector<port::MemoryPart> parts;
  std::vector<TouchedRange> touched;
  SvmAllocation::Ranges taken;
  // Where it might not stay, the device had better fetch what it needs as it needs it.
  uint64_t room = c.global_memory_bytes / 4;
  for (size_t i = 0; i < arguments.values.size(); ++i) {
    const void* const pointer = arguments.values[i].shared();
    SvmAllocation* const own = pointer ? arguments.allocationOf(pointer) : nullptr;
    const Device* const by = own ? own->storage().managedBy() : nullptr;
    if (!by || own->size() < least_moved) continue;
    const bool moves = by->capabilities().managed_group == c.managed_group;
    if (moves ? !own->isWithHost() || !own->isSought() : own->isAllWithHost()) continue;
    const size_t offset = own->offsetOf(pointer);
    touched.clear();
    taken.clear();
    evaluation.touched(info().arguments[i], own->size() - offset, touched);
    // As it is where nobody knows what a kernel touches. Of an application's pool that is too much.
    const bool is_rest = offset > 0 && touched.size() == 1 && touched.front().begin == 0 &&
                         touched.front().end == own->size() - offset;
    if (moves && (is_rest || std::min(bytesOf(touched), own->size()) > room)) {
      own->noteInVain();
      continue;
    }
    for (const TouchedRange& range : touched)
      if (moves)
        own->takeFromHost(offset + range.begin, offset + range.end, taken);
      else
        own->giveToHost(offset + range.begin, offset + range.end);
    for (const auto& [begin, end] : taken) {
      parts.push_back({own->storage().find(c.memory_space), begin, end - begin});
      room -= std::min<uint64_t>(room, end - begin);
    }
  }
  return parts;
}

port::Operation::Work LaunchWork::make(port::MemorySpace space, Code code,
                                       const port::GroupBox& box, LaunchArguments& room) const {
  if (record.group_count[0] * record.group_count[1] * record.group_count[2] == 0) return {};
  const auto& values = arguments.values;
  room.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    port::LaunchArgument& argument = room[i];
    argument.kind = info().arguments[i].kind;
    if (argument.kind == ArgumentKind::image)
      argument.value = &static_cast<PixelImage&>(*values[i].memory()).descriptor();
    if (hasMemory(argument.kind)) {
      if (MemObject* object = values[i].memory(); object && !argument.memory) {
        argument.memory = &object->storage().in(space);
        argument.offset = object->origin();
      }
      argument.raw_address = reinterpret_cast<uint64_t>(values[i].shared());
    } else if (argument.kind == ArgumentKind::local_pointer) {
      argument.size = values[i].localBytes();
    } else {
      argument.value = values[i].bytes().data();
      argument.size = values[i].bytes().size();
    }
  }
  return port::Launch{&code.module, code.kernel, &record, box, room, arguments.defaultQueue()};
}

}  // namespace weft
