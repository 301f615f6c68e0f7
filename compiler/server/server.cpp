#include "compiler/server/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <vector>

#include "compiler/pipeline/target.h"
#include "compiler/protocol.h"
#include "compiler/server/processor_time.h"
#include "compiler/server/worker.h"

namespace weft::compiler {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto idle_time = std::chrono::minutes(2);
constexpr auto memory_check = std::chrono::milliseconds(50);

struct Child {
  pid_t pid;
  Descriptor socket;  // the job's, for the note
  Clock::time_point begun;
  std::optional<Note> verdict;  // set when the server ended it
};

size_t availableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

uint64_t residentMib(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/statm", static_cast<int>(pid));
  unsigned long pages = 0;
  if (FILE* file = std::fopen(path, "re")) {
    if (std::fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) >> 20;
}

Note noteFor(int status, const Limits& limits) {
  Note note;
  if (WIFSIGNALED(status)) {
    note.ending = WTERMSIG(status) == SIGXCPU ? Ending::time_limit : Ending::killed;
    note.detail = static_cast<uint32_t>(note.ending == Ending::time_limit ? limits.seconds
                                                                          : WTERMSIG(status));
  } else if (WEXITSTATUS(status) == out_of_memory_status) {
    note.ending = Ending::memory_limit;
    note.detail = static_cast<uint32_t>(limits.memory_mib);
  } else {
    note.ending = Ending::exited;
    note.detail = static_cast<uint32_t>(WEXITSTATUS(status));
  }
  return note;
}

class Server {
 public:
  Server() : limits_(readLimits()), parallel_(availableProcessors()) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, nullptr);
    child_signals_.reset(signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
    fcntl(control_descriptor, F_SETFD, FD_CLOEXEC);
    watched_ = fcntl(watch_descriptor, F_SETFD, FD_CLOEXEC) == 0;
  }

  int run() {
    while (serveOnce()) {
    }
    for (const Child& child : children_) kill(child.pid, SIGKILL);
    return 0;
  }

 private:
  // False when it is time to end.
  bool serveOnce() {
    pollfd events[] = {{control_descriptor, POLLIN, 0},
                       {child_signals_.get(), POLLIN, 0},
                       {watched_ ? watch_descriptor : -1, POLLIN, 0}};
    const auto wait = children_.empty() ? std::chrono::milliseconds(idle_time) : memory_check;
    const int ready = poll(events, std::size(events), static_cast<int>(wait.count()));
    if (ready == 0 && children_.empty()) return false;
    if (events[2].revents) return false;
    if (events[1].revents) reap();
    enforceLimits();
    if (events[0].revents && !accept()) return false;
    while (!waiting_.empty() && children_.size() < parallel_) start();
    return true;
  }

  bool accept() {
    const int socket = receiveDescriptor(control_descriptor);
    if (socket == -1) return false;
    if (socket >= 0) waiting_.emplace_back(socket);
    return true;
  }

  void start() {
    Descriptor socket = std::move(waiting_.front());
    waiting_.pop_front();
    const pid_t server = getpid();
    const pid_t pid = fork();
    if (pid == 0) beChild(socket.release(), server);
    // Without a child the socket closes and the library reports that.
    if (pid < 0) return;
    children_.push_back({pid, std::move(socket), Clock::now(), std::nullopt});
  }

  [[noreturn]] void beChild(int socket, pid_t server) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server) _exit(1);
    close(control_descriptor);
    if (watched_) close(watch_descriptor);
    child_signals_.reset();
    for (Child& other : children_) other.socket.reset();
    waiting_.clear();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    // What the other jobs leave of the processors.
    const size_t jobs = children_.size() + 1;
    runWorker(socket, limits_, static_cast<unsigned>((parallel_ + jobs - 1) / jobs));
  }

  void reap() {
    signalfd_siginfo info;
    while (read(child_signals_.get(), &info, sizeof info) > 0) {
    }
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto child = std::find_if(children_.begin(), children_.end(),
                                      [&](const Child& c) { return c.pid == pid; });
      if (child == children_.end()) continue;
      const int socket = child->socket.get();
      if (child->verdict || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        const Note note = child->verdict.value_or(noteFor(status, limits_));
        send(socket, &note, sizeof note, MSG_NOSIGNAL | MSG_DONTWAIT);
      }
      // Whoever else may hold a copy: the stream ends here.
      shutdown(socket, SHUT_RDWR);
      children_.erase(child);
    }
  }

  // Whatever keeps the job from the processors does not count, if it lasts less than ten times as
  // long as the job may take.
  bool isOverTime(const Child& child) const {
    const std::chrono::seconds most(limits_.seconds);
    const auto elapsed = Clock::now() - child.begun;
    return elapsed >= most && (elapsed / 10 >= most || processorTime(child.pid) >= most);
  }

  void enforceLimits() {
    for (Child& child : children_) {
      if (child.verdict) continue;
      Note note;
      if (isOverTime(child)) {
        note.ending = Ending::time_limit;
        note.detail = static_cast<uint32_t>(limits_.seconds);
      } else if (residentMib(child.pid) > limits_.memory_mib) {
        note.ending = Ending::memory_limit;
        note.detail = static_cast<uint32_t>(limits_.memory_mib);
      } else {
        continue;
      }
      child.verdict = note;
      kill(child.pid, SIGKILL);
    }
  }

  Limits limits_;
  size_t parallel_;
  Descriptor child_signals_;
  bool watched_ = false;
  std::deque<Descriptor> waiting_;
  std::vector<Child> children_;
};

}  // namespace

int serve() {
  initialiseTargets();
  return Server().run();
}

}  // namespace weft::compiler
