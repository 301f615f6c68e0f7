// Who holds which bytes of a memory object valid, and the transfers that follow from a command's
// accesses. Only contexts of several memory spaces use it.
#pragma once

#include <map>
#include <vector>

#include "core/memory.h"
#include "scheduler/command.h"

namespace weft {

// Memory spaces in which bytes are valid.
class SpaceSet {
 public:
  bool has(port::MemorySpace space) const;
  void add(port::MemorySpace space);
  // Keeps at least one.
  void remove(port::MemorySpace space);
  void only(port::MemorySpace space) { spaces_.assign(1, space); }
  bool empty() const { return spaces_.empty(); }
  const std::vector<port::MemorySpace>& all() const { return spaces_; }
  bool operator==(const SpaceSet&) const = default;

 private:
  std::vector<port::MemorySpace> spaces_;  // a handful
};

// Interval map over the bytes of one root memory object. Used under the context's ticket lock.
class Residency final : public ResidencyState {
 public:
  // A command in flight that touches the interval in a space.
  struct User {
    Ref<Event> event;
    port::MemorySpace space;
    bool writes;
    bool transfer;
  };
  struct Interval {
    size_t end = 0;
    SpaceSet valid;  // empty: nothing was ever written, any contents will do
    std::vector<User> users;
  };
  using Map = std::map<size_t, Interval>;

  // The object's residency, made on first use: valid on the host when it was initialised there.
  static Residency& of(MemObject& object);

  explicit Residency(size_t bytes) { intervals_[0].end = bytes; }

  // The intervals that exactly cover [begin, end), split where needed, finished users dropped.
  std::pair<Map::iterator, Map::iterator> cover(size_t begin, size_t end);
  // Joins neighbours in [begin, end] that say the same and have no users.
  void merge(size_t begin, size_t end);

  // The bytes did not get to `space` after all.
  void drop(size_t begin, size_t end, port::MemorySpace space);

  size_t intervalCount() const { return intervals_.size(); }

 private:
  Map::iterator split(size_t at);

  Map intervals_;
};

class TransferCommand;

// Resolves all memory objects of one command under one ticket: adds the transfers of stale ranges
// and the edges to commands with lower tickets that the command must not overtake.
class Resolver {
 public:
  explicit Resolver(Command& command);
  // Starts the transfers that were planned.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Throws Error when memory cannot be allocated.
  void resolve();

 private:
  void settleSpace(const std::vector<Access>& accesses);
  void makeAllocations(const std::vector<Access>& accesses);
  void apply(const Access& access);
  void read(MemObject& object, size_t begin, Residency::Interval& interval);
  void write(Residency::Interval& interval);
  // Makes `interval` valid in `target`; returns the transfer that does it.
  TransferCommand& bring(MemObject& object, size_t begin, Residency::Interval& interval,
                         port::MemorySpace target);
  TransferCommand& transferFor(MemObject& object, size_t begin, size_t end,
                               port::MemorySpace source, port::MemorySpace target);

  Command& command_;
  Context& context_;
  port::MemorySpace space_;
  std::vector<TransferCommand*> transfers_;  // guards held until the lock is dropped
};

}  // namespace weft
