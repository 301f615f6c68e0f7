#include "api/entry.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace weft::api {
namespace {

bool environmentFlag(const char* name) {
  const char* value = std::getenv(name);
  return value && *value && std::strcmp(value, "0") != 0;
}

}  // namespace

std::atomic<bool> in_forked_child{false};
const bool trace_enabled = environmentFlag("WEFT_TRACE_API");

cl_int codeOfCurrentException() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    if (trace_enabled && *error.what())
      std::fprintf(stderr, "weft:   error %d: %s\n", error.code(), error.what());
    return error.code();
  } catch (const std::bad_alloc&) {
    return CL_OUT_OF_HOST_MEMORY;
  } catch (const std::length_error&) {
    return CL_OUT_OF_HOST_MEMORY;
  } catch (...) {
    return CL_OUT_OF_RESOURCES;
  }
}

void armForkGuard() {
  static const int armed = pthread_atfork(
      nullptr, nullptr, [] { in_forked_child.store(true, std::memory_order_relaxed); });
  require(armed == 0, CL_OUT_OF_HOST_MEMORY);
}

}  // namespace weft::api
