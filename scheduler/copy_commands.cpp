// Reads, writes, copies and fills of buffers. Specification 5.2.2 to 5.2.4.
#include <cstring>

#include "scheduler/command.h"
#include "scheduler/enqueue.h"

namespace weft {
namespace {

// One end of a copy: bytes of an object, or of host memory.
struct End {
  Ref<MemObject> object;
  std::byte* host = nullptr;
  size_t offset = 0;  // from the object's own start
  RectLayout pitches{};

  port::Location in(port::MemorySpace space) const {
    port::Location location;
    if (object)
      location = locate(*object, space, object->origin() + offset);
    else
      location.host = host + offset;
    location.row_pitch = pitches.row_pitch;
    location.slice_pitch = pitches.slice_pitch;
    return location;
  }
};

End linear(MemObject& object, size_t offset) { return {Ref<MemObject>(&object), nullptr, offset}; }
End linear(const void* host) { return {nullptr, static_cast<std::byte*>(const_cast<void*>(host))}; }
End rect(MemObject& object, const RectLayout& layout) {
  return {Ref<MemObject>(&object), nullptr, layout.offset(), layout};
}
End rect(const void* host, const RectLayout& layout) {
  return {nullptr, static_cast<std::byte*>(const_cast<void*>(host)), layout.offset(), layout};
}

class CopyCommand final : public Command {
 public:
  CopyCommand(Queue& queue, cl_command_type type, End source, End destination, const Region& region)
      : Command(queue, type),
        source_(std::move(source)),
        destination_(std::move(destination)),
        region_(region) {}

 private:
  void accesses(AccessList& list) override {
    append(list, source_, false);
    append(list, destination_, true);
  }
  void append(AccessList& list, const End& end, bool writes) const {
    if (!end.object) return;
    const size_t begin = end.object->origin() + end.offset;
    appendRows(list, *end.object, toRows(begin, end.pitches, region_), !writes, writes);
  }
  bool runsWhereTheBytesAre() const override { return source_.object && !destination_.object; }
  void prepare() override {
    work = port::Copy{source_.in(space()), destination_.in(space()), region_};
  }
  void finalize(cl_int) noexcept override {
    source_.object = nullptr;
    destination_.object = nullptr;
  }

  End source_;
  End destination_;
  Region region_;
};

class FillCommand final : public Command {
 public:
  FillCommand(Queue& queue, cl_command_type type, MemObject& object, const void* pattern,
              size_t pattern_size, const RectLayout& layout, const Region& region)
      : Command(queue, type),
        object_(&object),
        layout_(layout),
        region_(region),
        pattern_size_(pattern_size) {
    std::memcpy(pattern_.data(), pattern, pattern_size);
    if (!isContiguous(layout_, region_)) return;
    region_ = {region_[0] * region_[1] * region_[2], 1, 1};
  }

 private:
  size_t begin() const { return object_->origin() + layout_.offset(); }

  void accesses(AccessList& list) override {
    appendRows(list, *object_, toRows(begin(), layout_, region_), false, true);
  }
  void prepare() override {
    if (region_[0] == 0) return;
    work = port::Fill{&object_->storage().in(space()),
                      begin(),
                      region_[0],
                      pattern_.data(),
                      pattern_size_,
                      region_[1],
                      region_[2],
                      layout_.row_pitch,
                      layout_.slice_pitch};
  }
  void finalize(cl_int) noexcept override { object_ = nullptr; }

  Ref<MemObject> object_;
  RectLayout layout_;
  Region region_;
  std::array<std::byte, 128> pattern_{};
  size_t pattern_size_;
};

Ref<Event> enqueueCopyCommand(Queue& queue, cl_command_type type, End source, End destination,
                              const Region& region, WaitList waits) {
  return enqueueCommand<CopyCommand>(waits, queue, type, std::move(source), std::move(destination),
                                     region);
}

}  // namespace

Ref<Event> enqueueRead(Queue& queue, Buffer& buffer, size_t offset, size_t size, void* destination,
                       WaitList waits) {
  return enqueueCopyCommand(queue, CL_COMMAND_READ_BUFFER, linear(buffer, offset),
                            linear(destination), {size, 1, 1}, waits);
}

Ref<Event> enqueueWrite(Queue& queue, Buffer& buffer, size_t offset, size_t size,
                        const void* source, WaitList waits) {
  return enqueueCopyCommand(queue, CL_COMMAND_WRITE_BUFFER, linear(source), linear(buffer, offset),
                            {size, 1, 1}, waits);
}

Ref<Event> enqueueReadRect(Queue& queue, MemObject& object, const RectLayout& object_layout,
                           const RectLayout& host_layout, const Region& region, void* destination,
                           WaitList waits, cl_command_type type) {
  return enqueueCopyCommand(queue, type, rect(object, object_layout),
                            rect(destination, host_layout), region, waits);
}

Ref<Event> enqueueWriteRect(Queue& queue, MemObject& object, const RectLayout& object_layout,
                            const RectLayout& host_layout, const Region& region, const void* source,
                            WaitList waits, cl_command_type type) {
  return enqueueCopyCommand(queue, type, rect(source, host_layout), rect(object, object_layout),
                            region, waits);
}

Ref<Event> enqueueCopy(Queue& queue, Buffer& source, Buffer& destination, size_t source_offset,
                       size_t destination_offset, size_t size, WaitList waits) {
  return enqueueCopyCommand(queue, CL_COMMAND_COPY_BUFFER, linear(source, source_offset),
                            linear(destination, destination_offset), {size, 1, 1}, waits);
}

Ref<Event> enqueueCopyRect(Queue& queue, MemObject& source, MemObject& destination,
                           const RectLayout& source_layout, const RectLayout& destination_layout,
                           const Region& region, WaitList waits, cl_command_type type) {
  return enqueueCopyCommand(queue, type, rect(source, source_layout),
                            rect(destination, destination_layout), region, waits);
}

Ref<Event> enqueueFill(Queue& queue, Buffer& buffer, const void* pattern, size_t pattern_size,
                       size_t offset, size_t size, WaitList waits) {
  const RectLayout layout{{offset, 0, 0}, size, size};
  return enqueueCommand<FillCommand>(waits, queue, CL_COMMAND_FILL_BUFFER, buffer, pattern,
                                     pattern_size, layout, Region{size, 1, 1});
}

Ref<Event> enqueueFillRect(Queue& queue, PixelImage& image, const void* pattern,
                           size_t pattern_size, const RectLayout& layout, const Region& region,
                           WaitList waits) {
  return enqueueCommand<FillCommand>(waits, queue, CL_COMMAND_FILL_IMAGE, image, pattern,
                                     pattern_size, layout, region);
}

}  // namespace weft
