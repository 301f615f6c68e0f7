#include "compiler/client/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "compiler/protocol.h"

// clone() under the name that sanitizers leave alone: they take it for a fork, and what they do to
// themselves in the child would happen in the memory of the caller.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace weft::compiler {
namespace {

constexpr size_t stack_bytes = 64 << 10;
constexpr int first_foreign = watch_descriptor + 1;

// Shared by the two short-lived processes below, which run in the caller's memory while the calling
// thread waits: they may only make system calls.
struct Plan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int control;
  int watch;
  char* second_stack;
  int error;
  cpu_set_t processors;  // that the application may use, whatever thread this is
  bool known_processors;
};

// Straight to the kernel: the C library's functions may have been replaced by ones that keep books
// (sanitizers do), and those books are the application's.
template <class... Arguments>
long call(long number, Arguments... arguments) {
  return syscall(number, arguments...);
}

// What the kernel takes, which is not the C library's struct sigaction.
struct KernelSigaction {
  void (*handler)(int) = SIG_DFL;
  unsigned long flags = 0;
  void (*restorer)() = nullptr;
  uint64_t mask = 0;
};

void resetSignals() {
  const KernelSigaction standard;
  for (int signal = 1; signal < NSIG; ++signal)
    call(SYS_rt_sigaction, signal, &standard, nullptr, sizeof standard.mask);
}

// Leaves /dev/null as 0 to 2, `control` as 3 and `watch` as 4.
bool arrangeDescriptors(const Plan& plan) {
  const long control = call(SYS_fcntl, plan.control, F_DUPFD, first_foreign);
  const long watch = plan.watch >= 0 ? call(SYS_fcntl, plan.watch, F_DUPFD, first_foreign) : -1;
  const long null = call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
  if (control < 0 || null < 0) return false;
  for (int standard = 0; standard <= 2; ++standard)
    if (null != standard && call(SYS_dup2, null, standard) < 0) return false;
  if (call(SYS_dup2, control, control_descriptor) < 0) return false;
  if (watch < 0)
    call(SYS_close, watch_descriptor);
  else if (call(SYS_dup2, watch, watch_descriptor) < 0)
    return false;
  if (call(SYS_close_range, first_foreign, ~0u, 0) != 0)
    for (int fd = first_foreign; fd < 4096; ++fd) call(SYS_close, fd);
  return true;
}

int runProgram(void* argument) {
  Plan& plan = *static_cast<Plan*>(argument);
  const uint64_t none = 0;
  call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
  call(SYS_execve, plan.program, plan.arguments, plan.environment);
  plan.error = errno;
  call(SYS_exit_group, 127);
  return 0;
}

// exec gives a process the usual exit signal back, so the program must not be the application's
// child: this process starts it and ends, and the program is orphaned.
int runIntermediate(void* argument) {
  Plan& plan = *static_cast<Plan*>(argument);
  resetSignals();
  call(SYS_setsid);
  if (plan.known_processors)
    call(SYS_sched_setaffinity, 0, sizeof plan.processors, &plan.processors);
  if (!arrangeDescriptors(plan) || call(SYS_chdir, "/") != 0 ||
      __clone(runProgram, plan.second_stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &plan) < 0)
    plan.error = errno;
  call(SYS_exit_group, 0);
  return 0;
}

// Without what was meant to be loaded into the application.
std::vector<char*> programEnvironment() {
  std::vector<char*> result;
  for (char** entry = environ; entry && *entry; ++entry)
    if (std::strncmp(*entry, "LD_PRELOAD=", 11) != 0 && std::strncmp(*entry, "LD_AUDIT=", 9) != 0)
      result.push_back(*entry);
  result.push_back(nullptr);
  return result;
}

}  // namespace

int spawnInvisible(const std::string& program, int control, int watch) {
  void* stacks = mmap(nullptr, 2 * stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stacks == MAP_FAILED) return errno;
  char* const first_stack = static_cast<char*>(stacks) + stack_bytes;
  char* const arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  const std::vector<char*> environment = programEnvironment();
  Plan plan{program.c_str(),
            arguments,
            environment.data(),
            control,
            watch,
            first_stack + stack_bytes,
            0,
            {},
            false};
  // Those of the thread that the application began with: others may be bound.
  plan.known_processors =
      sched_getaffinity(getpid(), sizeof plan.processors, &plan.processors) == 0;

  const int errno_before = errno;
  // No handler of the application may run in the processes that share its memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // No exit signal: neither SIGCHLD nor a plain wait() shows the intermediate process.
  const pid_t intermediate = __clone(runIntermediate, first_stack, CLONE_VM | CLONE_VFORK, &plan);
  if (intermediate < 0) {
    plan.error = errno;
  } else {
    while (waitpid(intermediate, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stacks, 2 * stack_bytes);
  errno = errno_before;
  return plan.error;
}

}  // namespace weft::compiler
