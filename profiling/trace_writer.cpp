#include "profiling/trace_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <system_error>
#include <utility>

#include "core/thread_local.h"
#include "profiling/clock.h"

namespace weft::profiling {
namespace {

using namespace trace;

constexpr uint64_t usual_limit_mib = 1024;

void tell(const std::exception& error) noexcept {
  std::fprintf(stderr, "weft: nothing is recorded (WEFT_TRACE): %s\n", error.what());
}

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), path);
}

uint64_t realtime() noexcept {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

// Arguments with blanks between them, as far as there is room.
void readCommandLine(std::array<char, 2048>& line) noexcept {
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t length = read(file, line.data(), line.size() - 1);
  close(file);
  if (length <= 0) return line.fill('\0');
  std::replace(line.begin(), line.begin() + length - 1, '\0', ' ');
  line[length] = '\0';
}

// A thread's place in its chunk. What is left of it is zeros.
struct Cursor {
  const TraceWriter* writer = nullptr;
  std::byte* at = nullptr;
  std::byte* end = nullptr;
};

WEFT_THREAD_LOCAL constinit Cursor cursor;

}  // namespace

constinit std::atomic<TraceWriter*> TraceWriter::active_{nullptr};
constinit std::atomic<const TraceWriter*> TraceWriter::parents_{nullptr};

bool TraceWriter::isRequested() noexcept {
  const char* const folder = secure_getenv("WEFT_TRACE");
  return folder && *folder;
}

void TraceWriter::startFromEnvironment() noexcept {
  if (!isRequested() || active()) return;
  const char* const folder = secure_getenv("WEFT_TRACE");
  const char* const limit = std::getenv("WEFT_TRACE_LIMIT");
  const uint64_t mib = limit ? std::strtoull(limit, nullptr, 10) : 0;
  try {
    start(folder, (mib > 0 ? mib : usual_limit_mib) << 20);
  } catch (const std::exception& error) {
    tell(error);
  }
}

void TraceWriter::start(const std::string& folder, uint64_t limit) {
  keep(std::unique_ptr<TraceWriter>(new TraceWriter(folder, limit)));
  static const int registered = pthread_atfork(nullptr, nullptr, &TraceWriter::onFork);
  static_cast<void>(registered);
}

// Others may be at it whenever it is replaced, so none ever ends.
void TraceWriter::keep(std::unique_ptr<TraceWriter> writer) noexcept {
  static constinit std::atomic<TraceWriter*> newest{nullptr};
  writer->older_ = newest.exchange(writer.get(), std::memory_order_relaxed);
  active_.store(writer.release(), std::memory_order_release);
}

TraceWriter::TraceWriter(const std::string& folder, uint64_t limit)
    : folder_(folder),
      path_(folder + "/" + std::to_string(getpid()) + file_suffix),
      limit_(std::clamp<uint64_t>(limit / segment_bytes, 1, most_segments)) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail(folder);
  // What is there is of an earlier process that had the number.
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) fail(path_);
  if (!segment(0)) {
    const int why = errno;
    close(file_);
    errno = why;
    fail(path_);
  }
  FileHeader& header = this->header();
  header.process = static_cast<uint32_t>(getpid());
  header.began = now();
  header.began_realtime = realtime();
  readCommandLine(header.command_line);
  header.magic = magic;
}

// The child has the parent's mapping, of a file in which the parent goes on. Only this thread of
// the parent's is there.
void TraceWriter::onFork() noexcept {
  if (const TraceWriter* const parents = active())
    parents_.store(parents, std::memory_order_relaxed);
  cursor = {};
  stop();
}

void TraceWriter::resume() noexcept {
  if (!parents_.load(std::memory_order_relaxed)) return;
  const TraceWriter* const parents = parents_.exchange(nullptr, std::memory_order_relaxed);
  if (!parents) return;
  try {
    start(parents->folder_, parents->limit_ * segment_bytes);
  } catch (const std::exception& error) {
    tell(error);
  }
}

FileHeader& TraceWriter::header() noexcept {
  return *reinterpret_cast<FileHeader*>(segments_[0].load(std::memory_order_relaxed));
}

// Null, with errno, when there is no more room.
std::byte* TraceWriter::segment(size_t index) noexcept {
  if (index >= limit_) return errno = EFBIG, nullptr;
  if (std::byte* const mapped = segments_[index].load(std::memory_order_acquire)) return mapped;
  const std::lock_guard lock(growing_);
  if (std::byte* const mapped = segments_[index].load(std::memory_order_acquire)) return mapped;
  const auto offset = static_cast<off_t>(index * segment_bytes);
  // Or a full disk would be a SIGBUS of whoever writes.
  if (const int error = posix_fallocate(file_, offset, segment_bytes))
    return errno = error, nullptr;
  void* const mapped =
      mmap(nullptr, segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, offset);
  if (mapped == MAP_FAILED) return nullptr;
  segments_[index].store(static_cast<std::byte*>(mapped), std::memory_order_release);
  return static_cast<std::byte*>(mapped);
}

std::byte* TraceWriter::claimChunk() noexcept {
  const size_t index = next_chunk_.fetch_add(1, std::memory_order_relaxed);
  std::byte* const mapped = segment(index / chunks_per_segment);
  if (!mapped) return nullptr;
  std::byte* const chunk = mapped + (index % chunks_per_segment) * chunk_bytes;
  auto& header = *reinterpret_cast<ChunkHeader*>(chunk);
  pthread_getname_np(pthread_self(), header.thread_name.data(), header.thread_name.size());
  std::atomic_ref(header.thread).store(static_cast<uint32_t>(gettid()), std::memory_order_release);
  return chunk;
}

void TraceWriter::append(RecordHead& head, const void* record, size_t bytes,
                         std::string_view text) noexcept {
  text = text.substr(0, most_text);
  constexpr size_t mask = record_alignment - 1;
  const size_t whole = (bytes + text.size() + mask) & ~mask;
  if (cursor.writer != this || static_cast<size_t>(cursor.end - cursor.at) < whole) {
    const int kept_errno = errno;
    std::byte* const chunk = claimChunk();
    errno = kept_errno;
    if (!chunk) {
      std::atomic_ref(header().dropped).fetch_add(1, std::memory_order_relaxed);
      return;
    }
    cursor = {this, chunk + sizeof(ChunkHeader), chunk + chunk_bytes};
  }
  std::byte* const at = std::exchange(cursor.at, cursor.at + whole);
  head.text = static_cast<uint16_t>(text.size());
  std::memcpy(at, record, bytes);  // its size is still 0
  if (!text.empty()) std::memcpy(at + bytes, text.data(), text.size());
  std::atomic_ref(reinterpret_cast<RecordHead*>(at)->bytes)
      .store(static_cast<uint32_t>(whole), std::memory_order_release);
}

}  // namespace weft::profiling
