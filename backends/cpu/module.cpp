#include "backends/cpu/module.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

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

// The dynamic loader takes an open library whose *name* it has seen for the same library, and
// descriptors are used again. The path of a descriptor is therefore spelled differently each time:
// a counter's bits as "//" and "/./".
std::string uniquePath(int fd) {
  static std::atomic<uint64_t> counter{0};
  std::string path = "/proc/self/fd";
  for (uint64_t n = counter.fetch_add(1, std::memory_order_relaxed); n != 0; n >>= 1)
    path += (n & 1) != 0 ? "/." : "/";
  return path + "/" + std::to_string(fd);
}

void* openLibrary(const std::string& path, std::string& error) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* message = dlerror();
    error = message ? message : "dlopen failed";
  }
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

void KernelTiming::record(port::Nanoseconds elapsed, uint64_t items) noexcept {
  if (items == 0) return;
  const float sample = std::max(float(elapsed), 1.0f) / float(items);
  const float known = per_item_.load(std::memory_order_relaxed);
  per_item_.store(known < 0 ? sample : known + (sample - known) / 4, std::memory_order_relaxed);
}

Module::Module(const Image& image) {
  require(image.kind == ImageKind::executable && image.target.kind == port::TargetKind::host_cpu,
          CL_INVALID_BINARY, "not an executable for the host's processor");
  require(isSharedObject(image.payload), CL_INVALID_BINARY, "not an ELF shared object");
  std::string error;
  library_ = openFromMemory(image.payload, error);
  if (!library_) library_ = openFromFile(image.payload, error);
  if (!library_) throw Error(CL_INVALID_BINARY, error);
  destroy_objects_ = reinterpret_cast<void (*)()>(dlsym(library_, port::destroy_objects_symbol));
  for (const KernelInfo& info : image.kernels) {
    void* symbol = dlsym(library_, info.symbol.c_str());
    if (!symbol) {
      dlclose(library_);
      throw Error(CL_INVALID_BINARY, "no symbol " + info.symbol);
    }
    kernels_.push_back(
        std::make_unique<Kernel>(info, reinterpret_cast<port::CpuKernelEntry>(symbol)));
  }
}

std::optional<uint32_t> Module::find(const void* entry) const noexcept {
  for (size_t i = 0; i < kernels_.size(); ++i)
    if (reinterpret_cast<const void*>(kernels_[i]->entry) == entry) return uint32_t(i);
  return std::nullopt;
}

Module::~Module() {
  if (destroy_objects_) destroy_objects_();
  dlclose(library_);
}

}  // namespace weft::cpu
