// The layout of a recording: what a process that uses Weft did, in one file (docs/tracing.md). The
// library writes it (trace_writer.h), the weft command reads it (trace_reader.h).
//
// A file is a header in a chunk of its own, then chunks of records. A chunk belongs to one thread.
// Records lie one behind the other, and their size is written last: zero means that there are no
// more. So a file is complete up to the last record of each thread, however the process ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::profiling::trace {

inline constexpr std::array<char, 8> magic{'W', 'E', 'F', 'T', 'T', 'R', 'C', '1'};
inline constexpr const char* file_suffix = ".weft-trace";
inline constexpr size_t chunk_bytes = size_t(64) << 10;
inline constexpr size_t record_alignment = 8;
inline constexpr size_t most_text = 1024;  // bytes behind a record

// Times are CLOCK_MONOTONIC, nanoseconds. Objects are named by their addresses, which may be used
// again: what is meant is the last one of that address that was made before the time in question.

struct FileHeader {
  std::array<char, 8> magic;
  uint32_t process = 0;
  uint32_t unused = 0;
  uint64_t began = 0;                     // when recording did
  uint64_t began_realtime = 0;            // the same on CLOCK_REALTIME
  uint64_t dropped = 0;                   // records for which there was no room
  std::array<char, 2048> command_line{};  // cut off if need be, terminated
};

struct ChunkHeader {
  uint32_t thread = 0;  // its number in the system; 0: nobody has written here
  uint32_t unused = 0;
  std::array<char, 16> thread_name{};
};

enum class Kind : uint16_t { none, device, queue, command, dependency, call };

// In front of every record. `text` bytes follow the record's structure.
struct RecordHead {
  uint32_t bytes = 0;  // of all of it, a multiple of record_alignment
  Kind kind = Kind::none;
  uint16_t text = 0;
};

// Text: its name. A device may be told of more than once.
struct DeviceRecord {
  static constexpr Kind kind = Kind::device;
  RecordHead head;
  uint64_t device = 0;
  uint64_t when = 0;
  uint32_t device_class = 0;  // port::DeviceClass
  uint32_t compute_units = 0;
  uint32_t memory_space = 0;  // port::MemorySpace
  uint32_t members = 0;       // of a unified device
};

struct QueueRecord {
  static constexpr Kind kind = Kind::queue;
  RecordHead head;
  uint64_t queue = 0;
  uint64_t when = 0;
  uint64_t device = 0;
  uint64_t context = 0;
  uint64_t properties = 0;  // cl_command_queue_properties
};

// One that has ended, or been given up. Text: what it is. Times that it never had are 0.
struct CommandRecord {
  static constexpr Kind kind = Kind::command;
  RecordHead head;
  uint64_t command = 0;
  uint64_t parent = 0;  // of a part of a divided launch, or of a command buffer's
  uint64_t queue = 0;   // 0: the runtime's own
  uint64_t device = 0;  // where it ran; 0: nowhere
  uint64_t queued = 0, submitted = 0, started = 0, ended = 0, completed = 0;
  uint64_t bytes = 0;                // that a copy or a fill writes
  uint64_t source = 0, target = 0;   // of a transfer: devices, 0 for the host's memory
  std::array<uint64_t, 3> global{};  // of a launch, work-items
  uint64_t groups = 0;               // of a launch, those that this one runs
  std::array<uint32_t, 3> local{};   // of a launch, work-items
  uint32_t type = 0;                 // cl_command_type
  int32_t status = 0;                // CL_COMPLETE or why it failed
  uint32_t flags = 0;
};
inline constexpr uint32_t flag_has_parts = 1;  // others do its work, and are recorded
inline constexpr uint32_t flag_transfer = 2;   // moves bytes of a memory object between memories

// "The command waits for the other."
struct DependencyRecord {
  static constexpr Kind kind = Kind::dependency;
  RecordHead head;
  uint64_t command = 0;
  uint64_t other = 0;
  uint64_t when = 0;
};

// A call of the API by the application. Text: its name.
struct CallRecord {
  static constexpr Kind kind = Kind::call;
  RecordHead head;
  uint64_t began = 0, ended = 0;
  int64_t code = 0;  // CL_SUCCESS, or the error
};

}  // namespace weft::profiling::trace
