// Synchronous failure: an OpenCL error code that one boundary (api/) turns into a return value.
#pragma once

#include <exception>
#include <string>

#include <CL/cl.h>

namespace weft {

class Error : public std::exception {
 public:
  explicit Error(cl_int code, std::string what = {}) : code_(code), what_(std::move(what)) {}
  cl_int code() const noexcept { return code_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  cl_int code_;
  std::string what_;
};

// Throws `code` unless `condition` holds.
inline void require(bool condition, cl_int code, const char* what = "") {
  if (!condition) throw Error(code, what);
}

}  // namespace weft
