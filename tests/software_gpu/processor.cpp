#include "tests/software_gpu/processor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace weft::software {
namespace {

constexpr const char* program_name = "software-gpu-processor";

std::string programPath() {
  Dl_info info{};
  static const char here = 0;
  if (dladdr(&here, &info) == 0) throw std::runtime_error("the runtime does not find itself");
  const std::string library = info.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + program_name;
}

std::array<int, 2> socketPair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::runtime_error("no sockets for a software GPU");
  return ends;
}

// The program forks and ends, so the application has no child that it does not know of.
void start(int socket) {
  const std::string path = programPath();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // A duplicate is not closed by the exec, even where the numbers are the same.
  posix_spawn_file_actions_adddup2(&actions, socket, control_descriptor);
  char name[64];
  std::snprintf(name, sizeof name, "%s", program_name);
  char* arguments[] = {name, nullptr};
  char* environment[] = {nullptr};
  pid_t child = 0;
  const int failure = posix_spawn(&child, path.c_str(), &actions, nullptr, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("cannot start " + path);
  waitpid(child, nullptr, 0);
}

ControlAnswer failure(const char* why) {
  ControlAnswer answer;
  std::snprintf(answer.message, sizeof answer.message, "%s", why);
  return answer;
}

}  // namespace

Processor::Processor() {
  const auto ends = socketPair();
  control_ = ends[0];
  start(ends[1]);
  close(ends[1]);
}

Processor::~Processor() { close(control_); }

ControlAnswer Processor::ask(const ControlRequest& request, int descriptor) {
  const std::lock_guard lock(mutex_);
  iovec data{const_cast<ControlRequest*>(&request),
             offsetof(ControlRequest, name) + std::strlen(request.name) + 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  ControlAnswer answer;
  if (sendmsg(control_, &message, MSG_NOSIGNAL) < 0 ||
      recv(control_, &answer, sizeof answer, 0) != sizeof answer)
    return failure("the processor has ended");
  return answer;
}

ControlAnswer Processor::map(const void* address, size_t bytes, const SharedPages& pages) {
  ControlRequest request;
  request.what = Control::map;
  request.address = reinterpret_cast<uint64_t>(address);
  request.bytes = bytes;
  request.offset = pages.offset;
  return ask(request, pages.descriptor);
}

ControlAnswer Processor::unmap(const void* address, size_t bytes) {
  ControlRequest request;
  request.what = Control::unmap;
  request.address = reinterpret_cast<uint64_t>(address);
  request.bytes = bytes;
  return ask(request);
}

ControlAnswer Processor::load(const void* image, size_t bytes) {
  const int file = memfd_create("software-gpu-module", MFD_CLOEXEC);
  if (file < 0) return failure("no memory");
  ControlRequest request;
  request.what = Control::load;
  const bool written = write(file, image, bytes) == static_cast<ssize_t>(bytes);
  const ControlAnswer answer = written ? ask(request, file) : failure("no memory");
  close(file);
  return answer;
}

ControlAnswer Processor::unload(uint64_t module) {
  ControlRequest request;
  request.what = Control::unload;
  request.address = module;
  return ask(request);
}

ControlAnswer Processor::find(uint64_t module, const std::string& name) {
  ControlRequest request;
  request.what = Control::find;
  request.address = module;
  if (name.size() >= sizeof request.name) return failure("the name is too long");
  std::memcpy(request.name, name.c_str(), name.size() + 1);
  return ask(request);
}

int Processor::open() {
  const auto ends = socketPair();
  ControlRequest request;
  request.what = Control::open;
  const bool ok = ask(request, ends[1]).ok;
  close(ends[1]);
  if (ok) return ends[0];
  close(ends[0]);
  return -1;
}

bool launchAndWait(int socket, const LaunchRequest& launch) {
  const size_t bytes = offsetof(LaunchRequest, parameters) + launch.parameter_bytes;
  char done = 0;
  return send(socket, &launch, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes) &&
         recv(socket, &done, 1, 0) == 1;
}

}  // namespace weft::software
