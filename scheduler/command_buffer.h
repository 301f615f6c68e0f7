// cl_khr_command_buffer: commands that are recorded once and enqueued as one, and
// cl_khr_command_buffer_mutable_dispatch: launches among them that change in between.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/handle.h"
#include "core/kernel.h"
#include "scheduler/enqueue.h"
#include "scheduler/recording.h"

namespace weft {

// An NDRange with its numbers.
struct Geometry {
  using Sizes = std::array<size_t, 3>;

  cl_uint dimensions = 1;
  Sizes offset{}, global{}, local{};
  bool has_global = false;
  bool has_local = false;

  static Geometry of(const NDRange& range);
  NDRange range() const {
    return {dimensions, offset.data(), has_global ? global.data() : nullptr,
            has_local ? local.data() : nullptr};
  }
  // Are all work-groups of the size that was asked for?
  bool isUniform() const;
};

class CommandBuffer;

// A launch in a command buffer to which the application has a handle; its buffer's, and gone with
// it.
class MutableCommand final : public HandleObject<_cl_mutable_command_khr> {
 public:
  // What an update may change.
  struct Launch {
    Ref<Kernel> kernel;  // a copy, with the arguments of its own
    Geometry geometry;
  };

  // `fields`: bits of what may be changed.
  MutableCommand(CommandBuffer& owner, Ref<Kernel> recorded, Launch launch, cl_bitfield fields,
                 std::vector<cl_command_properties_khr> properties)
      : owner_(owner),
        recorded_(std::move(recorded)),
        fields_(fields),
        properties_(std::move(properties)),
        launch_(std::move(launch)) {}

  CommandBuffer& owner() const { return owner_; }
  Kernel& recordedKernel() const { return *recorded_; }
  cl_bitfield fields() const { return fields_; }
  const std::vector<cl_command_properties_khr>& properties() const { return properties_; }
  // As it is by now.
  Launch launch() const;

 private:
  friend class CommandBuffer;

  CommandBuffer& owner_;
  Ref<Kernel> recorded_;
  cl_bitfield fields_;
  std::vector<cl_command_properties_khr> properties_;
  Launch launch_;       // under the owner's lock
  uint32_t index_ = 0;  // among the owner's commands
};

// Thread-safe.
class CommandBuffer final : public HandleObject<_cl_command_buffer_khr> {
 public:
  using SyncPoints = std::span<const cl_sync_point_khr>;

  // `properties` is the list as passed, 0-terminated, or empty.
  CommandBuffer(Ref<Queue> queue, cl_bitfield flags, cl_bitfield asserts,
                std::vector<cl_command_buffer_properties_khr> properties);

  Context& context() const { return queue_->context(); }
  Queue& queue() const { return *queue_; }
  bool isMutable() const { return flags_ & khr::flag_mutable; }
  cl_bitfield asserts() const { return asserts_; }
  const std::vector<cl_command_buffer_properties_khr>& properties() const { return properties_; }
  // CL_COMMAND_BUFFER_STATE_*.
  cl_uint state() const;

  // Appends a command, or with null a barrier. Throws CL_INVALID_OPERATION when the buffer was
  // finalized, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR for points that it does not have.
  cl_sync_point_khr record(Ref<const RecordedWork> work, SyncPoints waits);
  // The same for a launch that has a handle. It may have no work yet.
  cl_sync_point_khr record(Ref<MutableCommand> command, Ref<const RecordedWork> work,
                           SyncPoints waits);
  // Throws CL_INVALID_OPERATION when it was.
  void finalize();
  // `queue` is one of the context and of the device. Throws CL_INVALID_OPERATION unless the buffer
  // is executable.
  Ref<Event> enqueue(Queue& queue, WaitList waits);

  // A launch as it is to be from the next enqueue on, without work where arguments are missing.
  struct Update {
    MutableCommand* command;
    MutableCommand::Launch launch;
    Ref<const RecordedWork> work;
  };
  // All of them, or none if it throws.
  void update(std::span<Update> updates);

 private:
  struct Contents {
    std::vector<Ref<const RecordedWork>> works;  // null: a barrier, or a launch without arguments
    std::vector<RecordedEdge> edges;
    std::vector<Ref<MutableCommand>> handles;
    uint32_t missing = 0;  // launches that still lack arguments
    bool finalized = false;
    Recordings recordings;  // when it is executable
    // In an out-of-order queue: the last barrier, and the last that waits for all before it.
    std::optional<uint32_t> barrier;
    uint32_t full_barrier = 0;
  };

  friend class MutableCommand;

  ~CommandBuffer() override;
  cl_sync_point_khr append(Contents& contents, Ref<const RecordedWork> work, bool barrier,
                           SyncPoints waits) const;
  Recordings recordingsOf(const Contents& contents) const;

  Ref<Queue> queue_;
  cl_bitfield flags_;
  cl_bitfield asserts_;
  std::vector<cl_command_buffer_properties_khr> properties_;
  mutable Guarded<Contents> contents_;
};

}  // namespace weft
