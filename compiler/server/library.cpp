#include "compiler/server/library.h"

#include <mutex>
#include <optional>

#include "compiler/pipeline/pipeline.h"
#include "compiler/server/big_stack.h"
#include "compiler/server/server.h"

using namespace weft::compiler;

int weft_compiler_run(const void* job, size_t size,
                      void (*deliver)(void* user, const void* answer, size_t size), void* user) {
  static std::mutex one_at_a_time;
  const auto request = readJob({static_cast<const std::byte*>(job), size});
  if (!request) return -1;
  std::scoped_lock lock(one_at_a_time);
  Answer answer;
  if (!runOnBigStack([&] { answer = runJob(*request); }))
    answer.result.log = "error: no memory for the compiler's stack\n";
  const auto bytes = writeAnswer(answer);
  deliver(user, bytes.data(), bytes.size());
  return 0;
}

int weft_compiler_serve() { return serve(); }
