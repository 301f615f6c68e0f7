// Plain serialisation for messages between the library and the compiler's process, and for the
// cache's manifests. Both ends are always of the same build.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/ports/compiler.h"

namespace weft::compiler {

class WireWriter {
 public:
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void put(T value) {
    raw(&value, sizeof value);
  }
  void put(std::string_view text) {
    put<uint64_t>(text.size());
    raw(text.data(), text.size());
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(const port::Bytes& bytes) {
    put<uint64_t>(bytes.size());
    raw(bytes.data(), bytes.size());
  }
  template <class T, class F>
  void list(const std::vector<T>& items, F&& one) {
    put<uint64_t>(items.size());
    for (const T& item : items) one(item);
  }
  port::Bytes take() { return std::move(out_); }

 private:
  void raw(const void* data, size_t size) {
    auto* bytes = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), bytes, bytes + size);
  }
  port::Bytes out_;
};

// After a read beyond the end every value is empty and ok() is false.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> in) : in_(in) {}
  bool ok() const { return ok_; }
  bool atEnd() const { return ok_ && in_.empty(); }

  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void get(T& value) {
    value = T{};
    if (take(sizeof value)) std::memcpy(&value, taken_.data(), sizeof value);
  }
  void get(std::string& text) {
    text.clear();
    if (takeCounted()) text.assign(reinterpret_cast<const char*>(taken_.data()), taken_.size());
  }
  void get(port::Bytes& bytes) {
    bytes.clear();
    if (takeCounted()) bytes.assign(taken_.begin(), taken_.end());
  }
  template <class T, class F>
  void list(std::vector<T>& items, F&& one) {
    uint64_t count = 0;
    get(count);
    items.clear();
    // An element takes at least a byte, so a count beyond what is left is damage.
    if (count > in_.size()) ok_ = false;
    for (uint64_t i = 0; i < count && ok_; ++i) one(items.emplace_back());
  }

 private:
  bool take(size_t size) {
    if (size > in_.size()) ok_ = false;
    if (!ok_) return false;
    taken_ = in_.first(size);
    in_ = in_.subspan(size);
    return true;
  }
  bool takeCounted() {
    uint64_t size = 0;
    get(size);
    return take(size);
  }
  std::span<const std::byte> in_, taken_;
  bool ok_ = true;
};

}  // namespace weft::compiler
