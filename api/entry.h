// What every entry point is wrapped in: the only try/catch of the library and the refusal to work
// in a forked child. The trace of API calls goes around it (api/trace.h).
#pragma once

#include <atomic>
#include <utility>

#include "core/error.h"
#include "core/handle.h"
#include "core/ref.h"

namespace weft::api {

// The code of the exception being handled. Only inside a catch block.
cl_int codeOfCurrentException() noexcept;

// True in a child that was forked after the first context was made: the threads behind the runtime
// exist only in its parent, so every call fails.
extern std::atomic<bool> in_forked_child;
// From now on a fork makes the child's calls fail. Called before the first context is made.
void armForkGuard();

// WEFT_TRACE_API, read once.
extern const bool trace_enabled;

// Runs the body of an entry point that returns a code. The body returns nothing and throws Error.
template <class Body>
cl_int call(Body&& body) noexcept {
  cl_int code = CL_SUCCESS;
  try {
    if (in_forked_child.load(std::memory_order_relaxed)) throw Error(CL_OUT_OF_RESOURCES);
    std::forward<Body>(body)();
  } catch (...) {
    code = codeOfCurrentException();
  }
  return code;
}

// Runs the body of an entry point that returns a handle or pointer and stores its code in
// `errcode_ret`, which may be null. The result is null on failure.
template <class Body>
auto create(cl_int* errcode_ret, Body&& body) noexcept -> decltype(body()) {
  decltype(body()) result = nullptr;
  const cl_int code = call([&] { result = std::forward<Body>(body)(); });
  if (errcode_ret) *errcode_ret = code;
  return result;
}

// Hands the creator's reference of a new object to the application.
template <class T>
auto give(Ref<T> object) noexcept {
  return object.detach()->handle();
}

}  // namespace weft::api
