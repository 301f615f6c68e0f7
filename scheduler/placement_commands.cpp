// Commands that run nothing themselves: map, unmap, migrate, marker, barrier. Their work is what
// residency and the graph do for them. Specification 5.5, 5.7, 5.13.
#include "scheduler/command.h"
#include "scheduler/enqueue.h"

namespace weft {
namespace {

// Makes bytes valid for the host, or takes back what the host wrote.
class MapCommand final : public Command {
 public:
  MapCommand(Queue& queue, cl_command_type type, MemObject& object, const Mapping& mapping)
      : Command(queue, type), object_(&object), mapping_(mapping) {
    setSpace(port::host_space);
  }

 private:
  void accesses(std::vector<Access>& list) override {
    const bool writes = mapping_.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
    const bool reads = !(mapping_.flags & CL_MAP_WRITE_INVALIDATE_REGION);
    const bool unmap = type() == CL_COMMAND_UNMAP_MEM_OBJECT;
    if (unmap && (!writes || !mapping_.made->load(std::memory_order_acquire))) return;
    list.push_back(
        {object_.get(), mapping_.offset, mapping_.offset + mapping_.size, reads && !unmap, writes});
  }
  void finalize(cl_int status) noexcept override {
    if (status == CL_COMPLETE)
      mapping_.made->store(true, std::memory_order_release);
    else if (type() == CL_COMMAND_MAP_BUFFER)
      object_->storage().releaseClaim(mapping_.made.get());
    object_ = nullptr;
  }

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
  void accesses(std::vector<Access>& list) override {
    const bool undefined = flags_ & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    for (const auto& object : objects_)
      list.push_back({object.get(), object->origin(), object->origin() + object->size(), !undefined,
                      undefined});
  }
  void finalize(cl_int) noexcept override { objects_.clear(); }

  std::vector<Ref<MemObject>> objects_;
  cl_mem_migration_flags flags_;
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

Mapped enqueueMapOf(Queue& queue, cl_command_type type, MemObject& object, Mapping mapping,
                    WaitList waits) {
  try {
    mapping.pointer = object.storage().in(port::host_space).host() + mapping.offset;
  } catch (const Error&) {
    throw Error(CL_MAP_FAILURE, "no host memory to map the object into");
  }
  object.addMapping(mapping);
  auto event = enqueueCommand<MapCommand>(waits, queue, type, object, mapping);
  return {mapping.pointer, std::move(event)};
}

}  // namespace

Mapped enqueueMap(Queue& queue, Buffer& buffer, cl_map_flags flags, size_t offset, size_t size,
                  WaitList waits) {
  const Mapping mapping{nullptr, buffer.origin() + offset, size, flags};
  // "CL_INVALID_OPERATION if mapping would lead to overlapping regions being mapped for writing."
  if (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
    buffer.storage().claimForWriting(mapping.offset, mapping.offset + size, mapping.made.get());
  try {
    return enqueueMapOf(queue, CL_COMMAND_MAP_BUFFER, buffer, mapping, waits);
  } catch (...) {
    buffer.storage().releaseClaim(mapping.made.get());
    throw;
  }
}

Mapped enqueueMapRect(Queue& queue, PixelImage& image, cl_map_flags flags, const RectLayout& layout,
                      const Region& region, WaitList waits) {
  // What lies between the rows is not mapped, so it must keep its contents.
  if (!isContiguous(layout, region) && flags & CL_MAP_WRITE_INVALIDATE_REGION) flags = CL_MAP_WRITE;
  return enqueueMapOf(queue, CL_COMMAND_MAP_IMAGE, image,
                      {nullptr, image.origin() + layout.offset(), spanOf(layout, region), flags},
                      waits);
}

Ref<Event> enqueueUnmap(Queue& queue, MemObject& object, void* pointer, WaitList waits) {
  const Mapping mapping = object.removeMapping(pointer);
  return enqueueCommand<MapCommand>(waits, queue, CL_COMMAND_UNMAP_MEM_OBJECT, object, mapping);
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
