#include "compiler/client/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "compiler/wire.h"
#include "core/image.h"
#include "core/user_cache.h"

namespace weft::compiler {
namespace {

constexpr uint64_t standard_capacity = uint64_t{1} << 30;
constexpr const char* size_file = "size";
constexpr const char* entry_suffix = ".weft";
constexpr const char* temporary_prefix = ".new-";
constexpr time_t touch_interval = 600;       // seconds between updates of an entry's last use
constexpr time_t temporary_lifetime = 3600;  // seconds after which a temporary file is an orphan's

struct EntryHeader {
  char magic[8] = {'W', 'E', 'F', 'T', 'C', 'A', 'C', '1'};
  uint64_t bytes = 0;
  Hash hash{};
};

std::string entryName(const Hash& key) {
  char name[48];
  std::snprintf(name, sizeof name, "%016llx%016llx%s", static_cast<unsigned long long>(key[0]),
                static_cast<unsigned long long>(key[1]), entry_suffix);
  return name;
}

std::optional<port::Bytes> readWhole(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  port::Bytes bytes(static_cast<size_t>(status.st_size));
  if (pread(fd, bytes.data(), bytes.size(), 0) != status.st_size) return std::nullopt;
  return bytes;
}

bool writeWhole(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

port::Bytes encode(const Answer& answer) {
  const port::Bytes body = writeAnswer(answer);
  EntryHeader header;
  header.bytes = body.size();
  header.hash = hashBytes(body);
  port::Bytes entry(sizeof header + body.size());
  std::memcpy(entry.data(), &header, sizeof header);
  std::copy(body.begin(), body.end(), entry.begin() + sizeof header);
  return entry;
}

std::optional<Answer> decode(std::span<const std::byte> entry) {
  EntryHeader header;
  const EntryHeader expected;
  if (entry.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, entry.data(), sizeof header);
  const auto body = entry.subspan(sizeof header);
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
      header.bytes != body.size() || header.hash != hashBytes(body))
    return std::nullopt;
  auto answer = readAnswer(body);
  if (!answer || !answer->result.ok) return std::nullopt;
  return answer;
}

bool unchanged(const std::vector<FileUse>& files) {
  return std::all_of(files.begin(), files.end(), [](const FileUse& file) {
    if (!file.found) return access(file.path.c_str(), F_OK) != 0;
    return hashFile(file.path) == file.hash;
  });
}

std::string temporaryName() {
  static std::atomic<uint64_t> counter{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return temporary_prefix + std::to_string(getpid()) + "-" + std::to_string(now.tv_nsec) + "-" +
         std::to_string(counter++);
}

struct StoredEntry {
  std::string name;
  uint64_t bytes;
  timespec used;
};

bool olderThan(const StoredEntry& a, const StoredEntry& b) {
  return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
}

// Every entry; removes temporary files that a dead process left.
std::vector<StoredEntry> listEntries(int directory) {
  std::vector<StoredEntry> entries;
  const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = copy >= 0 ? fdopendir(copy) : nullptr;
  if (!stream) return entries;
  while (const dirent* item = readdir(stream)) {
    const std::string name = item->d_name;
    const bool temporary = name.starts_with(temporary_prefix);
    struct stat status;
    if ((!temporary && !name.ends_with(entry_suffix)) ||
        fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (!temporary)
      entries.push_back({name, static_cast<uint64_t>(status.st_size), status.st_mtim});
    else if (status.st_mtim.tv_sec + temporary_lifetime < time(nullptr))
      unlinkat(directory, name.c_str(), 0);
  }
  closedir(stream);
  return entries;
}

uint64_t environmentCapacity() {
  const char* text = std::getenv("WEFT_CACHE_MAX_MB");
  uint64_t value = 0;
  if (!text) return standard_capacity;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  return error == std::errc() && *end == '\0' ? value << 20 : standard_capacity;
}

}  // namespace

Cache Cache::fromEnvironment() { return Cache(userCacheDirectory(), environmentCapacity()); }

Cache::Cache(const std::string& directory, uint64_t capacity_bytes)
    : path_(directory), directory_(openUserDirectory(directory)), capacity_(capacity_bytes) {}

std::string Cache::describe() const {
  if (path_.empty()) return "off";
  if (!directory_) return path_ + " is not ours to write, so nothing is cached";
  return path_ + ", up to " + std::to_string(capacity_ >> 20) + " MiB";
}

std::optional<Answer> Cache::find(const Hash& key) const {
  if (!directory_) return std::nullopt;
  const Descriptor file(openat(directory_.get(), entryName(key).c_str(),
                               O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return std::nullopt;
  const auto bytes = readWhole(file.get());
  auto answer = bytes ? decode(*bytes) : std::nullopt;
  if (!answer || !unchanged(answer->files)) return std::nullopt;
  struct stat status;
  if (fstat(file.get(), &status) == 0 && status.st_mtim.tv_sec + touch_interval < time(nullptr))
    futimens(file.get(), nullptr);
  return answer;
}

void Cache::store(const Hash& key, const Answer& answer) const {
  const port::Bytes entry = encode(answer);
  if (!directory_ || entry.size() > capacity_) return;
  const std::string temporary = temporaryName();
  const Descriptor file(openat(directory_.get(), temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return;
  if (!writeWhole(file.get(), entry) || renameat(directory_.get(), temporary.c_str(),
                                                 directory_.get(), entryName(key).c_str()) != 0) {
    unlinkat(directory_.get(), temporary.c_str(), 0);
    return;
  }
  account(entry.size());
}

// The size file holds the sum of what was stored; only when that passes the capacity is the
// directory read and the true sum put there.
void Cache::account(uint64_t bytes) const {
  const Descriptor file(
      openat(directory_.get(), size_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || flock(file.get(), LOCK_EX) != 0) return;
  uint64_t total = 0;
  const bool known = pread(file.get(), &total, sizeof total, 0) == sizeof total;
  total += bytes;
  if (!known || total > capacity_) total = evict();
  if (pwrite(file.get(), &total, sizeof total, 0) != sizeof total && ftruncate(file.get(), 0) != 0)
    unlinkat(directory_.get(), size_file, 0);
}

// Down to four fifths of the capacity, least recently used first.
uint64_t Cache::evict() const {
  std::vector<StoredEntry> entries = listEntries(directory_.get());
  uint64_t total = 0;
  for (const StoredEntry& entry : entries) total += entry.bytes;
  if (total <= capacity_) return total;
  std::sort(entries.begin(), entries.end(), olderThan);
  for (const StoredEntry& entry : entries) {
    if (total <= capacity_ / 5 * 4) break;
    if (unlinkat(directory_.get(), entry.name.c_str(), 0) == 0) total -= entry.bytes;
  }
  return total;
}

}  // namespace weft::compiler
