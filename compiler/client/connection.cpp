#include "compiler/client/connection.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "compiler/client/location.h"
#include "compiler/client/spawn.h"
#include "compiler/server/library.h"
#include "core/dynamic_loader.h"

namespace weft::compiler {
namespace {

constexpr int attempts = 3;

std::string currentDirectory() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) ? path : "";
}

std::string explain(const Note& note) {
  const std::string detail = std::to_string(note.detail);
  switch (note.ending) {
    case Ending::time_limit:
      return "the compiler was stopped after " + detail +
             " seconds (WEFT_COMPILER_TIMEOUT sets the limit)";
    case Ending::memory_limit:
      return "the compiler needed more than " + detail +
             " MiB of memory (WEFT_COMPILER_MEMORY_MB sets the limit)";
    case Ending::killed:
      return "the compiler crashed on this program (signal " + detail + ")";
    case Ending::exited:
      break;
  }
  return "the compiler gave up on this program (status " + detail + ")";
}

Answer failure(const std::string& message) {
  Answer answer;
  answer.result.log = "error: " + message + "\n";
  return answer;
}

// Becomes readable when this process ends; the daemon cannot rely on its socket alone, of which
// forked children of the application hold copies.
Descriptor ownLifetime() {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
}

// The daemon's end must be above the descriptors that it is moved to.
bool startDaemon(const std::string& program, Descriptor& control) {
  int ends[2];
  if (program.empty() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return false;
  Descriptor ours(ends[0]), theirs(ends[1]);
  const Descriptor watch = ownLifetime();
  if (spawnInvisible(program, theirs.get(), watch.get()) != 0) return false;
  control = std::move(ours);
  return true;
}

}  // namespace

Connection::Connection() : daemon_(findDaemon()), library_(findLibrary(daemon_)) {}

Connection::~Connection() {
  Local* local = local_.load();
  // An inherited one may be locked by a thread that this process does not have: leave it.
  if (local && local->owner == getpid()) delete local;
}

std::string Connection::identity() const { return compilerIdentity(library_); }

Connection::Local& Connection::local() {
  const pid_t self = getpid();
  Local* known = local_.load(std::memory_order_acquire);
  while (!known || known->owner != self) {
    auto* fresh = new Local;
    fresh->owner = self;
    fresh->inherited = known;
    if (local_.compare_exchange_strong(known, fresh)) return *fresh;
    delete fresh;
  }
  return *known;
}

Descriptor Connection::openStream() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  Descriptor ours(ends[0]), theirs(ends[1]);
  auto control = local().control.lock();
  // A daemon that ended (idle, or killed) leaves a socket that cannot be sent to.
  if (*control && sendDescriptor(control->get(), theirs.get())) return ours;
  control->reset();
  if (!startDaemon(daemon_, *control) || !sendDescriptor(control->get(), theirs.get())) return {};
  return ours;
}

Connection::Attempt Connection::askDaemon(const port::Bytes& job, Answer& answer) {
  const Descriptor stream = openStream();
  if (!stream) return Attempt::no_process;
  // Sent while the daemon may still be starting. A failure shows when the answer is read.
  sendFrame(stream.get(), job);
  port::Bytes rest;
  if (const auto frame = receiveFrame(stream.get(), rest)) {
    daemon_works_ = true;
    answer = readAnswer(*frame).value_or(failure("the compiler's answer cannot be read"));
    return Attempt::done;
  }
  const auto note = noteIn(rest);
  if (!note) return Attempt::retry;  // the daemon itself is gone
  daemon_works_ = true;
  answer = failure(explain(*note));
  return Attempt::done;
}

Answer Connection::askLibrary(const port::Bytes& job) {
  if (library_.empty()) return failure("the compiler is not installed");
  void* library = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return failure("cannot load the compiler: " + takeLoaderError());
  auto run =
      reinterpret_cast<decltype(&weft_compiler_run)>(findSymbol(library, "weft_compiler_run"));
  if (!run) return failure("the compiler's library is not ours: " + library_);
  Answer answer = failure("the compiler gave no answer");
  const auto deliver = [](void* user, const void* bytes, size_t size) {
    auto read = readAnswer({static_cast<const std::byte*>(bytes), size});
    if (read) *static_cast<Answer*>(user) = std::move(*read);
  };
  run(job.data(), job.size(), deliver, &answer);
  return answer;
}

Answer Connection::ask(const Job& job) {
  Job located = job;
  located.directory = currentDirectory();
  const port::Bytes bytes = writeJob(located);
  Answer answer = failure("the compiler's process ends again and again");
  for (int i = 0; i < attempts; ++i) {
    const Attempt attempt = askDaemon(bytes, answer);
    if (attempt == Attempt::done) return answer;
    if (attempt == Attempt::no_process) break;
  }
  // A daemon that starts but never answers is as good as none; one that did is no reason to bring
  // what kills it into this process.
  return daemon_works_ ? answer : askLibrary(bytes);
}

}  // namespace weft::compiler
