// The processor of one software GPU: a process that has the GPU's memory, and that of the host only
// where it was given to it. A kernel that touches anything else ends it.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tests/software_gpu/processor/work_group.h"

namespace weft::software {
namespace {

constexpr size_t signal_stack_bytes = 65536;

void onFault(int, siginfo_t* info, void*) {
  char text[512];
  const char* const kernel = runningKernel();
  const int length =
      std::snprintf(text, sizeof text, "software GPU: %s touched %p, which is not its memory\n",
                    kernel ? kernel : "its processor", info->si_addr);
  [[maybe_unused]] const ssize_t written = write(2, text, static_cast<size_t>(length));
  _exit(1);
}

void handleFaults() {
  stack_t stack{};
  stack.ss_sp = std::malloc(signal_stack_bytes);
  stack.ss_size = signal_stack_bytes;
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigaction(signal, &action, nullptr);
}

void serveStream(int socket) {
  handleFaults();
  const auto launch = std::make_unique<LaunchRequest>();
  while (recv(socket, launch.get(), sizeof *launch, 0) > 0) {
    runGrid(*launch);
    const char done = 1;
    if (send(socket, &done, 1, MSG_NOSIGNAL) != 1) break;
  }
  close(socket);
}

// The descriptor that came along, or -1.
int receive(ControlRequest& request) {
  iovec data{&request, sizeof request};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  if (recvmsg(control_descriptor, &message, MSG_CMSG_CLOEXEC) <= 0) _exit(0);
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  int descriptor = -1;
  if (header) std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

void fail(ControlAnswer& answer, const char* why) {
  std::snprintf(answer.message, sizeof answer.message, "%s", why ? why : "unknown");
}

void map(const ControlRequest& request, int descriptor, ControlAnswer& answer) {
  void* const wanted = reinterpret_cast<void*>(request.address);
  answer.ok = mmap(wanted, request.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                   descriptor, static_cast<off_t>(request.offset)) == wanted;
  if (!answer.ok) fail(answer, std::strerror(errno));
}

// Loaded modules and their files, which stay open: the loader takes a name it has seen before for
// the same library.
std::map<void*, int> modules;

void load(int& descriptor, ControlAnswer& answer) {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module) modules[module] = std::exchange(descriptor, -1);
  answer.value = reinterpret_cast<uint64_t>(module);
  answer.ok = module != nullptr;
  if (!module) fail(answer, dlerror());
}

void unload(void* module) {
  dlclose(module);
  close(modules.at(module));
  modules.erase(module);
}

void find(const ControlRequest& request, ControlAnswer& answer) {
  void* const module = reinterpret_cast<void*>(request.address);
  void* const function = dlsym(module, request.name);
  const auto* const info =
      static_cast<const uint32_t*>(dlsym(module, (std::string(request.name) + ".info").c_str()));
  if (!function || !info || info[2] > max_parameters) return fail(answer, "no such kernel");
  answer.ok = true;
  answer.value = reinterpret_cast<uint64_t>(function);
  answer.layout.parameter_bytes = info[0];
  answer.layout.local_bytes = info[1];
  answer.layout.parameters = info[2];
  std::memcpy(answer.layout.places.data(), info + 3, info[2] * 2 * sizeof(uint32_t));
  for (uint32_t i = 0; i < info[2]; ++i) {
    uint32_t& size = answer.layout.places[i][1];
    answer.layout.local[i] = (size & local_parameter) != 0;
    size &= ~local_parameter;
  }
}

void serve() {
  for (;;) {
    const auto request = std::make_unique<ControlRequest>();
    const auto answer = std::make_unique<ControlAnswer>();
    int descriptor = receive(*request);
    answer->ok = true;
    switch (request->what) {
      case Control::map:
        map(*request, descriptor, *answer);
        break;
      case Control::unmap:
        munmap(reinterpret_cast<void*>(request->address), request->bytes);
        break;
      case Control::open:
        std::thread(serveStream, dup(descriptor)).detach();
        break;
      case Control::load:
        load(descriptor, *answer);
        break;
      case Control::unload:
        unload(reinterpret_cast<void*>(request->address));
        break;
      case Control::find:
        answer->ok = false;
        find(*request, *answer);
        break;
    }
    if (descriptor >= 0) close(descriptor);
    send(control_descriptor, answer.get(), sizeof *answer, MSG_NOSIGNAL);
  }
}

}  // namespace
}  // namespace weft::software

int main() {
  // No child of the application's, which may wait for all that it has.
  if (fork() != 0) _exit(0);
  fcntl(weft::software::control_descriptor, F_SETFD, FD_CLOEXEC);
  weft::software::handleFaults();
  weft::software::serve();
}
