#include "backends/cpu/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/dynamic_loader.h"
#include "core/error.h"

namespace weft::cpu {
namespace {

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool writeAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(size_t(n));
  }
  return true;
}

// "/proc/123", which is this process for others, too: debuggers open the libraries of a program by
// their names, and "self" would be the debugger, whose descriptor of that number may be a pipe that
// it then reads for ever. By /proc's own numbers, which may be those of another namespace.
std::string processDirectory() {
  char number[32];
  const ssize_t n = readlink("/proc/self", number, sizeof number);
  const bool is_whole = n > 0 && static_cast<size_t>(n) < sizeof number;
  return "/proc/" + (is_whole ? std::string(number, static_cast<size_t>(n)) : std::string("self"));
}

// The dynamic loader takes an open library whose *name* it has seen for the same library, and
// descriptors are used again. The path of a descriptor is therefore spelled differently each time:
// a counter's bits as "//" and "/./".
std::string uniquePath(int fd) {
  static std::atomic<uint64_t> counter{0};
  std::string path = processDirectory() + "/fd";
  for (uint64_t n = counter.fetch_add(1, std::memory_order_relaxed); n != 0; n >>= 1)
    path += (n & 1) != 0 ? "/." : "/";
  return path + "/" + std::to_string(fd);
}

void* openLibrary(const std::string& path, std::string& error) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) error = takeLoaderError();
  return library;
}

void* openFromMemory(std::span<const std::byte> payload, std::string& error) {
  const Descriptor file(memfd_create("weft-image", MFD_CLOEXEC));
  if (!file || !writeAll(file.get(), payload)) {
    error = std::string("memfd: ") + std::strerror(errno);
    return nullptr;
  }
  return openLibrary(uniquePath(file.get()), error);
}

// For systems without memfd, or where what it makes may not be mapped executable.
void* openFromFile(std::span<const std::byte> payload, std::string& error) {
  const char* directory = secure_getenv("TMPDIR");
  std::string path = std::string(directory ? directory : "/tmp") + "/weft-image-XXXXXX";
  const Descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (!file) {
    error += std::string("; ") + path + ": " + std::strerror(errno);
    return nullptr;
  }
  void* library = nullptr;
  if (writeAll(file.get(), payload))
    library = openLibrary(path, error);
  else
    error += std::string("; ") + path + ": " + std::strerror(errno);
  unlink(path.c_str());
  return library;
}

bool isSharedObject(std::span<const std::byte> payload) {
  Elf64_Ehdr header;
  if (payload.size() < sizeof header) return false;
  std::memcpy(&header, payload.data(), sizeof header);
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_DYN;
}

}  // namespace

Library::Library(std::span<const std::byte> payload) {
  require(isSharedObject(payload), CL_INVALID_BINARY, "not an ELF shared object");
  std::string error;
  handle_ = openFromMemory(payload, error);
  if (!handle_) handle_ = openFromFile(payload, error);
  if (!handle_) throw Error(CL_INVALID_BINARY, error);
}

Library::~Library() { dlclose(handle_); }

void* Library::find(const char* symbol) const noexcept { return findSymbol(handle_, symbol); }

}  // namespace weft::cpu
