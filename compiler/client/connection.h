// The way to a compiler: weft-compilerd, started when first needed, or libweft-compiler.so loaded
// into this process where none can be started.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>

#include "compiler/job.h"
#include "compiler/protocol.h"
#include "core/guarded.h"

namespace weft::compiler {

// Thread-safe. After fork() the child starts a compiler of its own.
class Connection {
 public:
  Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Always answers; what went wrong is in the log.
  Answer ask(const Job& job);

  // See compilerIdentity().
  std::string identity() const;

 private:
  // What one process knows. A forked child cannot use its parent's locks, so it makes its own.
  struct Local {
    pid_t owner = 0;
    Guarded<Descriptor> control;
    Local* inherited = nullptr;
  };

  enum class Attempt : uint8_t { done, retry, no_process };

  Local& local();
  Attempt askDaemon(const port::Bytes& job, Answer& answer);
  Answer askLibrary(const port::Bytes& job);
  // A socket for one job, handed to the daemon; none when there is no daemon.
  Descriptor openStream();

  std::string daemon_, library_;
  std::atomic<bool> daemon_works_{false};
  std::atomic<Local*> local_{nullptr};
};

}  // namespace weft::compiler
