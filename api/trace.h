// The trace of API calls: entry points around the real ones that print their name, arguments and
// result (WEFT_TRACE_API=1), or record name, result and time (WEFT_TRACE, docs/tracing.md). They
// stand in dispatch tables of their own (api/dispatch.cpp), so that a call that is not traced costs
// nothing.
#pragma once

#include <CL/cl.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::api {

enum class CallTrace : uint8_t { none, printed, recorded };
// Of this process, by its environment.
CallTrace callTrace() noexcept;

// One line of the trace: "weft: clFinish(0x55d0) = 0  12.3 us".
class TraceLine {
 public:
  explicit TraceLine(std::string_view function);

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

// Of what the compiler calls a template whose argument is the entry point:
// "... prettyName() [with auto function = clFinish; ...]" -> "clFinish"
constexpr std::string_view functionName(std::string_view pretty) {
  constexpr std::string_view before = "function = ";
  const size_t found = pretty.find(before);
  if (found == std::string_view::npos) return pretty;
  pretty.remove_prefix(found + before.size());
  pretty = pretty.substr(0, pretty.find_first_of(";]"));
  return pretty.substr(pretty.find_last_of("&:") + 1);
}

template <auto function>
constexpr std::string_view nameOf() {
  return functionName(__PRETTY_FUNCTION__);
}

// When a call begins, and that it has ended.
uint64_t beginCall() noexcept;
void recordCall(std::string_view function, uint64_t began, cl_int code) noexcept;

template <auto function, class Signature = decltype(function)>
struct Traced;

template <auto function, class R, class... A>
struct Traced<function, R(CL_API_CALL*)(A...)> {
  static R CL_API_CALL printed(A... arguments) noexcept {
    TraceLine line(nameOf<function>());
    (line.argument(arguments), ...);
    if constexpr (std::is_void_v<R>) {
      function(arguments...);
      line.print();
    } else {
      cl_int code = CL_SUCCESS;
      const R result = call(code, arguments...);
      if constexpr (!std::is_same_v<R, cl_int>) line.result(result);
      if constexpr (hasCode()) line.code(code);
      line.print();
      return result;
    }
  }

  static R CL_API_CALL recorded(A... arguments) noexcept {
    const uint64_t began = beginCall();
    cl_int code = CL_SUCCESS;
    if constexpr (std::is_void_v<R>) {
      function(arguments...);
      recordCall(nameOf<function>(), began, code);
    } else {
      const R result = call(code, arguments...);
      recordCall(nameOf<function>(), began, code);
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
  static constexpr bool hasCode() {
    return std::is_same_v<R, cl_int> || endsInCode<sizeof...(A)>();
  }

  static R call(cl_int& code, A... arguments) {
    if constexpr (std::is_same_v<R, cl_int>) {
      return code = function(arguments...);
    } else if constexpr (endsInCode<sizeof...(A)>()) {
      // The caller may not want the code; the trace does.
      Arguments all(arguments...);
      cl_int*& out = std::get<sizeof...(A) - 1>(all);
      cl_int* const wanted = std::exchange(out, &code);
      const R result = std::apply(function, all);
      if (wanted) *wanted = code;
      return result;
    } else {
      return function(arguments...);
    }
  }
};

// The entry point for a dispatch table, traced or as it is.
template <CallTrace trace, auto function>
constexpr auto entry() {
  if constexpr (trace == CallTrace::printed)
    return &Traced<function>::printed;
  else if constexpr (trace == CallTrace::recorded)
    return &Traced<function>::recorded;
  else
    return function;
}

}  // namespace weft::api
