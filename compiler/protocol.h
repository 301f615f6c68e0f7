// How the library and weft-compilerd talk. The library sends one byte and one end of a new stream
// socket over the control socket for each job. On that stream it sends a frame with the job and
// gets a frame with the answer; a Note follows when the process that ran the job ended without one.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <span>

#include "core/ports/compiler.h"

namespace weft::compiler {

// Descriptors of weft-compilerd.
inline constexpr int control_descriptor = 3;
inline constexpr int watch_descriptor = 4;  // readable once the application is gone; may be closed

enum class Ending : uint32_t { killed = 1, time_limit, memory_limit, exited };

struct Note {
  char magic[8] = {'W', 'E', 'F', 'T', 'N', 'O', 'T', 'E'};
  Ending ending = Ending::killed;
  uint32_t detail = 0;  // signal, seconds, MiB, exit status
};

// False when the other side is gone.
bool sendBytes(int socket, const void* data, size_t size);
bool sendFrame(int socket, std::span<const std::byte> body);
// The next frame; nullopt at the end of the stream. What came instead of a whole frame is left in
// `rest`.
std::optional<port::Bytes> receiveFrame(int socket, port::Bytes& rest);
// The note at the end of `rest`, if there is one.
std::optional<Note> noteIn(std::span<const std::byte> rest);

bool sendDescriptor(int socket, int descriptor);
// -1: nothing there any more; -2: a message without a descriptor.
int receiveDescriptor(int socket);

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace weft::compiler
