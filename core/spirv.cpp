#include "core/spirv.h"

#include <cstring>
#include <span>
#include <unordered_map>

namespace weft {
namespace {

// SPIR-V 2.3, 3.49.
constexpr uint32_t magic = 0x07230203;
constexpr size_t header_words = 5;
enum Opcode : uint32_t {
  type_int = 21,
  type_float = 22,
  spec_constant_true = 48,
  spec_constant_false = 49,
  spec_constant = 50,
  decorate = 71,
};
constexpr uint32_t spec_id = 1;

// The words of a module in the machine's order.
class Words {
 public:
  explicit Words(std::string_view bytes) : bytes_(bytes) {
    swapped_ = size() > 0 && (*this)[0] == __builtin_bswap32(magic);
  }
  size_t size() const { return bytes_.size() / sizeof(uint32_t); }
  uint32_t operator[](size_t index) const {
    uint32_t word = 0;
    std::memcpy(&word, bytes_.data() + index * sizeof word, sizeof word);
    return swapped_ ? __builtin_bswap32(word) : word;
  }

 private:
  std::string_view bytes_;
  bool swapped_ = false;
};

// Calls `visit(opcode, first word, words)` per instruction; false when one runs over the end.
template <typename Visit>
bool walk(const Words& words, const Visit& visit) {
  for (size_t at = header_words; at < words.size();) {
    const size_t length = words[at] >> 16;
    if (length == 0 || length > words.size() - at) return false;
    visit(words[at] & 0xffff, at, length);
    at += length;
  }
  return true;
}

}  // namespace

bool isSpirvModule(std::string_view bytes) {
  const Words words(bytes);
  if (bytes.size() % sizeof(uint32_t) != 0 || words.size() < header_words) return false;
  return words[0] == magic && walk(words, [](uint32_t, size_t, size_t) {});
}

SpecializationSizes specializationSizes(std::string_view module) {
  const Words words(module);
  std::unordered_map<uint32_t, uint32_t> ids;           // of a result
  std::unordered_map<uint32_t, size_t> sizes_of_types;  // in bytes
  SpecializationSizes sizes;
  walk(words, [&](uint32_t opcode, size_t at, size_t length) {
    if (length < 3) return;
    switch (opcode) {
      case decorate:
        if (length > 3 && words[at + 2] == spec_id) ids[words[at + 1]] = words[at + 3];
        return;
      case type_int:
      case type_float:
        sizes_of_types[words[at + 1]] = words[at + 2] / 8;
        return;
      case spec_constant_true:
      case spec_constant_false:
        if (const auto id = ids.find(words[at + 2]); id != ids.end()) sizes[id->second] = 1;
        return;
      case spec_constant:
        if (const auto id = ids.find(words[at + 2]); id != ids.end())
          sizes[id->second] = sizes_of_types[words[at + 1]];
        return;
      default:
        return;
    }
  });
  return sizes;
}

}  // namespace weft
