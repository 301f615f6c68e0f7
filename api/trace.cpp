#include "api/trace.h"

#include <cstdio>

#include "api/entry.h"
#include "profiling/clock.h"
#include "profiling/trace_writer.h"

namespace weft::api {
namespace {

constexpr size_t longest_text = 80;

std::string hexadecimal(const void* pointer) {
  if (!pointer) return "NULL";
  char text[2 + 2 * sizeof pointer + 1];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

}  // namespace

CallTrace callTrace() noexcept {
  if (trace_enabled) return CallTrace::printed;
  return profiling::TraceWriter::isRequested() ? CallTrace::recorded : CallTrace::none;
}

uint64_t beginCall() noexcept { return profiling::now(); }

void recordCall(std::string_view function, uint64_t began, cl_int code) noexcept {
  auto* const writer = profiling::TraceWriter::active();
  if (!writer) return;
  profiling::trace::CallRecord record;
  record.began = began;
  record.ended = profiling::now();
  record.code = code;
  writer->write(record, function);
}

TraceLine::TraceLine(std::string_view function) : text_("weft: ") {
  text_.append(function).append("(");
}

void TraceLine::separate() {
  if (!std::exchange(first_, false)) text_ += ", ";
}

void TraceLine::argument(const char* text) {
  if (!text) return argument(static_cast<const void*>(nullptr));
  separate();
  const std::string_view whole(text);
  text_.append("\"").append(whole.substr(0, longest_text));
  text_ += whole.size() > longest_text ? "...\"" : "\"";
}

void TraceLine::argument(const void* pointer) {
  separate();
  text_ += hexadecimal(pointer);
}

void TraceLine::argument(long long number) {
  separate();
  text_ += std::to_string(number);
}

void TraceLine::argument(unsigned long long number) {
  separate();
  text_ += std::to_string(number);
}

void TraceLine::result(const void* pointer) { result_ = " = " + hexadecimal(pointer); }

void TraceLine::code(cl_int code) {
  result_ += (result_.empty() ? " = " : ", code ") + std::to_string(code);
}

void TraceLine::print() noexcept {
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - start_;
  std::fprintf(stderr, "%s)%s  %.1f us\n", text_.c_str(), result_.c_str(), elapsed.count());
}

}  // namespace weft::api
