// Reads, writes, copies and fills of buffers. Specification 5.2.2 to 5.2.4.
#include "scheduler/command.h"
#include "scheduler/enqueue.h"
#include "scheduler/knowledge.h"
#include "scheduler/work.h"

namespace weft {
namespace {

class CopyCommand final : public Command {
 public:
  CopyCommand(Queue& queue, cl_command_type type, CopyWork work)
      : Command(queue, type), copy_(std::move(work)) {}

 private:
  void accesses(AccessList& list) override { copy_.accesses(list); }
  // A read to the host needs nothing of its queue's device.
  bool runsWhereTheBytesAre() const override {
    return (copy_.source.object && !copy_.destination.object) || balances(*queue());
  }
  bool isDeviceWork() const override { return true; }
  void prepare() override { work = copy_.make(space()); }
  void finalize(cl_int) noexcept override { copy_.drop(); }

  CopyWork copy_;
};

class FillCommand final : public Command {
 public:
  FillCommand(Queue& queue, cl_command_type type, FillWork work)
      : Command(queue, type), fill_(std::move(work)) {}

 private:
  void accesses(AccessList& list) override { fill_.accesses(list); }
  bool runsWhereTheBytesAre() const override { return balances(*queue()); }
  bool isDeviceWork() const override { return true; }
  void prepare() override { work = fill_.make(space()); }
  void finalize(cl_int) noexcept override { fill_.drop(); }

  FillWork fill_;
};

Ref<Event> enqueueCopyCommand(Queue& queue, cl_command_type type, CopyEnd source,
                              CopyEnd destination, const Region& region, WaitList waits) {
  return enqueueCommand<CopyCommand>(waits, queue, type,
                                     CopyWork{std::move(source), std::move(destination), region});
}

}  // namespace

Ref<Event> enqueueWork(Queue& queue, cl_command_type type, CopyWork work, WaitList waits) {
  return enqueueCommand<CopyCommand>(waits, queue, type, std::move(work));
}

Ref<Event> enqueueWork(Queue& queue, cl_command_type type, FillWork work, WaitList waits) {
  return enqueueCommand<FillCommand>(waits, queue, type, std::move(work));
}

Ref<Event> enqueueRead(Queue& queue, Buffer& buffer, size_t offset, size_t size, void* destination,
                       WaitList waits) {
  return enqueueCopyCommand(queue, CL_COMMAND_READ_BUFFER, CopyEnd::linear(buffer, offset),
                            CopyEnd::linear(destination), {size, 1, 1}, waits);
}

Ref<Event> enqueueWrite(Queue& queue, Buffer& buffer, size_t offset, size_t size,
                        const void* source, WaitList waits) {
  return enqueueCopyCommand(queue, CL_COMMAND_WRITE_BUFFER, CopyEnd::linear(source),
                            CopyEnd::linear(buffer, offset), {size, 1, 1}, waits);
}

Ref<Event> enqueueReadRect(Queue& queue, MemObject& object, const RectLayout& object_layout,
                           const RectLayout& host_layout, const Region& region, void* destination,
                           WaitList waits, cl_command_type type) {
  return enqueueCopyCommand(queue, type, CopyEnd::rect(object, object_layout),
                            CopyEnd::rect(destination, host_layout), region, waits);
}

Ref<Event> enqueueWriteRect(Queue& queue, MemObject& object, const RectLayout& object_layout,
                            const RectLayout& host_layout, const Region& region, const void* source,
                            WaitList waits, cl_command_type type) {
  return enqueueCopyCommand(queue, type, CopyEnd::rect(source, host_layout),
                            CopyEnd::rect(object, object_layout), region, waits);
}

Ref<Event> enqueueCopy(Queue& queue, Buffer& source, Buffer& destination, size_t source_offset,
                       size_t destination_offset, size_t size, WaitList waits) {
  return enqueueCopyCommand(queue, CL_COMMAND_COPY_BUFFER, CopyEnd::linear(source, source_offset),
                            CopyEnd::linear(destination, destination_offset), {size, 1, 1}, waits);
}

Ref<Event> enqueueCopyRect(Queue& queue, MemObject& source, MemObject& destination,
                           const RectLayout& source_layout, const RectLayout& destination_layout,
                           const Region& region, WaitList waits, cl_command_type type) {
  return enqueueCopyCommand(queue, type, CopyEnd::rect(source, source_layout),
                            CopyEnd::rect(destination, destination_layout), region, waits);
}

Ref<Event> enqueueFill(Queue& queue, Buffer& buffer, const void* pattern, size_t pattern_size,
                       size_t offset, size_t size, WaitList waits) {
  const RectLayout layout{{offset, 0, 0}, size, size};
  return enqueueCommand<FillCommand>(
      waits, queue, CL_COMMAND_FILL_BUFFER,
      FillWork(buffer, pattern, pattern_size, layout, Region{size, 1, 1}));
}

Ref<Event> enqueueFillRect(Queue& queue, PixelImage& image, const void* pattern,
                           size_t pattern_size, const RectLayout& layout, const Region& region,
                           WaitList waits) {
  return enqueueCommand<FillCommand>(waits, queue, CL_COMMAND_FILL_IMAGE,
                                     FillWork(image, pattern, pattern_size, layout, region));
}

}  // namespace weft
