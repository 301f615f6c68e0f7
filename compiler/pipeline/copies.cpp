#include "compiler/pipeline/copies.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/ErrorHandling.h>

#include "compiler/protocol.h"

namespace weft::compiler {
namespace {

constexpr int reason_status = 96;  // of a copy that sent why LLVM gave up in place of a result

struct Copy {
  pid_t pid;
  size_t number;
  Descriptor socket;
};

[[noreturn]] void sendReason(void* user, const char* reason, bool) {
  const llvm::StringRef text(reason);
  sendFrame(*static_cast<int*>(user), std::as_bytes(std::span(text.data(), text.size())));
  _exit(reason_status);
}

[[noreturn]] void beCopy(int socket, pid_t original, llvm::function_ref<port::Bytes()> work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != original) _exit(1);
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(sendReason, &socket);
  const port::Bytes result = work();
  _exit(sendFrame(socket, result) ? 0 : 1);
}

std::optional<Copy> makeCopy(size_t number, llvm::function_ref<port::Bytes(size_t)> work) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  Descriptor ours(ends[0]), theirs(ends[1]);
  const pid_t original = getpid();
  const pid_t pid = fork();
  if (pid < 0) return std::nullopt;
  if (pid == 0) beCopy(theirs.get(), original, [&] { return work(number); });
  return Copy{pid, number, std::move(ours)};
}

[[noreturn]] void endLike(int status) {
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  _exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1);
}

// The result of a copy that has something to say.
port::Bytes resultOf(const Copy& copy) {
  port::Bytes rest;
  std::optional<port::Bytes> frame = receiveFrame(copy.socket.get(), rest);
  int status = 0;
  while (waitpid(copy.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (frame && WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::move(*frame);
  if (frame && WIFEXITED(status) && WEXITSTATUS(status) == reason_status)
    llvm::report_fatal_error(
        llvm::StringRef(reinterpret_cast<const char*>(frame->data()), frame->size()), false);
  endLike(status);
}

}  // namespace

std::vector<port::Bytes> runInCopies(size_t count, unsigned at_once,
                                     llvm::function_ref<port::Bytes(size_t)> work) {
  std::vector<port::Bytes> results(count);
  std::vector<Copy> copies;
  for (size_t next = 0; next < count || !copies.empty();) {
    if (next < count && copies.size() < at_once) {
      if (std::optional<Copy> copy; at_once > 1 && count > 1 && (copy = makeCopy(next, work)))
        copies.push_back(std::move(*copy));
      else
        results[next] = work(next);
      ++next;
      continue;
    }
    std::vector<pollfd> events;
    for (const Copy& copy : copies) events.push_back({copy.socket.get(), POLLIN, 0});
    if (poll(events.data(), events.size(), -1) < 0) continue;
    for (size_t i = events.size(); i-- > 0;) {
      if (!events[i].revents) continue;
      results[copies[i].number] = resultOf(copies[i]);
      copies.erase(copies.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return results;
}

}  // namespace weft::compiler
