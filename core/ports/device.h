// The backend interface: what the scheduler drives. A backend implements these classes and knows
// neither OpenCL types nor other backends.
//
// Lifetimes: Backend outlives Device outlives Stream, Memory and Module made from it. An Operation
// and everything it points at stays alive until its finished() was called.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/image.h"
#include "core/ports/capabilities.h"
#include "core/ports/device_queue.h"
#include "core/ports/launch.h"

namespace weft::port {

using Nanoseconds = uint64_t;  // CLOCK_MONOTONIC of the host unless said otherwise

// 0 is success; a failure carries the code that becomes the command's execution status (an OpenCL
// error code as a plain number, always negative).
using OperationStatus = int32_t;

class Device;

// Bytes that a device can address. Destroyed only when no operation uses it.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual size_t size() const = 0;
  // The host address of byte 0, or nullptr when the host cannot touch this memory.
  virtual std::byte* host() const = 0;
  // The address that kernels on the owning device use.
  virtual uint64_t deviceAddress() const = 0;
};

// A loaded program image: kernels by index into its Image::kernels, and one instance of its
// program-scope variables.
class Module {
 public:
  virtual ~Module() = default;
  // The most work-items in a group of this kernel; 0 when there is no limit but the device's.
  virtual size_t maxWorkGroupSize(uint32_t kernel) const { return (void)kernel, 0; }
  // Makes what launches of the kernel need and was left for later, or the device does when it comes
  // to one. False when that failed. May take seconds. Thread-safe.
  virtual bool prepare(uint32_t kernel) noexcept { return (void)kernel, true; }
};

struct LaunchArgument {
  ArgumentKind kind = ArgumentKind::value;
  // value, sampler: its bytes (`size` of them). image: an ImageDescriptor without an address; the
  // backend passes a copy with that of `memory` + `offset`.
  const void* value = nullptr;
  Memory* memory = nullptr;  // pointers: nullptr is a null pointer, unless raw_address is set
  uint64_t raw_address = 0;  // pointers given as an address (SVM)
  size_t offset = 0;         // pointers, images: bytes into memory
  size_t size = 0;           // value: bytes; local_pointer: bytes to reserve
};

// Some bytes of a memory.
struct MemoryPart {
  Memory* memory = nullptr;
  size_t offset = 0;
  size_t size = 0;
};

struct Launch {
  Module* module = nullptr;
  uint32_t kernel = 0;  // index into Image::kernels
  const LaunchRecord* record = nullptr;
  GroupBox slice;
  std::span<const LaunchArgument> arguments;
  DeviceQueue* default_queue = nullptr;  // what get_default_queue() gives
  std::span<const MemoryPart>
      prefetch{};     // what it touches that is with the host, as of a Prefetch
  Journal journal{};  // of GPUs, for kernels with KernelInfo::uses_device_queue
};

// One end of a copy: device memory (memory != nullptr) or host memory.
struct Location {
  Memory* memory = nullptr;
  std::byte* host = nullptr;
  size_t offset = 0;       // bytes
  size_t row_pitch = 0;    // bytes; ignored when region[1] == region[2] == 1
  size_t slice_pitch = 0;  // bytes
};

// region: bytes, rows, slices. A linear copy is {n, 1, 1}. Ends do not overlap.
struct Copy {
  Location source;
  Location destination;
  std::array<size_t, 3> region{0, 1, 1};
};

// `pattern_size` is a power of two of at most 128 and divides size, offset and pitches. The pattern
// is the submitter's, like the operation: an operation of any kind would have to carry its bytes.
struct Fill {
  static constexpr std::byte zero{0};

  Memory* memory = nullptr;
  size_t offset = 0;
  size_t size = 0;  // bytes of one row
  const std::byte* pattern = &zero;
  size_t pattern_size = 1;
  size_t rows = 1;
  size_t slices = 1;
  size_t row_pitch = 0;    // bytes; ignored when rows == slices == 1
  size_t slice_pitch = 0;  // bytes
};

// Runs on a host thread in stream order.
struct HostCall {
  void (*function)(void* user) = nullptr;
  void* user = nullptr;
};

// Who is going to use these bytes next: the device, or the host. Where memory can move nearer to
// its users it does; its contents stay.
struct Prefetch {
  using Part = MemoryPart;
  std::span<const Part> parts;
  bool to_host = false;
};

// A unit of work on a stream. Owned by the submitter; lent to the stream from submit() until
// finished() returns control. The object may be destroyed from within finished().
class Operation {
 public:
  using Work = std::variant<std::monostate, Launch, Copy, Fill, Prefetch, HostCall>;

  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // The device began the work. At most once, before finished(); exactly once if wants_start. Must
  // not block.
  virtual void started(Nanoseconds when) noexcept = 0;
  // Exactly once, from any thread, with no backend lock held. Must not block; may submit more work.
  virtual void finished(OperationStatus status, Nanoseconds start, Nanoseconds end) noexcept = 0;

  Work work;
  Operation* next = nullptr;  // the stream's, between submit and finished

  // What has to have ended before the device begins this operation, besides what the order of the
  // stream asks for: operations that were submitted before, to streams of devices of the same
  // Capabilities::fence_group. submit() alone reads it; until it returns or this operation is told
  // finished(), they and their streams exist, ended or not. Whether one of them failed is the
  // submitter's to see.
  std::span<const Operation* const> behind;
  // Where the operation is, for those that are to run behind it: the stream's, from submit() on.
  struct Place {
    void* lane = nullptr;
    uint64_t number = 0;
  };
  Place place;

  // Set by submit() where that is known then: the operation has failed and is not going to run.
  std::atomic<bool> refused{false};

  // What the submitter wants to know, set before submit(): telling it costs a device whose work is
  // not the host's more than a small kernel does.
  //   timed        start and end are the device's own; else they may be the host's, from when the
  //                operation was submitted and when its end was noticed.
  //   observed     somebody waits for this very operation; else its end may be told when that of a
  //                later one is, or when the stream is flushed, or a while after.
  //   wants_start  started() is called when the device begins; else it may be left out.
  // And what streams want to know: awaited: others' operations are going to run behind this very
  // one, not behind what is submitted here after it.
  bool timed = true;
  bool observed = true;
  bool wants_start = true;
  bool awaited = false;

 protected:
  ~Operation() = default;
};

enum class Order : uint8_t {
  in_order,   // each operation starts after the one submitted before it has ended, and is told
              // finished() after that one's has returned
  unordered,  // operations may overlap and finish in any order
};

// Thread-safe. A failed operation does not stop those submitted behind it.
class Stream {
 public:
  virtual ~Stream() = default;  // only when every submitted operation has finished

  virtual void submit(Operation& operation) noexcept = 0;
  // Hands everything submitted so far to the device and has its end told as soon as it is known, of
  // operations that nobody observes, too; returns at once.
  virtual void flush() noexcept = 0;
  // Flushes, then lets the calling thread, which has nothing else to do until done() holds, run
  // operations of this stream where that is sound (the CPU device), or look for their ends. Returns
  // when done() holds or when there is nothing for the caller to do; then the caller sleeps.
  virtual void assist(const std::function<bool()>& done) noexcept { (void)done; }
  // The caller asks how far its operations are, probably again and again, and does not assist:
  // tells the ends that can be found at once, and takes what was submitted to be left to other
  // threads. The stream outlives the call.
  virtual void poll() noexcept {}
  // The caller is not about to assist: what it has submitted is left to other threads.
  virtual void leave() noexcept {}
};

struct ClockPair {
  Nanoseconds device = 0;
  Nanoseconds host = 0;
};

// Thread-safe. Functions that allocate throw weft::Error (core/error.h) on failure.
class Device {
 public:
  virtual ~Device() = default;

  virtual const Capabilities& capabilities() const = 0;
  virtual const Target& target() const = 0;

  // Can streams of this device read and write `memory_space` directly (as one end of a Copy)?
  virtual bool reaches(MemorySpace space) const = 0;
  virtual uint64_t freeMemory() const = 0;
  virtual ClockPair clocks() const = 0;
  // It has failed for good: nothing runs on it any more, as long as the process lives.
  virtual bool lost() const noexcept { return false; }

  // One sub-device per set, of these of the device's compute units. No set is empty; a unit may be
  // in several. Throws CL_INVALID_DEVICE_PARTITION_COUNT otherwise.
  virtual std::vector<std::shared_ptr<Device>> partition(std::span<const UnitSet> parts) = 0;

  virtual std::unique_ptr<Stream> createStream(Order order) = 0;
  virtual std::unique_ptr<Memory> allocate(size_t bytes, size_t alignment) = 0;
  // Wraps host memory that stays owned by the caller; nullptr when the device cannot use it in
  // place.
  virtual std::unique_ptr<Memory> import(void* host, size_t bytes) = 0;
  // `image` is an executable for target(). Throws when it cannot be loaded.
  virtual std::unique_ptr<Module> load(const Image& image) = 0;
};

struct Diagnostic {
  std::string message;  // one line, for `weft info`
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Root devices. A missing or broken driver is a diagnostic, never an exception.
  virtual std::vector<std::shared_ptr<Device>> discover(std::vector<Diagnostic>& diagnostics) = 0;
};

}  // namespace weft::port
