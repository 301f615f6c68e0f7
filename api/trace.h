// The trace of API calls (WEFT_TRACE_API=1): entry points that print their name, arguments and
// result around the real ones. They stand in a dispatch table of their own (api/dispatch.cpp), so
// that a call that is not traced costs nothing.
#pragma once

#include <CL/cl.h>

#include <chrono>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::api {

// One line of the trace: "weft: clFinish(0x55d0) = 0  12.3 us".
class TraceLine {
 public:
  // `pretty` is what the compiler calls a template whose argument is the entry point.
  explicit TraceLine(std::string_view pretty);

  void argument(const char* text);
  void argument(const void* pointer);
  void argument(long long number);
  void argument(unsigned long long number);
  template <class T>
  void argument(T value) {
    if constexpr (std::is_pointer_v<T>)
      argument(reinterpret_cast<const void*>(value));
    else if constexpr (std::is_signed_v<T>)
      argument(static_cast<long long>(value));
    else
      argument(static_cast<unsigned long long>(value));
  }

  void result(const void* pointer);
  void code(cl_int code);
  void print() noexcept;

 private:
  void separate();

  std::string text_;
  std::string result_;
  bool first_ = true;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <auto function>
constexpr std::string_view prettyName() {
  return __PRETTY_FUNCTION__;
}

template <auto function, class Signature = decltype(function)>
struct Traced;

template <auto function, class R, class... A>
struct Traced<function, R(CL_API_CALL*)(A...)> {
  static R CL_API_CALL call(A... arguments) noexcept {
    TraceLine line(prettyName<function>());
    (line.argument(arguments), ...);
    if constexpr (std::is_void_v<R>) {
      function(arguments...);
      line.print();
    } else {
      const R result = finish(line, arguments...);
      line.print();
      return result;
    }
  }

 private:
  using Arguments = std::tuple<A...>;
  template <size_t count>
  static constexpr bool endsInCode() {
    if constexpr (count == 0)
      return false;
    else
      return std::is_same_v<std::tuple_element_t<count - 1, Arguments>, cl_int*>;
  }

  static R finish(TraceLine& line, A... arguments) {
    if constexpr (std::is_same_v<R, cl_int>) {
      const R result = function(arguments...);
      line.code(result);
      return result;
    } else if constexpr (endsInCode<sizeof...(A)>()) {
      // The caller may not want the code; the trace does.
      Arguments all(arguments...);
      cl_int code = CL_SUCCESS;
      cl_int*& out = std::get<sizeof...(A) - 1>(all);
      cl_int* const wanted = std::exchange(out, &code);
      const R result = std::apply(function, all);
      if (wanted) *wanted = code;
      line.result(result);
      line.code(code);
      return result;
    } else {
      const R result = function(arguments...);
      line.result(result);
      return result;
    }
  }
};

// The entry point for a dispatch table, traced or as it is.
template <bool traced, auto function>
constexpr auto entry() {
  if constexpr (traced)
    return &Traced<function>::call;
  else
    return function;
}

}  // namespace weft::api
