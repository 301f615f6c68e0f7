#include "scheduler/command_buffer.h"

#include <algorithm>

namespace weft {

Geometry Geometry::of(const NDRange& range) {
  Geometry geometry;
  geometry.dimensions = range.dimensions;
  geometry.has_global = range.global != nullptr;
  geometry.has_local = range.local != nullptr;
  const auto copy = [&](const size_t* from, Sizes& to) {
    if (from) std::copy_n(from, range.dimensions, to.begin());
  };
  copy(range.offset, geometry.offset);
  copy(range.global, geometry.global);
  copy(range.local, geometry.local);
  return geometry;
}

bool Geometry::isUniform() const {
  for (cl_uint d = 0; has_local && d < dimensions; ++d)
    if (local[d] != 0 && global[d] % local[d] != 0) return false;
  return true;
}

// The queue is the application's as long as the buffer is: it may be enqueued there at any time.
CommandBuffer::CommandBuffer(Ref<Queue> queue, cl_bitfield flags, cl_bitfield asserts,
                             std::vector<cl_command_buffer_properties_khr> properties)
    : queue_(std::move(queue)),
      flags_(flags),
      asserts_(asserts),
      properties_(std::move(properties)) {
  queue_->retainHandle();
}

CommandBuffer::~CommandBuffer() { queue_->releaseHandle(); }

cl_uint CommandBuffer::state() const {
  const auto contents = contents_.lock();
  if (!contents->finalized) return khr::state_recording;
  return contents->missing > 0 ? khr::state_finalized : khr::state_executable;
}

cl_sync_point_khr CommandBuffer::record(Ref<const RecordedWork> work, SyncPoints waits) {
  auto contents = contents_.lock();
  const bool barrier = !work;
  return append(*contents, std::move(work), barrier, waits);
}

cl_sync_point_khr CommandBuffer::record(Ref<MutableCommand> command, Ref<const RecordedWork> work,
                                        SyncPoints waits) {
  auto contents = contents_.lock();
  contents->handles.reserve(contents->handles.size() + 1);
  const bool complete = static_cast<bool>(work);
  const cl_sync_point_khr point = append(*contents, std::move(work), false, waits);
  command->index_ = point - 1;
  contents->handles.push_back(std::move(command));
  if (!complete) ++contents->missing;
  return point;
}

// A point is the number of its command, from 1 on: 0 is none.
// "If the queue is an in-order queue, then an additional dependency is created on the last command
// appended to the command-buffer": what was recorded before is then waited for already.
cl_sync_point_khr CommandBuffer::append(Contents& contents, Ref<const RecordedWork> work,
                                        bool barrier, SyncPoints waits) const {
  require(!contents.finalized, CL_INVALID_OPERATION, "the command buffer was finalized");
  const auto index = static_cast<uint32_t>(contents.works.size());
  for (const cl_sync_point_khr point : waits)
    require(point >= 1 && point <= index, khr::invalid_sync_point_wait_list, "no such point");
  auto& edges = contents.edges;
  const bool waits_for_all = barrier && waits.empty();
  if (!queue_->outOfOrder()) {
    if (index > 0) edges.emplace_back(index - 1, index);
  } else if (waits_for_all) {
    for (uint32_t i = contents.full_barrier; i < index; ++i) edges.emplace_back(i, index);
  } else {
    for (const cl_sync_point_khr point : waits) edges.emplace_back(point - 1, index);
    if (contents.barrier) edges.emplace_back(*contents.barrier, index);
  }
  contents.works.push_back(std::move(work));
  if (barrier) contents.barrier = index;
  if (waits_for_all) contents.full_barrier = index;
  return index + 1;
}

Recordings CommandBuffer::recordingsOf(const Contents& contents) const {
  if (contents.missing > 0) return {};
  return makeRecordings(context(), queue_->device(), contents.works, contents.edges);
}

void CommandBuffer::finalize() {
  auto contents = contents_.lock();
  require(!contents->finalized, CL_INVALID_OPERATION, "the command buffer was finalized");
  contents->recordings = recordingsOf(*contents);
  contents->finalized = true;
}

Ref<Event> CommandBuffer::enqueue(Queue& queue, WaitList waits) {
  const Recordings recordings = contents_.with([](const Contents& contents) {
    require(contents.finalized && contents.missing == 0, CL_INVALID_OPERATION,
            "the command buffer is not executable");
    return contents.recordings;
  });
  return enqueueRecordings(queue, recordings, waits);
}

// What is under way keeps what it was enqueued with. What is replaced goes when the lock is
// dropped.
void CommandBuffer::update(std::span<Update> updates) {
  Contents changed;
  auto contents = contents_.lock();
  changed.works = contents->works;
  changed.edges = contents->edges;
  changed.missing = contents->missing;
  for (const Update& update : updates) {
    Ref<const RecordedWork>& work = changed.works[update.command->index_];
    if (!work && update.work) --changed.missing;
    work = update.work;
  }
  changed.recordings = recordingsOf(changed);
  contents->recordings.swap(changed.recordings);
  contents->works.swap(changed.works);
  contents->missing = changed.missing;
  for (Update& update : updates) std::swap(update.command->launch_, update.launch);
}

MutableCommand::Launch MutableCommand::launch() const {
  const auto contents = owner_.contents_.lock();
  return launch_;
}

}  // namespace weft
