#include "compiler/pipeline/temporary_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace weft::compiler {
namespace {

std::string pathOf(const Descriptor& file) { return "/proc/self/fd/" + std::to_string(file.get()); }

// For sandboxes without /proc.
Descriptor createOnDisk(std::string& path) {
  const char* directory = secure_getenv("TMPDIR");
  path = std::string(directory ? directory : "/tmp") + "/weft-XXXXXX";
  return Descriptor(mkostemp(path.data(), O_CLOEXEC));
}

port::Bytes readToEnd(int fd) {
  port::Bytes bytes;
  for (;;) {
    const size_t size = bytes.size();
    bytes.resize(size + (size_t{64} << 10));
    const ssize_t got = read(fd, bytes.data() + size, bytes.size() - size);
    bytes.resize(size + static_cast<size_t>(got > 0 ? got : 0));
    if (got == 0 || (got < 0 && errno != EINTR)) return bytes;
  }
}

}  // namespace

InputFile::InputFile(std::span<const std::byte> bytes)
    : file_(memfd_create("weft-object", MFD_CLOEXEC)), path_(pathOf(file_)) {
  if (access(path_.c_str(), R_OK) != 0) {
    file_ = createOnDisk(path_);
    on_disk_ = true;
  }
  while (!bytes.empty()) {
    const ssize_t written = write(file_.get(), bytes.data(), bytes.size());
    if (written <= 0) break;  // the linker will find the file damaged
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

InputFile::~InputFile() {
  if (on_disk_) unlink(path_.c_str());
}

OutputFile::OutputFile() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  Descriptor read_end(ends[0]);
  write_end_.reset(ends[1]);
  path_ = pathOf(write_end_);
  if (access(path_.c_str(), W_OK) == 0) {
    reader_ = std::thread([this, end = std::move(read_end)] { bytes_ = readToEnd(end.get()); });
    return;
  }
  write_end_ = createOnDisk(path_);
  on_disk_ = true;
}

OutputFile::~OutputFile() { take(); }

port::Bytes OutputFile::take() {
  write_end_.reset();  // the reader's end of file
  if (reader_.joinable()) reader_.join();
  if (on_disk_) {
    // Opened anew: the linker replaced the file.
    const Descriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (file) bytes_ = readToEnd(file.get());
    unlink(path_.c_str());
    on_disk_ = false;
  }
  return std::move(bytes_);
}

}  // namespace weft::compiler
