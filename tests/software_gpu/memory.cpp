#include "tests/software_gpu/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace weft::software {
namespace {

constexpr size_t page_bytes = 4096;
// New memory holds this, so that who reads it before it was written notices.
constexpr unsigned char poison = 0xcd;
constexpr size_t most_poisoned_bytes = size_t(1) << 20;

// Far from programs, libraries and stacks, so that the processor finds the addresses free, too.
// Only a wish: sanitizers put their own there.
void* wishedAddress(size_t bytes) {
  static std::atomic<uintptr_t> next{uintptr_t(0x600000000000)};
  constexpr size_t apart = size_t(1) << 32;
  return reinterpret_cast<void*>(next.fetch_add((bytes + apart - 1) / apart * apart + apart));
}

std::byte* mapped(void* wish, size_t bytes, int protection, int flags, int descriptor) {
  void* const address = mmap(wish, bytes, protection, flags, descriptor, 0);
  if (address == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "mapping a software GPU's memory");
  return static_cast<std::byte*>(address);
}

struct SharedMapping {
  dev_t device = 0;
  ino_t inode = 0;  // 0: it is not shared
  size_t offset = 0;
};

// The mapping of all of [host, host + bytes), if that is one of a file and shared.
SharedMapping findShared(const void* host, size_t bytes) {
  const auto wanted = reinterpret_cast<uintptr_t>(host);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    size_t offset = 0;
    unsigned long inode = 0;
    unsigned major_number = 0, minor_number = 0;
    char access[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %zx %x:%x %lu", &begin, &end, access, &offset,
                    &major_number, &minor_number, &inode) != 7 ||
        wanted < begin || wanted >= end)
      continue;
    if (access[3] != 's' || bytes > end - wanted) return {};
    return {makedev(major_number, minor_number), inode, offset + (wanted - begin)};
  }
  return {};
}

// A descriptor of its own for a file that this process has open; -1 when there is none.
int openFile(const SharedMapping& mapping) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    struct stat status{};
    if (fstat(descriptor, &status) == 0 && status.st_ino == mapping.inode &&
        status.st_dev == mapping.device)
      return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  }
  return -1;
}

// Where it is wished, if one of a few wishes can be had: another library's GPUs have the same.
std::byte* reserved(size_t bytes, int protection, int flags, int descriptor) {
  constexpr int wishes = 8;
  for (int i = 0; i < wishes; ++i) {
    void* const wish = wishedAddress(bytes);
    std::byte* const address = mapped(wish, bytes, protection, flags, descriptor);
    if (address == wish) return address;
    munmap(address, bytes);
  }
  return mapped(nullptr, bytes, protection, flags, descriptor);
}

}  // namespace

SharedBlock::SharedBlock(const char* name, size_t bytes, bool for_host)
    : bytes_(bytes), descriptor_(memfd_create(name, MFD_CLOEXEC)) {
  if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
    throw std::system_error(errno, std::generic_category(), "a software GPU's memory");
  constexpr int both = PROT_READ | PROT_WRITE;
  if (for_host) {
    address_ = access_ = reserved(bytes, both, MAP_SHARED, descriptor_);
    return;
  }
  access_ = mapped(nullptr, bytes, both, MAP_SHARED, descriptor_);
  address_ = reserved(bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

SharedBlock::~SharedBlock() {
  munmap(address_, bytes_);
  if (access_ != address_) munmap(access_, bytes_);
  close(descriptor_);
}

bool SharedBlock::holds(const void* address) const {
  const auto* const byte = static_cast<const std::byte*>(address);
  return byte >= address_ && byte < address_ + bytes_;
}

std::byte* SharedBlock::access(const void* address) const {
  return access_ + (static_cast<const std::byte*>(address) - address_);
}

void SharedBlock::discard(size_t offset, size_t bytes) const {
  fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(bytes));
}

SharedPages makeShared(void* host, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(host) % page_bytes != 0 || bytes % page_bytes != 0) return {};
  // What was registered before is shared, too, and its file is closed.
  if (const SharedMapping mapping = findShared(host, bytes); mapping.inode != 0)
    if (const int open = openFile(mapping); open >= 0) return {open, mapping.offset};
  const int descriptor = memfd_create("software-gpu-registered", MFD_CLOEXEC);
  if (descriptor < 0) return {};
  const auto* const begin = static_cast<const std::byte*>(host);
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = pwrite(descriptor, begin + done, bytes - done, static_cast<off_t>(done));
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  if (done == bytes &&
      mmap(host, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0) == host)
    return {descriptor, 0};
  close(descriptor);
  return {};
}

void* Heap::allocate(size_t bytes) {
  const size_t size = (std::max<size_t>(bytes, 1) + page_bytes - 1) / page_bytes * page_bytes;
  size_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto place = std::ranges::find_if(free_, [&](const auto& f) { return f.second >= size; });
    if (place == free_.end()) return nullptr;
    offset = place->first;
    const size_t rest = place->second - size;
    free_.erase(place);
    if (rest > 0) free_.emplace(offset + size, rest);
    used_.emplace(offset, size);
  }
  std::byte* const address = block_.address() + offset;
  std::memset(block_.access(address), poison, std::min(size, most_poisoned_bytes));
  return address;
}

bool Heap::release(void* address) {
  const auto offset = static_cast<size_t>(static_cast<std::byte*>(address) - block_.address());
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(offset);
  if (found == used_.end()) return false;
  size_t bytes = found->second;
  block_.discard(offset, bytes);
  used_.erase(found);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin())
    if (const auto before = std::prev(next); before->first + before->second == offset) {
      before->second += bytes;
      return true;
    }
  free_.emplace(offset, bytes);
  return true;
}

std::optional<Heap::Range> Heap::rangeOf(const void* address) const {
  const auto offset =
      static_cast<size_t>(static_cast<const std::byte*>(address) - block_.address());
  const std::lock_guard lock(mutex_);
  auto found = used_.upper_bound(offset);
  if (found == used_.begin()) return std::nullopt;
  --found;
  if (offset >= found->first + found->second) return std::nullopt;
  return Range{block_.address() + found->first, found->second};
}

bool Heap::holds(const void* address, size_t bytes) const {
  const auto range = rangeOf(address);
  if (!range) return false;
  const auto* const end = static_cast<const std::byte*>(range->begin) + range->bytes;
  return bytes <= static_cast<size_t>(end - static_cast<const std::byte*>(address));
}

size_t Heap::available() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& [offset, size] : free_) bytes += size;
  return bytes;
}

}  // namespace weft::software
