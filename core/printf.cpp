#include "core/printf.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>

namespace weft {
namespace {

// One conversion specification, "%-8.3v4hlf" say.
struct Conversion {
  std::string flags;  // flags, width and precision as written
  unsigned vector = 0;
  unsigned bytes = 0;  // of an element by its length modifier; 0: none given
  char letter = 0;
  std::string_view text;  // all of it
};

struct Length {
  std::string_view name;
  unsigned bytes;
};
// Longest first. z and t are of OpenCL C 3.1.
constexpr Length lengths[] = {{"hh", 1}, {"hl", 4}, {"ll", 8}, {"h", 2},
                              {"l", 8},  {"z", 8},  {"t", 8}};
constexpr unsigned vector_sizes[] = {2, 3, 4, 8, 16};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

size_t skipDigits(std::string_view text, size_t at) {
  while (at < text.size() && isDigit(text[at])) ++at;
  return at;
}

// `text` starts at the percent sign. nullopt: not a conversion that OpenCL has.
std::optional<Conversion> parse(std::string_view text) {
  Conversion conversion;
  size_t at = 1;
  while (at < text.size() && std::strchr("-+ #0", text[at])) ++at;
  at = skipDigits(text, at);
  if (at < text.size() && text[at] == '.') at = skipDigits(text, at + 1);
  // Nobody prints wider; longer numbers would only exhaust memory.
  if (at > 16) return std::nullopt;
  conversion.flags = text.substr(1, at - 1);
  if (at < text.size() && text[at] == 'v') {
    const size_t end = skipDigits(text, at + 1);
    for (const unsigned size : vector_sizes)
      if (text.substr(at + 1, end - at - 1) == std::to_string(size)) conversion.vector = size;
    if (!conversion.vector) return std::nullopt;
    at = end;
  }
  for (const Length& length : lengths) {
    if (!text.substr(at).starts_with(length.name)) continue;
    conversion.bytes = length.bytes;
    at += length.name.size();
    break;
  }
  if (at >= text.size() || !std::strchr("diouxXfFeEgGaAcsp", text[at])) return std::nullopt;
  conversion.letter = text[at];
  conversion.text = text.substr(0, at + 1);
  return conversion;
}

// The packed arguments, one after the other.
class Arguments {
 public:
  explicit Arguments(std::span<const std::byte> packed) : rest_(packed) {}

  struct Argument {
    PrintfArgument head;
    std::span<const std::byte> data;
  };

  std::optional<Argument> next() {
    Argument argument;
    if (rest_.size() < sizeof argument.head) return std::nullopt;
    std::memcpy(&argument.head, rest_.data(), sizeof argument.head);
    const size_t size = size_t{argument.head.element_bytes} * argument.head.count;
    rest_ = rest_.subspan(sizeof argument.head);
    if (rest_.size() < size) return std::nullopt;
    argument.data = rest_.first(size);
    rest_ = rest_.subspan(std::min(rest_.size(), (size + 7) / 8 * 8));
    return argument;
  }

 private:
  std::span<const std::byte> rest_;
};

double halfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  double value = 0;
  if (exponent == 31)
    value = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(mantissa, -24);
  else
    value = std::ldexp(mantissa | 1024, exponent - 25);
  return std::copysign(value, bits >> 15 ? -1.0 : 1.0);
}

class Formatter {
 public:
  Formatter(std::span<const std::byte> packed, std::string& out) : arguments_(packed), out_(out) {}

  void run(std::string_view format) {
    while (!format.empty()) {
      const size_t percent = std::min(format.find('%'), format.size());
      out_ += format.substr(0, percent);
      format.remove_prefix(percent);
      if (format.empty()) return;
      format.remove_prefix(convert(format));
    }
  }

 private:
  // Returns how much of `text` is done.
  size_t convert(std::string_view text) {
    if (text.starts_with("%%")) {
      out_ += '%';
      return 2;
    }
    const auto conversion = parse(text);
    if (!conversion) {
      out_ += '%';
      return 1;
    }
    const auto argument = arguments_.next();
    const unsigned wanted = conversion->vector ? conversion->vector : 1;
    if (!argument || (argument->head.count < wanted && argument->head.kind != PrintfKind::string))
      out_ += conversion->text;
    else if (conversion->letter == 's')
      printString(*conversion, *argument);
    else
      for (unsigned i = 0; i < wanted; ++i) {
        if (i) out_ += ',';
        printElement(*conversion, *argument, i);
      }
    return conversion->text.size();
  }

  void printString(const Conversion& conversion, const Arguments::Argument& argument) {
    const std::string specification = "%" + conversion.flags + "s";
    if (argument.head.kind == PrintfKind::string) {
      const std::string copy(reinterpret_cast<const char*>(argument.data.data()),
                             argument.data.size());
      return print(specification, copy.c_str());
    }
    if (argument.head.kind != PrintfKind::pointer) {
      out_ += conversion.text;
      return;
    }
    const char* string = nullptr;
    std::memcpy(&string, argument.data.data(), sizeof string);
    print(specification, string ? string : "(null)");
  }

  void printElement(const Conversion& conversion, const Arguments::Argument& argument, unsigned i) {
    const unsigned size = argument.head.element_bytes;
    uint64_t bits = 0;
    if (size <= sizeof bits) std::memcpy(&bits, argument.data.data() + size_t{i} * size, size);
    const bool is_float = argument.head.kind == PrintfKind::floating;
    const std::string start = "%" + conversion.flags;
    const char letter = conversion.letter;
    if (std::strchr("fFeEgGaA", letter)) {
      print(start + letter, is_float ? floating(bits, size) : static_cast<double>(bits));
    } else if (letter == 'p') {
      print(start + "p", reinterpret_cast<void*>(bits));
    } else if (letter == 'c') {
      print(start + "c", static_cast<int>(bits & 0xff));
    } else {
      if (is_float) bits = static_cast<uint64_t>(static_cast<int64_t>(floating(bits, size)));
      // Without a modifier a scalar is an int, as in C.
      const unsigned usual = conversion.vector ? size : 4;
      const unsigned named = conversion.bytes ? conversion.bytes : usual;
      const unsigned width = is_float ? 8 : std::min(size, named);
      const unsigned unused = 64 - 8 * width;
      bits <<= unused;
      const bool is_signed = letter == 'd' || letter == 'i';
      bits =
          is_signed ? static_cast<uint64_t>(static_cast<int64_t>(bits) >> unused) : bits >> unused;
      print(start + "ll" + letter, static_cast<unsigned long long>(bits));
    }
  }

  static double floating(uint64_t bits, unsigned size) {
    if (size == 2) return halfToDouble(static_cast<uint16_t>(bits));
    if (size == 4) {
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  template <class T>
  void print(const std::string& specification, T value) {
    const int length = std::snprintf(nullptr, 0, specification.c_str(), value);
    if (length <= 0) return;
    const size_t end = out_.size();
    out_.resize(end + static_cast<size_t>(length) + 1);
    std::snprintf(out_.data() + end, static_cast<size_t>(length) + 1, specification.c_str(), value);
    out_.pop_back();
  }

  Arguments arguments_;
  std::string& out_;
};

}  // namespace

void formatPrintf(const char* format, std::span<const std::byte> packed, std::string& out) {
  Formatter(packed, out).run(format);
}

void printRecords(std::span<const std::byte> buffer) noexcept {
  PrintBufferHead head;
  if (buffer.size() < sizeof head) return;
  std::memcpy(&head, buffer.data(), sizeof head);
  auto rest = buffer.subspan(sizeof head);
  rest = rest.first(std::min<size_t>({rest.size(), head.used, head.capacity}));
  PrintRecordHead record;
  while (rest.size() >= sizeof record) {
    std::memcpy(&record, rest.data(), sizeof record);
    const size_t arguments = sizeof record + size_t{record.format_bytes};
    if (record.bytes < arguments || record.bytes > rest.size() || record.format_bytes == 0 ||
        rest[arguments - 1] != std::byte{0})
      return;
    printToStdout(reinterpret_cast<const char*>(rest.data() + sizeof record),
                  rest.data() + arguments, record.bytes - arguments);
    rest = rest.subspan(record.bytes);
  }
}

void printToStdout(const char* format, const void* arguments, uint64_t bytes) noexcept {
  try {
    std::string text;
    formatPrintf(format, {static_cast<const std::byte*>(arguments), bytes}, text);
    // One call holds the stream's lock throughout.
    std::fwrite(text.data(), 1, text.size(), stdout);
  } catch (const std::bad_alloc&) {
    // Output that finds no memory is lost, as it would be on a full buffer.
  }
}

}  // namespace weft
