// A finalized command buffer: commands with the edges between them, and all that they touch
// together, worked out once. Immutable, so any number of executions may be under way at a time.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/guarded.h"
#include "scheduler/work.h"

namespace weft {

// What a recorded command does. Immutable.
class RecordedWork : public Object {
 public:
  // What an operation points at besides the work.
  struct Room {
    LaunchArguments arguments;
    std::unique_ptr<port::Memory> imported;
    std::vector<port::MemoryPart> moved;
  };

  virtual cl_command_type type() const = 0;
  virtual std::string what() const = 0;
  virtual void accesses(AccessList& list) const = 0;
  virtual port::Operation::Work make(Device& device, Room& room) const = 0;
  // Does it touch shared virtual memory? Then noteMoves() has to be called before each time that
  // what make() gave is submitted, as it is for a launch of a queue.
  virtual bool usesSvm() const { return false; }
  virtual void noteMoves(const Device&, port::Operation::Work&, Room&) const {}
  // The same as a command of a queue of the device that it was recorded for.
  virtual Ref<Event> enqueue(Queue& queue, WaitList waits) const = 0;
  // Is it more than one operation there, so that nothing but a command can do it?
  virtual bool isFamily(const Device& device) const = 0;
};

template <class W>
class RecordedWorkOf final : public RecordedWork {
 public:
  explicit RecordedWorkOf(W work) : work_(std::move(work)) {}

  cl_command_type type() const override {
    if constexpr (std::is_same_v<W, CopyWork> || std::is_same_v<W, FillWork>) return work_.type();
    if constexpr (std::is_same_v<W, SvmCopyWork>) return CL_COMMAND_SVM_MEMCPY;
    if constexpr (std::is_same_v<W, SvmFillWork>) return CL_COMMAND_SVM_MEMFILL;
    return CL_COMMAND_NDRANGE_KERNEL;
  }
  std::string what() const override {
    if constexpr (std::is_same_v<W, LaunchWork>) return "kernel " + work_.info().name;
    return nameOf(type());
  }
  void accesses(AccessList& list) const override { work_.accesses(list); }
  port::Operation::Work make(Device& device, Room& room) const override {
    const port::MemorySpace space = device.capabilities().memory_space;
    if constexpr (std::is_same_v<W, LaunchWork>) {
      room.arguments.clear();
      return work_.make(space, work_.code(), work_.wholeBox(), room.arguments);
    } else if constexpr (std::is_same_v<W, SvmFillWork>) {
      return work_.make(space, device, room.imported);
    } else {
      return work_.make(space);
    }
  }
  bool usesSvm() const override {
    if constexpr (std::is_same_v<W, LaunchWork>) return work_.arguments.usesSvm();
    return false;
  }
  void noteMoves(const Device& device, port::Operation::Work& made, Room& room) const override {
    if constexpr (std::is_same_v<W, LaunchWork>) {
      auto* const launch = std::get_if<port::Launch>(&made);
      if (!launch) return;
      room.moved = work_.noteMoves(device);
      launch->prefetch = room.moved;
    }
  }
  Ref<Event> enqueue(Queue& queue, WaitList waits) const override {
    if constexpr (std::is_same_v<W, LaunchWork>)
      return enqueueWork(queue, CL_COMMAND_NDRANGE_KERNEL, W(work_), waits);
    else if constexpr (std::is_same_v<W, CopyWork> || std::is_same_v<W, FillWork>)
      return enqueueWork(queue, work_.type(), work_, waits);
    else
      return enqueueWork(queue, work_, waits);
  }
  bool isFamily(const Device& device) const override {
    if constexpr (std::is_same_v<W, LaunchWork>) return work_.isFamily(device);
    return false;
  }

 private:
  W work_;
};

template <class W>
Ref<const RecordedWork> recorded(W work) {
  return make<RecordedWorkOf<W>>(std::move(work));
}

// "The second waits for the first", by their places in the command buffer; the first comes first.
using RecordedEdge = std::pair<uint32_t, uint32_t>;

class Replay;

class Recording final : public Object {
 public:
  // `works`: null is a barrier.
  Recording(std::vector<Ref<const RecordedWork>> works, std::span<const RecordedEdge> edges,
            bool several_spaces);
  ~Recording() override;

  uint32_t size() const { return static_cast<uint32_t>(works_.size()); }
  const RecordedWork* work(uint32_t index) const { return works_[index].get(); }
  std::span<const uint32_t> successors(uint32_t index) const {
    return {successors_.data() + first_successor_[index],
            successors_.data() + first_successor_[index + 1]};
  }
  uint32_t dependencies(uint32_t index) const { return dependencies_[index]; }
  // The places of works that use shared virtual memory.
  std::span<const uint32_t> usersOfSvm() const { return users_of_svm_; }
  // What has to be valid first, and what is written. In contexts of several memory spaces only.
  const AccessList& accesses() const { return accesses_; }

  // Found to need more memory at a time than can be had: cuts it into pieces that need less, about
  // half as much if no single command needs more, and are to run one after the other in its place
  // from now on. False when that cannot be: one command needs as much as all of them.
  bool cut() noexcept;
  // None: it was not cut. They may have been, in turn.
  std::vector<Ref<Recording>> pieces() const { return *pieces_.lock(); }

  // Does any of its commands have to be enqueued as one of the device's?
  bool hasFamilies(const Device& device) const;

  // An execution that nobody uses; made when there is none.
  std::unique_ptr<Replay> takeReplay();
  void giveBack(std::unique_ptr<Replay> replay) noexcept;

 private:
  static constexpr size_t most_idle = 4;

  std::vector<Ref<const RecordedWork>> works_;
  std::vector<uint32_t> first_successor_;
  std::vector<uint32_t> successors_;
  std::vector<uint32_t> dependencies_;
  std::vector<uint32_t> users_of_svm_;
  AccessList accesses_;
  Guarded<std::vector<Ref<Recording>>> pieces_;
  Guarded<std::vector<std::unique_ptr<Replay>>> idle_;
};

// The recordings of one command buffer, which run one after the other: a single one, unless that
// would need more memory at a time than the device has.
using Recordings = std::vector<Ref<Recording>>;
Recordings makeRecordings(const Context& context, const Device& device,
                          std::span<const Ref<const RecordedWork>> works,
                          std::span<const RecordedEdge> edges);

// An execution of them failed. Nobody is to take what a part of it left for its result: all that
// they write is lost.
void loseWrites(const Context& context, const Recordings& recordings);

// Executes them as commands of the queue; the event is the last one's.
Ref<Event> enqueueRecordings(Queue& queue, const Recordings& recordings, WaitList waits);

}  // namespace weft
