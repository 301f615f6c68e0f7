// Commands that run nothing themselves: map, unmap, migrate, marker, barrier. Their work is what
// residency and the graph do for them. Specification 5.5, 5.7, 5.13.
#include "core/ports/processors.h"
#include "scheduler/command.h"
#include "scheduler/enqueue.h"

namespace weft {
namespace {

// Makes bytes valid for the host.
class MapCommand final : public Command {
 public:
  MapCommand(Queue& queue, cl_command_type type, MemObject& object, Mapping mapping)
      : Command(queue, type), object_(&object), mapping_(std::move(mapping)) {
    setSpace(port::host_space);
  }

 private:
  void accesses(AccessList& list) override {
    const bool reads = !(mapping_.flags & CL_MAP_WRITE_INVALIDATE_REGION);
    appendRows(list, *object_, mapping_.rows, reads, mapping_.writes());
  }
  void finalize(cl_int status) noexcept override {
    if (status == CL_COMPLETE)
      mapping_.become(Mapping::State::made);
    else
      object_->failMapping(mapping_);
    object_ = nullptr;
  }

  Ref<MemObject> object_;
  Mapping mapping_;
};

// Takes what the host wrote, and not what lies between its rows: others may have written there
// since it was mapped. What was never mapped is not written by unmapping it.
class UnmapCommand final : public Command {
 public:
  UnmapCommand(Queue& queue, MemObject& object, Mapping mapping)
      : Command(queue, CL_COMMAND_UNMAP_MEM_OBJECT),
        object_(&object),
        mapping_(std::move(mapping)) {
    setSpace(port::host_space);
  }

 private:
  void accesses(AccessList& list) override {
    const ByteRows& rows = mapping_.rows;
    if (mapping_.writes() && mapping_.state() == Mapping::State::made)
      list.push_back({object_.get(), rows.begin, rows.end(), false, true, &rows});
  }
  // It may still be about to be mapped.
  bool forecast(AccessList& list) override {
    const ByteRows& rows = mapping_.rows;
    if (mapping_.writes()) list.push_back({object_.get(), rows.begin, rows.end(), false, true});
    return false;
  }
  void finalize(cl_int) noexcept override { object_ = nullptr; }

  Ref<MemObject> object_;
  Mapping mapping_;
};

class MigrateCommand final : public Command {
 public:
  MigrateCommand(Queue& queue, std::span<MemObject* const> objects, cl_mem_migration_flags flags)
      : Command(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS), flags_(flags) {
    for (MemObject* object : objects) objects_.emplace_back(object);
    if (flags & CL_MIGRATE_MEM_OBJECT_HOST) setSpace(port::host_space);
  }

 private:
  void accesses(AccessList& list) override {
    const bool undefined = flags_ & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    for (const auto& object : objects_)
      list.push_back({object.get(), object->origin(), object->origin() + object->size(), !undefined,
                      undefined});
  }
  // Devices that share their memory may still be nearer to some of it than to other.
  void prepare() override {
    const bool to_host = flags_ & CL_MIGRATE_MEM_OBJECT_HOST;
    if (to_host || !port::hasProcessors(queue()->device().capabilities())) return;
    for (const auto& object : objects_) {
      port::Memory& memory = object->storage().in(space());
      parts_.push_back({&memory, 0, memory.size()});
    }
    work = port::Prefetch{parts_};
  }
  void finalize(cl_int) noexcept override { objects_.clear(); }

  std::vector<Ref<MemObject>> objects_;
  cl_mem_migration_flags flags_;
  std::vector<port::Prefetch::Part> parts_;
};

}  // namespace

class MarkerCommand final : public Command {
 public:
  MarkerCommand(Queue& queue, cl_command_type type) : Command(queue, type) {}

 private:
  Queue::Ordering ordering() const override {
    return type() == CL_COMMAND_BARRIER ? Queue::Ordering::barrier : Queue::Ordering::marker;
  }
};

namespace {

Mapped enqueueMapOf(Queue& queue, cl_command_type type, MemObject& object, const ByteRows& rows,
                    cl_map_flags flags, WaitList waits) {
  Mapping mapping{nullptr, rows, flags};
  try {
    mapping.pointer = object.storage().in(port::host_space).host() + rows.begin;
  } catch (const Error&) {
    throw Error(CL_MAP_FAILURE, "no host memory to map the object into");
  }
  try {
    object.addMapping(mapping);
    return {mapping, enqueueCommand<MapCommand>(waits, queue, type, object, mapping)};
  } catch (...) {
    object.dropMapping(mapping);
    throw;
  }
}

}  // namespace

Mapped enqueueMap(Queue& queue, Buffer& buffer, cl_map_flags flags, size_t offset, size_t size,
                  WaitList waits) {
  return enqueueMapOf(queue, CL_COMMAND_MAP_BUFFER, buffer, {buffer.origin() + offset, size}, flags,
                      waits);
}

Mapped enqueueMapRect(Queue& queue, PixelImage& image, cl_map_flags flags, const RectLayout& layout,
                      const Region& region, WaitList waits) {
  return enqueueMapOf(queue, CL_COMMAND_MAP_IMAGE, image,
                      toRows(image.origin() + layout.offset(), layout, region), flags, waits);
}

Ref<Event> enqueueUnmap(Queue& queue, MemObject& object, void* pointer, WaitList waits) {
  return enqueueCommand<UnmapCommand>(waits, queue, object, object.removeMapping(pointer));
}

Ref<Event> enqueueMigrate(Queue& queue, std::span<MemObject* const> objects,
                          cl_mem_migration_flags flags, WaitList waits) {
  return enqueueCommand<MigrateCommand>(waits, queue, objects, flags);
}

Ref<Event> enqueueMarker(Queue& queue, WaitList waits) {
  return enqueueCommand<MarkerCommand>(waits, queue, CL_COMMAND_MARKER);
}

Ref<Event> enqueueBarrier(Queue& queue, WaitList waits) {
  return enqueueCommand<MarkerCommand>(waits, queue, CL_COMMAND_BARRIER);
}

}  // namespace weft
