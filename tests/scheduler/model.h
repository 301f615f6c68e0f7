// Random OpenCL programs whose result is unique, for the test of the scheduler against a sequential
// reference. A plan is a list of calls in an order that the program's own events, queues and waits
// allow; accesses that conflict are ordered by them. What runs a plan is elsewhere: nothing here
// knows the implementation.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::test::model {

inline constexpr size_t root_bytes = 256;
inline constexpr size_t max_calls = 192;
inline constexpr uint8_t untouched = 0xee;  // what host memory holds before a read

using Bits = std::bitset<root_bytes>;
using CallSet = std::bitset<max_calls>;

enum class Kind : uint8_t {
  kernel,  // to[i] = from[i] * multiplier + addend, bytes; `from` may be `to` itself
  copy,
  copy_rect,
  fill,
  read,
  read_rect,
  write,
  write_rect,
  map,
  unmap,
  migrate,
  marker,
  barrier,
  user_event,
  set_user_event,
  wait,    // for the event of `target`, on the host
  finish,  // the queue
  release_object,
  release_queue,
};

enum class Contents : uint8_t { undefined, copied, used };  // CL_MEM_COPY_HOST_PTR, _USE_HOST_PTR

struct ObjectPlan {
  int root = 0;  // index of the root object; its own for a root
  size_t origin = 0;
  size_t size = root_bytes;
  Contents contents = Contents::undefined;  // roots
};

struct DevicePlan {
  int space = 0;  // devices of one number share a memory space
  bool peers = false;
  size_t memory = 0;    // bytes; of those that share a space the same
  bool fences = false;  // its streams wait for those of others that do
};

// Is a device fed ahead? Half of the fake ones are.
inline bool runsAhead(int device) { return device % 2 == 0; }

struct QueuePlan {
  int device = 0;
  bool out_of_order = false;
  int thread = 0;  // the host thread that uses it
};

// Where the bytes of one end of a call are: in an object, or in host memory of the call's own.
struct Side {
  int object = -1;  // -1: host memory
  size_t base = 0;  // from the object's start
  size_t step = 1;  // kernels: distance between the bytes
  size_t row = 0;   // rectangles: pitches
  size_t slice = 0;
};

struct Call {
  Kind kind = Kind::marker;
  int thread = 0;
  int queue = -1;
  Side to, from;
  std::array<size_t, 3> region{0, 1, 1};  // bytes, rows, slices
  size_t modulo = 0;                      // fill: the pattern's size
  uint8_t multiplier = 1, addend = 0;
  uint64_t flags = 0;  // of the map, the migration
  int status = 0;      // set_user_event; positive: the event is released instead
  int target = -1;     // the call whose event or mapping this is about
  bool blocking = false;
  std::vector<int> waits;  // calls whose events are the wait list
  std::vector<int> after;  // calls that have to be made first

  bool hasEvent() const { return kind <= Kind::user_event; }
  bool movesData() const { return kind <= Kind::map; }
};

enum class MachineKind : uint8_t { fake, cpu, cpu_private, software_gpus, unlike_gpus, gpus };

struct Options {
  MachineKind machine = MachineKind::fake;
  bool failures = false;  // conflicts are by what the runtime can see, user events may fail
  int threads = 1;
  int max_devices = 3;
  bool shared_spaces = true;
  size_t alignment = 1;  // of sub-buffers
};

struct Plan {
  uint64_t seed = 0;
  Options options;
  std::vector<DevicePlan> devices;
  std::vector<QueuePlan> queues;
  std::vector<ObjectPlan> objects;
  std::vector<Call> calls;
};

Plan generate(uint64_t seed, const Options& options);

// Byte `to` of the destination's root or host memory gets what byte `from` of the source gives.
struct Move {
  size_t to, from;
};
std::vector<Move> moves(const Plan& plan, const Call& call);
// Bytes of host memory that the call's host side covers.
size_t hostBytes(const Plan& plan, const Call& call);
// Byte `index` of the data that call number `call` brings, and of what a root begins with.
uint8_t hostData(int call, size_t index);
uint8_t initialData(int object, size_t index);

// From the first to the last byte of the root that a side covers.
struct Window {
  size_t begin, end;
};
Window window(const Plan& plan, const Call& call, const Side& side);
// What the call touches as far as the runtime can know: all of a kernel's argument, else the bytes.
Bits claimed(const Plan& plan, const Call& call, const Side& side);

// What a run left: statuses and host memory by call number.
struct Outcome {
  std::vector<int> statuses;               // of calls that have an event
  std::vector<std::vector<uint8_t>> host;  // read, read_rect, map
  size_t failed_operations = 0;            // injected, transfers of the runtime's own included
  bool failed_allocations = false;
};

// Runs the plan one call after the other and compares; empty when all is as it has to be, else what
// is not.
std::string compare(const Plan& plan, const Outcome& outcome);

std::string describe(const Plan& plan);

}  // namespace weft::test::model
