#include "core/deferred_code.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

struct Header {
  char magic[8] = {'W', 'E', 'F', 'T', 'L', 'A', 'T', 'E'};
  uint32_t kernels = 0;
  uint32_t parts = 0;
  uint64_t linked = 0;
};

// Takes what fills `to` from the front of `bytes`.
template <class T>
bool take(std::span<const std::byte>& bytes, std::span<T> to) {
  if (bytes.size() < to.size_bytes()) return false;
  std::ranges::copy(bytes.first(to.size_bytes()), std::as_writable_bytes(to).begin());
  bytes = bytes.subspan(to.size_bytes());
  return true;
}

bool takeHeader(std::span<const std::byte>& bytes, Header& header) {
  return take(bytes, std::span(&header, 1)) &&
         std::memcmp(header.magic, Header().magic, sizeof header.magic) == 0;
}

}  // namespace

bool isDeferred(std::span<const std::byte> payload) {
  Header header;
  return takeHeader(payload, header);
}

// The header, part_of, the parts' sizes, the parts.
port::Bytes writeDeferred(const DeferredCode& code) {
  Header header;
  header.kernels = static_cast<uint32_t>(code.part_of.size());
  header.parts = static_cast<uint32_t>(code.parts.size());
  header.linked = code.linked;
  std::vector<uint64_t> sizes;
  for (const port::Bytes& part : code.parts) sizes.push_back(part.size());
  port::Bytes payload;
  const auto put = [&](std::span<const std::byte> bytes) {
    payload.resize(payload.size() + bytes.size());
    std::ranges::copy(bytes, payload.end() - static_cast<ptrdiff_t>(bytes.size()));
  };
  put(std::as_bytes(std::span(&header, 1)));
  put(std::as_bytes(std::span(code.part_of)));
  put(std::as_bytes(std::span(sizes)));
  for (const port::Bytes& part : code.parts) put(part);
  return payload;
}

std::optional<DeferredCode> readDeferred(std::span<const std::byte> payload) {
  Header header;
  if (!takeHeader(payload, header)) return std::nullopt;
  if (payload.size() / sizeof(uint32_t) < header.kernels ||
      payload.size() / sizeof(uint64_t) < header.parts)
    return std::nullopt;
  DeferredCode code;
  code.linked = header.linked != 0;
  code.part_of.resize(header.kernels);
  std::vector<uint64_t> sizes(header.parts);
  if (!take(payload, std::span(code.part_of)) || !take(payload, std::span(sizes)))
    return std::nullopt;
  for (const uint64_t size : sizes) {
    if (payload.size() < size) return std::nullopt;
    take(payload, std::span(code.parts.emplace_back(size)));
  }
  const auto known = [&](uint32_t part) { return part < code.parts.size(); };
  if (!payload.empty() || !std::ranges::all_of(code.part_of, known)) return std::nullopt;
  return code;
}

}  // namespace weft
