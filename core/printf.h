// Device printf: how a kernel packs the arguments of one call, and the formatter that all backends
// share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weft {

enum class PrintfKind : uint8_t {
  integer,   // of 1, 2, 4 or 8 bytes
  floating,  // of 2, 4 or 8 bytes
  pointer,   // 8 bytes; for %s the address of a string, where host and device share memory
  string,    // the characters themselves, `count` of them, no terminator
};

// Precedes each argument in the packed buffer. The elements follow, and then padding: every
// argument starts on a multiple of 8 bytes.
struct PrintfArgument {
  PrintfKind kind;
  uint8_t element_bytes;
  uint16_t reserved;
  uint32_t count;  // elements: 1 for scalars
};
static_assert(sizeof(PrintfArgument) == 8);

// Appends to `out` what OpenCL C's printf would print (OpenCL C 6.15.14). Whatever `packed` holds
// is safe, strings behind pointers excepted: a conversion without a fitting argument is printed as
// it stands.
void formatPrintf(const char* format, std::span<const std::byte> packed, std::string& out);

// Formats and writes to stdout in one piece, so that the output of concurrent calls does not mix.
// Fits port::HostServices::print.
void printToStdout(const char* format, const void* arguments, uint64_t bytes) noexcept;

// Where kernels print that cannot call the host: this head, and `capacity` bytes of records, one
// behind the other, of which `used` were asked for. What is no longer there was not printed.
struct PrintBufferHead {
  uint64_t used = 0;
  uint64_t capacity = 0;  // a multiple of 8
  uint64_t records = 0;   // their address as the kernel sees it
};
// One call: this head, the format with one to eight zeros behind it, the packed arguments.
struct PrintRecordHead {
  uint32_t bytes;  // of all of the record, a multiple of 8; 0: there are no more
  uint32_t format_bytes;
};

// Writes what `buffer`, the head and the records behind it, holds to stdout.
void printRecords(std::span<const std::byte> buffer) noexcept;

}  // namespace weft
