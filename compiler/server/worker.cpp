#include "compiler/server/worker.h"

#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <llvm/Support/ErrorHandling.h>

#include "compiler/pipeline/pipeline.h"
#include "compiler/protocol.h"
#include "compiler/server/big_stack.h"

namespace weft::compiler {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool shadow_memory = true;  // terabytes of address space that nobody touches
#else
constexpr bool shadow_memory = false;
#endif

uint64_t fromEnvironment(const char* name, uint64_t standard) {
  const char* text = std::getenv(name);
  uint64_t value = 0;
  if (!text) return standard;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  return error == std::errc() && *end == '\0' && value > 0 ? value : standard;
}

uint64_t addressSpaceInUse() {
  unsigned long pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void limit(int resource, uint64_t value) {
  const rlimit bound{value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &bound);
}

void applyLimits(const Limits& limits) {
  limit(RLIMIT_CORE, 0);
  // A link has a file for each part of a program.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) limit(RLIMIT_NOFILE, files.rlim_max);
  // The wall clock is the server's; this ends a child whose server cannot act.
  limit(RLIMIT_CPU, limits.seconds + 5);
  if (!shadow_memory)
    limit(RLIMIT_AS, addressSpaceInUse() + big_stack_bytes + (limits.memory_mib << 20));
}

[[noreturn]] void outOfMemory() { _exit(out_of_memory_status); }

// LLVM gives up on the job, not on the process: answer with its reason.
[[noreturn]] void fatalError(void* user, const char* reason, bool) {
  Answer answer;
  answer.result.log = std::string("error: ") + reason + "\n";
  sendFrame(*static_cast<int*>(user), writeAnswer(answer));
  _exit(0);
}

}  // namespace

Limits readLimits() {
  Limits limits;
  limits.memory_mib = fromEnvironment("WEFT_COMPILER_MEMORY_MB", limits.memory_mib);
  limits.seconds = fromEnvironment("WEFT_COMPILER_TIMEOUT", limits.seconds);
  return limits;
}

void runWorker(int socket, const Limits& limits, unsigned processes) {
  applyLimits(limits);
  std::set_new_handler(outOfMemory);
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { outOfMemory(); });
  llvm::install_fatal_error_handler(fatalError, &socket);
  port::Bytes rest;
  const auto bytes = receiveFrame(socket, rest);
  const auto job = bytes ? readJob(*bytes) : std::nullopt;
  if (!job) _exit(1);
  // Relative include paths start where the application is; without that only they fail.
  if (!job->directory.empty() && chdir(job->directory.c_str()) != 0 && chdir("/") != 0) _exit(1);
  Answer answer;
  if (!runOnBigStack([&] { answer = runJob(*job, processes); })) outOfMemory();
  sendFrame(socket, writeAnswer(answer));
  // No destructors: the process's memory goes as a whole.
  _exit(0);
}

}  // namespace weft::compiler
