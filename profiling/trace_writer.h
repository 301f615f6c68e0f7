// Records what the process does, where WEFT_TRACE names a folder (docs/tracing.md).
//
// Each thread writes into a chunk of its own of a file that is mapped into memory: no lock, no
// system call and no thread on the way of a record, and nothing to be done when the process ends.
// Without the setting all that is left of it is one look at a pointer.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "profiling/trace_records.h"

namespace weft::profiling {

// Thread-safe. Lives as long as the process.
class TraceWriter {
 public:
  // Null: nothing is recorded.
  static TraceWriter* active() noexcept { return active_.load(std::memory_order_acquire); }

  // Does the environment say so?
  static bool isRequested() noexcept;
  // Begins to record if the environment says so. What is in the way is a line on standard error.
  // To be called once, before the first record.
  static void startFromEnvironment() noexcept;
  // Begins to record into a file of that folder, which is made if need be. At most `limit` bytes
  // are written, then records are only counted. Throws std::system_error.
  static void start(const std::string& folder, uint64_t limit);
  // In a forked child, where nothing is recorded at first, since most children only start another
  // program: begins to record as its parent did. Does nothing elsewhere.
  static void resume() noexcept;
  // What comes now is not recorded. For tests: whoever has active() may still use it.
  static void stop() noexcept { active_.store(nullptr, std::memory_order_release); }

  // R: a record of trace_records.h. Text beyond trace::most_text is cut off.
  template <class R>
  void write(R record, std::string_view text = {}) noexcept {
    record.head.kind = R::kind;
    append(record.head, &record, sizeof record, text);
  }
  const std::string& file() const { return path_; }

 private:
  // Mapped and taken from the disk as a whole.
  static constexpr size_t chunks_per_segment = 64;
  static constexpr size_t segment_bytes = chunks_per_segment * trace::chunk_bytes;
  static constexpr size_t most_segments = 4096;

  TraceWriter(const std::string& folder, uint64_t limit);
  static void keep(std::unique_ptr<TraceWriter> writer) noexcept;
  static void onFork() noexcept;
  void append(trace::RecordHead& head, const void* record, size_t bytes,
              std::string_view text) noexcept;
  std::byte* claimChunk() noexcept;
  std::byte* segment(size_t index) noexcept;
  trace::FileHeader& header() noexcept;

  static std::atomic<TraceWriter*> active_;
  static std::atomic<const TraceWriter*> parents_;  // in a forked child

  std::string folder_, path_;
  size_t limit_;  // segments
  int file_ = -1;
  std::atomic<size_t> next_chunk_{1};
  TraceWriter* older_ = nullptr;
  std::mutex growing_;
  std::array<std::atomic<std::byte*>, most_segments> segments_{};
};

}  // namespace weft::profiling
