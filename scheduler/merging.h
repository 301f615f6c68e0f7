// The objects that parts of a divided kernel write together: each memory space has copies of its
// own, from which the objects' new bytes are put together in the end. docs/balancing.md.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "core/kernel.h"
#include "partition/split.h"
#include "scheduler/command.h"
#include "scheduler/work.h"

namespace weft {

// A command of the runtime's own, with a guard that start() releases.
class MergeStep : public Command {
 public:
  using Command::Command;
  void start() noexcept {
    retain();  // the graph's reference, given up on completion
    releaseGuard();
  }
};

// Of one launch. Whoever calls sees to it that one thread does at a time, but for what is const.
class Merging {
 public:
  using Copies = std::vector<Ref<Buffer>>;  // one of each object

  // On a unified device.
  Merging(const Device& device, const partition::Split& split, const ArgumentSet& arguments);
  // When all that it started has ended.
  ~Merging();
  Merging(const Merging&) = delete;
  Merging& operator=(const Merging&) = delete;

  // Gives `part`, whose guard is held, the copies of its device's space, and makes it wait until
  // they are filled. Appends what has to be started for that, once no lock is held.
  void provide(Device& device, Event& part, Copies& copies, std::vector<Ref<MergeStep>>& steps);
  // Of a part with its copies. Throws CL_OUT_OF_HOST_MEMORY when it did not get all.
  void accesses(const Copies& copies, AccessList& list) const;
  // Are the bytes behind an argument in copies?
  bool has(const MemObject& object) const;
  void relocate(port::MemorySpace space, const Copies& copies, const ArgumentSet& arguments,
                LaunchArguments& room) const;

  // May it turn out that the copies cannot be merged?
  bool isExclusive() const;
  // All parts have ended well: makes `whole`, whose guard is held, wait until the copies are
  // merged.
  void merge(Event& whole, std::vector<Ref<MergeStep>>& steps);
  // Once that has ended: how.
  cl_int status() const;
  // Two had changed the same, so nothing was merged and the objects are as they were.
  bool conflicts() const { return conflicts_.load(std::memory_order_relaxed); }
  // The launch has failed after parts of it ran: the objects are not what anybody expects.
  void lose() noexcept;

  size_t bytes() const;
  // How long filling the copies and merging them took, in nanoseconds. Nothing if some had no
  // memory yet, which later launches find there.
  std::optional<double> spent() const;

 private:
  struct Copy {
    port::MemorySpace space;
    Ref<Buffer> buffer;
    Ref<Event> filled;
  };
  struct Object {
    Ref<MemObject> original;
    partition::MergedBytes bytes;
    Ref<Buffer> before;  // the bytes as the launch found them
    Ref<Event> kept;     // they are in `before`
    std::vector<Copy> copies;

    size_t size() const { return bytes.end - bytes.begin; }
  };
  friend class Merged;

  Ref<Buffer> copyOf(const Object& object, port::MemorySpace space);
  static void giveBack(Object& object, Ref<Buffer>& buffer) noexcept;

  std::vector<Device*> mergers_;  // take turns
  std::vector<Object> objects_;
  std::vector<Ref<Event>> merges_;
  uint64_t begun_ = 0, merge_begun_ = 0;
  std::atomic<bool> conflicts_{false};
  bool first_time_ = false;
  bool incomplete_ = false;  // a part did not get its copies
};

}  // namespace weft
