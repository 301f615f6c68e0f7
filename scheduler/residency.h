// Who holds which bytes of a memory object valid, and the transfers that follow from a command's
// accesses. Only contexts of several memory spaces use it.
//
// A command first claims what it touches, under one ticket. It waits for what is in flight and
// conflicts with it: everything that was admitted, and claims of lower tickets. Then it is admitted
// and plans its transfers, from bytes that nobody writes who was not submitted; so a transfer waits
// for nothing but those that are under way and the one that brings its bytes to host memory, an
// admitted command for nothing but its transfers, and nobody ever waits in a circle.
//
// What a command or transfer changes is entered when it has completed: one that never ran changes
// nothing. But where others may be submitted behind it (Command::leads) that is when it is
// submitted itself: from then on it is under way, and the map says what will be once it has ended.
// Who relies on that is ordered behind it, and shares its failure. Who failed undoes what it
// entered as far as it is still current: as far as nobody has overwritten it since.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <vector>

#include "core/memory.h"
#include "core/weak.h"
#include "scheduler/command.h"
#include "scheduler/range_users.h"
#include "scheduler/state.h"

namespace weft {

// Memory spaces in which bytes are valid.
class SpaceSet {
 public:
  bool has(port::MemorySpace space) const;
  void add(port::MemorySpace space);
  void remove(port::MemorySpace space) { std::erase(spaces_, space); }
  void only(port::MemorySpace space) { spaces_.assign(1, space); }
  void clear() { spaces_.clear(); }
  bool empty() const { return spaces_.empty(); }
  SpaceSet intersection(const SpaceSet& other) const;
  const std::vector<port::MemorySpace>& all() const { return spaces_; }
  bool operator==(const SpaceSet&) const = default;

 private:
  std::vector<port::MemorySpace> spaces_;  // a handful
};

// A command's accesses, from its enqueue if it has to wait, until it has ended.
struct Resolution : pool::Pooled {
  Claim claim;
  AccessList accesses;
  uint64_t announced = 0;  // the number under which its writes were announced; 0: they were not
  bool final = true;       // the accesses are those it will claim
  bool claimed = false;

  // Leaves out what never moves.
  void dropWhatStays();
};

// Interval map over the bytes of one root memory object. Used under the context's ticket lock.
class Residency final : public ResidencyState {
 public:
  using User = RangeUsers::User;
  struct Interval {
    size_t end = 0;
    SpaceSet valid;     // empty: nothing was ever written, any contents will do; or
    bool lost = false;  // the only valid copy was
    RangeUsers users;

    bool needsTransfer(port::MemorySpace space) const {
      return !valid.empty() && !valid.has(space);
    }
  };
  using Map = std::map<size_t, Interval>;

  // Beyond so many intervals neighbours are made to say the same.
  static constexpr size_t interval_limit = 256;

  // The object's residency, made on first use: valid on the host when it was initialised there.
  static Residency& of(MemObject& object);

  // Of `object`'s root.
  explicit Residency(MemObject& object);
  // Takes the ticket lock.
  ~Residency() override;
  void endsMemory() noexcept override;
  bool isEnding() const { return ending_; }

  Storage& storage() const { return storage_; }
  // Null when the application and all commands have let go of it.
  Ref<MemObject> object() const { return root_.lock(); }

  // The ticket of the last command that was admitted to use it.
  uint64_t lastUse() const { return last_use_; }
  void use(uint64_t ticket) { last_use_ = ticket; }
  // May its memory not be taken, anywhere?
  bool inUse() const;
  // Events of the commands that were admitted and the transfers that use it.
  void usedBy(std::vector<Event*>& events) const;
  // Would bytes be lost with the copy in `space`?
  bool dirtyIn(port::MemorySpace space) const;
  // Were any of the bytes lost, and not written since?
  bool lost(size_t begin, size_t end) const;
  // Was any of it never written?
  bool hasUnwritten(size_t begin, size_t end) const;
  // The copy in `space` is gone. Only when that is not in use, and not dirty or nobody's any more.
  void forget(port::MemorySpace space);

  // --- writes of commands that still wait, by the order of their enqueues ---
  void announce(uint64_t number, Event& writer, port::MemorySpace space) {
    announced_.insert_or_assign(number, Writer{&writer, space});
  }
  void retract(uint64_t number) noexcept { announced_.erase(number); }
  // Who may still write some of the bytes before what was announced under that number runs.
  struct Writer {
    Event* event = nullptr;
    port::MemorySpace space = port::host_space;
  };
  Writer writerBefore(uint64_t number, size_t begin, size_t end);
  // Is some of it neither valid in `space` nor on its way there, nor lost?
  bool isStale(size_t begin, size_t end, port::MemorySpace space);

  // Objects of its bytes' size or less, whose contents nobody needs, for who wants copies of some.
  // takeSpare: of that size, with memory in `space` if there is one; null: there is none.
  // keepSpare: false, and the buffer is still the caller's, if there are enough of them.
  Ref<Buffer> takeSpare(size_t size, port::MemorySpace space);
  bool keepSpare(Ref<Buffer>& buffer) noexcept;
  // As if nothing was ever written. Only while nobody uses it.
  void forgetContents() noexcept;

  // The intervals that exactly cover [begin, end), split where needed.
  std::pair<Map::iterator, Map::iterator> cover(size_t begin, size_t end);
  // Joins neighbours in [begin, end] that say the same.
  void merge(size_t begin, size_t end);
  // Joins neighbours without users by forgetting valid copies that only one of them has.
  void coarsen();

  enum class Result : uint8_t {
    unchanged,
    copied,       // valid in the claim's space, too
    written,      // every byte, in the claim's space
    overwritten,  // some bytes
    lost,
  };
  // A claim on [begin, end) was admitted: it stands for readers of its space that end before it.
  void replaceReaders(size_t begin, size_t end, const Claim& claim);
  // Enters what a claim that is under way is going to make of [begin, end).
  void enter(size_t begin, size_t end, const Claim& claim, Result result);
  // Undoes that.
  void fail(size_t begin, size_t end, const Claim& claim);
  // Ends a claim on [begin, end) and enters what became of the bytes.
  void settle(size_t begin, size_t end, const Claim& claim, Result result);
  // Enters that all of `rows` was written in `space`, and nothing between them.
  void write(const ByteRows& rows, port::MemorySpace space);

  Map& intervals() { return intervals_; }
  bool overLimit() const { return intervals_.size() > interval_limit; }

 private:
  static void change(Interval& interval, const Claim& claim, Result result);
  static void supersede(Interval& interval, const Claim& claim, bool whole);
  static bool isUnordered(const Interval& interval, const Claim& claim) noexcept;
  Map::iterator split(size_t at);

  State& state_;
  Storage& storage_;
  Weak<MemObject> root_;
  uint64_t last_use_ = 0;
  std::atomic<bool> ending_{false};
  std::array<Ref<Buffer>, 8> spares_;
  Map intervals_;
  size_t settled_ = 0;  // intervals, since it was tried to make them fewer
  using Announced = std::pair<const uint64_t, Writer>;
  std::map<uint64_t, Writer, std::less<>, pool::Allocator<Announced>> announced_;
};

// How many bytes of an object's storage are not valid in a space, by who has them: the device that
// owns the other space, null for the host. Ranges are [begin, end) and do not overlap. Takes the
// ticket lock.
struct MissingBytes {
  const Device* source;
  uint64_t bytes;
};
std::vector<MissingBytes> missingBytes(MemObject& object,
                                       std::span<const std::pair<size_t, size_t>> ranges,
                                       port::MemorySpace space);

class TransferCommand;

// One attempt to admit a command.
class Resolver {
 public:
  explicit Resolver(Command& command);
  // Starts the transfers that were planned.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // False: the command now waits for others and has to try again. Throws Error when memory cannot
  // be allocated, or when bytes that the command reads were lost.
  bool resolve();

 private:
  struct Conflicts {
    std::vector<Event*> ends;           // to wait for
    std::vector<Command*> submissions;  // to wait for
    // To run behind. Of `brings` the command gets bytes: it fails with them.
    std::vector<Command*> order, brings;
    // To fail with, if that is known when the command ends: unordered commands of one space need
    // not run behind each other.
    std::vector<Command*> makers;

    bool none() const { return ends.empty() && submissions.empty(); }
  };
  enum class Admission : uint8_t {
    admitted,
    waits,         // for events
    needs_memory,  // and there should be enough
    needs_others,  // that other threads are about to release, or to use
    declined,      // an optional command does without
  };

  bool claim();
  void replaceForecast(std::unique_ptr<Resolution> exact);
  Admission admit();
  void settleSpace();
  std::optional<port::MemorySpace> spaceWithAll(bool only_reads) const;
  void moveTo(port::MemorySpace space);
  // Can an optional command be admitted as things are?
  bool isConvenient(State::Tickets& tickets);
  bool waitForConflicts();
  std::vector<Ref<Command>> submittedBefore() const;
  void keepInStream(std::span<const Ref<Command>> before, bool is_first);
  void runBehindConflicts();
  // False when there are none.
  bool waitForAll(std::vector<Event*>& events);
  void addConflicts(const Access& access, Conflicts& conflicts);
  void addConflict(const Access& access, const Residency::Interval& interval,
                   const Residency::User& user, Conflicts& conflicts, bool ordered) const;
  bool conflict(const Access& access, const Residency::Interval& interval,
                const Residency::User& user) const;
  bool reachable(const Residency::Interval& interval) const;
  bool waitForContents();
  void plan(const Access& access);
  // Makes `interval` valid in `target`; returns the transfer that does it.
  TransferCommand& bring(MemObject& object, size_t begin, Residency::Interval& interval,
                         port::MemorySpace target);
  TransferCommand* plannedFor(const Residency::Interval& interval, port::MemorySpace target) const;
  port::MemorySpace sourceOf(const Residency::Interval& interval, port::MemorySpace target) const;
  TransferCommand& transferFor(MemObject& object, size_t begin, Residency::Interval& interval,
                               port::MemorySpace source, port::MemorySpace target);

  // --- the memory of the command's space (resolver_memory.cpp) ---
  void findMissing(State::Tickets& tickets);
  // Is there room for all that is missing, and some left?
  bool hasRoom(State::Tickets& tickets);
  // Evicts until there is room for what is missing, and at least `least` bytes. Throws
  // CL_MEM_OBJECT_ALLOCATION_FAILURE when there is not and nothing to wait for.
  Admission makeRoom(State::Tickets& tickets, uint64_t least);
  // Evicts what is idle and, where anybody could miss it, valid elsewhere; returns how many bytes
  // that makes. What is idle but dirty goes to `dirty_`.
  uint64_t evict(DeviceMemory& memory, uint64_t bytes);
  // Has the command wait until so many of the dirty bytes are in host memory, too.
  bool writeBack(uint64_t bytes);
  void releaseEvicted() noexcept;
  void beginAllocating();
  void endAllocating();
  Admission allocate();
  // The device had less memory than its limit promised.
  Admission makeRoomAfter(const Error& failure, uint64_t releases);

  // Brings what is scattered over the spaces to the command's, where the map has become too fine.
  void gather(MemObject& object);

  Command& command_;
  Context& context_;
  std::vector<Ref<Queue>> flushes_;  // of commands that this one waits for
  port::MemorySpace space_;
  std::vector<TransferCommand*> transfers_;  // guards held until the lock is dropped
  std::vector<MemObject*> missing_;          // have no allocation in the space yet
  Conflicts conflicts_;
  // Let go of when the lock is dropped.
  std::vector<std::unique_ptr<port::Memory>> evicted_;
  std::vector<Ref<MemObject>> dirty_;
};

}  // namespace weft
