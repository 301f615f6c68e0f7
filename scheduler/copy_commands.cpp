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
  size_t row_pitch = 0;
  size_t slice_pitch = 0;

  port::Location in(port::MemorySpace space) const {
    port::Location location;
    if (object)
      location = locate(*object, space, object->origin() + offset);
    else
      location.host = host + offset;
    location.row_pitch = row_pitch;
    location.slice_pitch = slice_pitch;
    return location;
  }

  // The bytes between the first and the last that a copy of `region` touches.
  Access access(const Region& region, bool reads, bool writes) const {
    const size_t begin = object->origin() + offset;
    const size_t span = (region[2] - 1) * slice_pitch + (region[1] - 1) * row_pitch + region[0];
    return {object.get(), begin, begin + span, reads, writes};
  }

  // Are all bytes of that span in the region?
  bool contiguous(const Region& region) const {
    return (region[1] == 1 || row_pitch == region[0]) &&
           (region[2] == 1 || slice_pitch == region[0] * region[1]);
  }
};

End linear(MemObject& object, size_t offset) {
  return {Ref<MemObject>(&object), nullptr, offset, 0, 0};
}
End linear(const void* host) {
  return {nullptr, static_cast<std::byte*>(const_cast<void*>(host)), 0, 0, 0};
}
End rect(MemObject& object, const RectLayout& layout) {
  return {Ref<MemObject>(&object), nullptr, layout.offset(), layout.row_pitch, layout.slice_pitch};
}
End rect(const void* host, const RectLayout& layout) {
  return {nullptr, static_cast<std::byte*>(const_cast<void*>(host)), layout.offset(),
          layout.row_pitch, layout.slice_pitch};
}

class CopyCommand final : public Command {
 public:
  CopyCommand(Queue& queue, cl_command_type type, End source, End destination, const Region& region)
      : Command(queue, type),
        source_(std::move(source)),
        destination_(std::move(destination)),
        region_(region) {}

 private:
  void accesses(std::vector<Access>& list) override {
    if (source_.object) list.push_back(source_.access(region_, true, false));
    if (destination_.object)
      list.push_back(destination_.access(region_, !destination_.contiguous(region_), true));
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
  FillCommand(Queue& queue, Buffer& buffer, const void* pattern, size_t pattern_size, size_t offset,
              size_t size)
      : Command(queue, CL_COMMAND_FILL_BUFFER),
        buffer_(&buffer),
        begin_(buffer.origin() + offset),
        size_(size),
        pattern_size_(pattern_size) {
    std::memcpy(pattern_.data(), pattern, pattern_size);
  }

 private:
  void accesses(std::vector<Access>& list) override {
    list.push_back({buffer_.get(), begin_, begin_ + size_, false, true});
  }
  void prepare() override {
    if (size_ == 0) return;
    work = port::Fill{&buffer_->storage().in(space()), begin_, size_, pattern_, pattern_size_};
  }
  void finalize(cl_int) noexcept override { buffer_ = nullptr; }

  Ref<MemObject> buffer_;
  size_t begin_;
  size_t size_;
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

Ref<Event> enqueueReadRect(Queue& queue, Buffer& buffer, const RectLayout& buffer_layout,
                           const RectLayout& host_layout, const Region& region, void* destination,
                           WaitList waits) {
  return enqueueCopyCommand(queue, CL_COMMAND_READ_BUFFER_RECT, rect(buffer, buffer_layout),
                            rect(destination, host_layout), region, waits);
}

Ref<Event> enqueueWriteRect(Queue& queue, Buffer& buffer, const RectLayout& buffer_layout,
                            const RectLayout& host_layout, const Region& region, const void* source,
                            WaitList waits) {
  return enqueueCopyCommand(queue, CL_COMMAND_WRITE_BUFFER_RECT, rect(source, host_layout),
                            rect(buffer, buffer_layout), region, waits);
}

Ref<Event> enqueueCopy(Queue& queue, Buffer& source, Buffer& destination, size_t source_offset,
                       size_t destination_offset, size_t size, WaitList waits) {
  return enqueueCopyCommand(queue, CL_COMMAND_COPY_BUFFER, linear(source, source_offset),
                            linear(destination, destination_offset), {size, 1, 1}, waits);
}

Ref<Event> enqueueCopyRect(Queue& queue, Buffer& source, Buffer& destination,
                           const RectLayout& source_layout, const RectLayout& destination_layout,
                           const Region& region, WaitList waits) {
  return enqueueCopyCommand(queue, CL_COMMAND_COPY_BUFFER_RECT, rect(source, source_layout),
                            rect(destination, destination_layout), region, waits);
}

Ref<Event> enqueueFill(Queue& queue, Buffer& buffer, const void* pattern, size_t pattern_size,
                       size_t offset, size_t size, WaitList waits) {
  return enqueueCommand<FillCommand>(waits, queue, buffer, pattern, pattern_size, offset, size);
}

}  // namespace weft
