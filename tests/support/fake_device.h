// A device made of software, for tests: it has memory of its own that the host cannot touch, and
// does what the test says, when the test says so.
//
// In manual mode an operation goes on only when the test steps it; in automatic mode background
// threads finish operations in an order and after delays that the seed decides. Kernels are those
// of real CPU images, or C++ functions that the test registers under the kernel's name. What a real
// device would do with a wrong request is anybody's guess; this one fails the operation and counts
// a violation.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/ports/shared_memory.h"

namespace weft::test {

class FakeDevice;

// The time that manual devices tell; shared by as many as the test likes.
struct FakeClock {
  std::atomic<port::Nanoseconds> now{1'000'000};
  void advance(port::Nanoseconds by) { now.fetch_add(by); }
};

// A memory space that no fake device has yet; for several devices that are to share one.
port::MemorySpace newFakeSpace();

// What of the host's memory its kernels use in place: memory that moves, which it makes, or any, as
// a CPU's do.
enum class FakeShares : uint8_t { nothing, managed, everything };

struct FakeOptions {
  std::string name = "fake";
  bool manual = true;
  uint64_t seed = 1;                         // automatic: order and delays
  std::chrono::microseconds max_delay{200};  // automatic: before an operation starts
  uint32_t compute_units = 2;                // automatic: also how many threads
  uint64_t memory_bytes = uint64_t(256) << 20;
  uint32_t base_address_alignment_bytes = 128;
  bool reaches_host = true;    // can its streams copy from and to host memory?
  bool runs_ahead = false;     // do its in-order streams want to be fed ahead?
  bool fences = false;         // do its streams wait for those of others that do?
  bool reaches_peers = false;  // and other fake devices' memory?
  FakeShares shares = FakeShares::nothing;
  port::MemorySpace memory_space = port::host_space;  // host: a new one of its own
  std::shared_ptr<FakeClock> clock;                   // manual: a new one when empty
};

// What a registered kernel gets. Pointers are the device's; the slice is what it has to run.
struct FakeLaunch {
  const port::LaunchRecord& record;
  const port::GroupBox& slice;
  std::span<const port::LaunchArgument> arguments;

  template <class T>
  T* pointer(size_t argument) const {
    return reinterpret_cast<T*>(address(argument));
  }
  template <class T>
  T value(size_t argument) const {
    T result;
    std::memcpy(&result, arguments[argument].value, sizeof result);
    return result;
  }

 private:
  uint64_t address(size_t argument) const;
};

using FakeKernel = std::function<void(const FakeLaunch&)>;

// What became of an operation; in the order in which they finished.
struct FakeRecord {
  enum class Kind : uint8_t { marker, launch, copy, fill, prefetch, host_call };
  Kind kind = Kind::marker;
  uint32_t stream = 0;  // in the order of createStream(), from 0
  std::string kernel;
  port::GroupBox slice;
  uint64_t bytes = 0;                         // of launches those that are prefetched
  port::MemorySpace from = port::host_space;  // copies
  port::MemorySpace to = port::host_space;    // copies, fills and prefetches
  port::OperationStatus status = 0;
  bool timed = false;  // was asked to be
};

inline constexpr uint32_t any_stream = ~0u;

// How far an operation is taken: it is told started(), it has run but nobody knows, or it is told
// finished().
enum class Reach : uint8_t { start, run, finish };

// Thread-safe. Destroyed after its streams; operations must have finished by then.
class FakeDevice final : public port::Device, public port::ManagedMemorySource {
 public:
  explicit FakeDevice(FakeOptions options);
  ~FakeDevice() override;

  // --- the test's side ---
  // Kernels of images without payload.
  void registerKernel(std::string name, FakeKernel kernel);

  // Operations submitted and not finished.
  size_t pending(uint32_t stream = any_stream) const;
  // False when there are fewer after the given time. For tests in which other threads submit.
  bool waitForPending(size_t count,
                      std::chrono::milliseconds limit = std::chrono::seconds(60)) const;

  // Manual mode. All return false when no operation may run: of an in-order stream the first one
  // may, of an unordered one all may and the oldest is meant.
  bool start(uint32_t stream = any_stream);   // tells started() of the next that has not
  bool finish(uint32_t stream = any_stream);  // runs the next and tells finished()
  bool fail(port::OperationStatus status, uint32_t stream = any_stream);  // without running it
  // The same for one operation of any stream, out of turn where the stream is unordered.
  bool finishOperation(port::Operation& operation, port::OperationStatus status = 0);
  // One of those that may run: which, `choice` says.
  bool finishAny(uint64_t choice, port::OperationStatus status = 0, Reach reach = Reach::finish);
  // How many those are.
  size_t able() const;
  // Until none is pending, those submitted meanwhile included; how many there were.
  size_t finishAll();

  void failAllocations(unsigned count) { failing_allocations_ = count; }
  // Called for each allocation, before it is made.
  void whileAllocating(std::function<void()> call) { allocating_ = std::move(call); }
  // Called for each allocation that goes, before it does.
  void whileReleasing(std::function<void()> call) { releasing_ = std::move(call); }
  void failLoads(unsigned count) { failing_loads_ = count; }
  // Automatic mode: the next operations end so, without being run.
  void failOperations(unsigned count, port::OperationStatus status);
  // From now on every operation fails with CL_DEVICE_NOT_AVAILABLE, also those pending; nothing can
  // be allocated or loaded.
  void lose();

  std::vector<FakeRecord> log() const;
  void clearLog();
  unsigned violations() const { return violations_; }
  size_t failures() const { return failures_; }  // operations that ended so
  size_t polls() const { return polls_; }        // of any stream
  uint64_t allocatedBytes() const { return allocated_; }
  FakeClock& clock() { return *options_.clock; }

  // --- the port ---
  const port::Capabilities& capabilities() const override { return capabilities_; }
  const port::Target& target() const override { return target_; }
  bool reaches(port::MemorySpace space) const override;
  uint64_t freeMemory() const override;
  port::ClockPair clocks() const override;
  std::vector<std::shared_ptr<port::Device>> partition(
      std::span<const port::UnitSet> parts) override;
  std::unique_ptr<port::Stream> createStream(port::Order order) override;
  std::unique_ptr<port::Memory> allocate(size_t bytes, size_t alignment) override;
  std::unique_ptr<port::Memory> import(void* host, size_t bytes) override;
  std::unique_ptr<port::Memory> allocateManaged(size_t bytes) override;
  std::unique_ptr<port::Module> load(const Image& image) override;

 private:
  friend class FakeStream;
  friend class FakeMemory;
  struct Entry {
    port::Operation* operation = nullptr;
    uint64_t number = 0;
    uint32_t stream = 0;
    std::vector<uint64_t> behind;  // places of operations
    bool started = false;
    bool ran = false;
    bool taken = false;
    bool told = false;  // finished() is being called
    port::Nanoseconds start = 0;
    port::Nanoseconds end = 0;
    FakeRecord record;  // once it ran
  };

  void submit(uint32_t stream, port::Operation& operation);
  port::Nanoseconds now() const;
  // Under the lock. The entry that may run, or the end.
  std::deque<Entry>::iterator next(uint32_t stream, bool unstarted);
  bool blocked(const Entry& entry) const;
  bool startTaken(std::unique_lock<std::mutex>& lock, Entry& entry);
  // It may be gone.
  bool finishTaken(std::unique_lock<std::mutex>& lock, std::deque<Entry>::iterator entry,
                   port::OperationStatus status, Reach reach = Reach::finish);
  void runTaken(std::unique_lock<std::mutex>& lock, Entry& entry, port::OperationStatus status);
  void background(unsigned index);

  port::OperationStatus execute(port::Operation& operation, FakeRecord& record);
  port::OperationStatus run(const port::Launch& launch, FakeRecord& record);
  port::OperationStatus run(const port::Copy& copy, FakeRecord& record);
  port::OperationStatus run(const port::Fill& fill, FakeRecord& record);
  port::OperationStatus run(const port::Prefetch& prefetch, FakeRecord& record);
  std::byte* resolve(const port::Location& location, port::MemorySpace& space);
  port::OperationStatus violation(const char* what);

  FakeOptions options_;
  port::Capabilities capabilities_;
  port::Target target_;
  std::map<std::string, FakeKernel> kernels_;
  std::vector<port::Order> streams_;
  std::deque<Entry> entries_;  // in the order of submission
  uint64_t submitted_ = 0;
  std::vector<FakeRecord> log_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::mt19937_64 random_;
  bool stop_ = false;
  bool lost_ = false;
  unsigned failing_operations_ = 0;
  port::OperationStatus failing_status_ = 0;
  std::atomic<unsigned> failing_allocations_{0};
  std::atomic<unsigned> failing_loads_{0};
  std::function<void()> allocating_;
  std::function<void()> releasing_;
  std::atomic<unsigned> violations_{0};
  std::atomic<size_t> failures_{0};
  std::atomic<size_t> polls_{0};
  std::atomic<uint64_t> allocated_{0};
  std::vector<std::thread> threads_;
};

// A backend over such devices.
class FakeBackend final : public port::Backend {
 public:
  explicit FakeBackend(std::vector<FakeOptions> devices);
  std::string_view name() const override { return "fake"; }
  std::vector<std::shared_ptr<port::Device>> discover(std::vector<port::Diagnostic>&) override;
  FakeDevice& device(size_t index) { return *devices_.at(index); }

 private:
  std::vector<std::shared_ptr<FakeDevice>> devices_;
};

}  // namespace weft::test
