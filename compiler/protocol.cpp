#include "compiler/protocol.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace weft::compiler {
namespace {

// Control data for one descriptor, aligned as the kernel wants it.
union ControlBuffer {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

bool sendBytes(int socket, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool sendFrame(int socket, std::span<const std::byte> body) {
  const uint64_t size = body.size();
  return sendBytes(socket, &size, sizeof size) && sendBytes(socket, body.data(), body.size());
}

std::optional<port::Bytes> receiveFrame(int socket, port::Bytes& rest) {
  uint64_t size = 0;
  rest.clear();
  char chunk[1 << 16];
  for (;;) {
    const bool sized = rest.size() >= sizeof size;
    if (sized) std::memcpy(&size, rest.data(), sizeof size);
    if (sized && rest.size() - sizeof size >= size) break;
    const ssize_t got = recv(socket, chunk, sizeof chunk, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    const auto* bytes = reinterpret_cast<const std::byte*>(chunk);
    rest.insert(rest.end(), bytes, bytes + got);
  }
  const auto begin = rest.begin() + sizeof size;
  return port::Bytes(begin, begin + static_cast<std::ptrdiff_t>(size));
}

std::optional<Note> noteIn(std::span<const std::byte> rest) {
  Note note;
  if (rest.size() < sizeof note) return std::nullopt;
  const Note expected;
  std::memcpy(&note, rest.last(sizeof note).data(), sizeof note);
  if (std::memcmp(note.magic, expected.magic, sizeof note.magic) != 0) return std::nullopt;
  return note;
}

bool sendDescriptor(int socket, int descriptor) {
  char byte = 0;
  iovec data{&byte, 1};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == 1;
}

int receiveDescriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t got;
  do got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
    return -2;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

}  // namespace weft::compiler
