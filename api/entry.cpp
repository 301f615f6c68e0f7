#include "api/entry.h"

#include <pthread.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>

namespace weft::api {
namespace {

thread_local std::chrono::steady_clock::time_point trace_start;

bool environmentFlag(const char* name) {
  const char* value = std::getenv(name);
  return value && *value && std::strcmp(value, "0") != 0;
}

// "cl_int clFinish(cl_command_queue)" -> "clFinish"
std::string_view functionName(const std::source_location& where) {
  std::string_view name = where.function_name();
  name = name.substr(0, name.find('('));
  const size_t space = name.find_last_of(" *");
  return space == name.npos ? name : name.substr(space + 1);
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

void traceBegin(const std::source_location&) noexcept {
  trace_start = std::chrono::steady_clock::now();
}

void traceEnd(const std::source_location& where, cl_int code) noexcept {
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - trace_start;
  const std::string_view name = functionName(where);
  std::fprintf(stderr, "weft: %.*s = %d  %.1f us\n", static_cast<int>(name.size()), name.data(),
               code, elapsed.count());
}

}  // namespace weft::api
