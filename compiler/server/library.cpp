#include "compiler/server/library.h"

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include <llvm/Support/ErrorHandling.h>

#include "compiler/pipeline/pipeline.h"
#include "compiler/server/big_stack.h"
#include "compiler/server/server.h"

using namespace weft::compiler;

namespace {

thread_local std::jmp_buf* job_end = nullptr;
thread_local const char* fatal_reason = nullptr;

// LLVM's way to give up ends the process; here that is the application.
[[noreturn]] void leaveJob(void*, const char* reason, bool) {
  if (!job_end) std::abort();
  fatal_reason = strdup(reason);
  std::longjmp(*job_end, 1);
}

// What the job had allocated is lost when it is left.
void runSafely(const Job& job, Answer& answer) {
  std::jmp_buf end;
  job_end = &end;
  if (setjmp(end) == 0)
    answer = runJob(job);
  else
    answer.result.log = std::string("error: ") + (fatal_reason ? fatal_reason : "") + "\n";
  job_end = nullptr;
}

}  // namespace

int weft_compiler_run(const void* job, size_t size,
                      void (*deliver)(void* user, const void* answer, size_t size), void* user) {
  static std::mutex one_at_a_time;
  const auto request = readJob({static_cast<const std::byte*>(job), size});
  if (!request) return -1;
  std::scoped_lock lock(one_at_a_time);
  static const bool guarded = [] {
    llvm::install_fatal_error_handler(leaveJob);
    return true;
  }();
  (void)guarded;
  Answer answer;
  if (!runOnBigStack([&] { runSafely(*request, answer); }))
    answer.result.log = "error: no memory for the compiler's stack\n";
  const auto bytes = writeAnswer(answer);
  deliver(user, bytes.data(), bytes.size());
  return 0;
}

int weft_compiler_serve() { return serve(); }
