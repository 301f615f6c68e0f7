#include "core/argument.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace weft {

ArgumentValue::ArgumentValue(const ArgumentValue& other)
    : short_bytes_(other.short_bytes_),
      memory_(other.memory_),
      size_(other.size_),
      kind_(other.kind_) {
  if (!isLong()) return;
  kind_ = Kind::unset;
  setBytes(other.long_bytes_, size_);
}

ArgumentValue& ArgumentValue::operator=(const ArgumentValue& other) {
  if (this == &other) return *this;
  if (other.isLong()) {
    setBytes(other.long_bytes_, other.size_);
    return *this;
  }
  clear();
  short_bytes_ = other.short_bytes_;
  memory_ = other.memory_;
  size_ = other.size_;
  kind_ = other.kind_;
  return *this;
}

void ArgumentValue::setBytes(const void* bytes, size_t size) {
  const bool is_long = size > sizeof(ShortBytes);
  auto* const room = is_long ? static_cast<std::byte*>(pool::allocate(size)) : nullptr;
  clear();
  std::byte* const into = is_long ? room : short_bytes_.data();
  if (size != 0) std::memcpy(into, bytes, size);
  if (is_long) long_bytes_ = room;
  size_ = static_cast<uint32_t>(size);
  kind_ = Kind::bytes;
}

ArgumentValues::ArgumentValues(size_t count) : count_(count) {
  if (count <= few_.size()) return;
  many_ = static_cast<ArgumentValue*>(pool::allocate(count * sizeof(ArgumentValue)));
  std::uninitialized_default_construct_n(many_, count);
}

ArgumentValues::ArgumentValues(const ArgumentValues& other) : ArgumentValues(other.count_) {
  std::copy(other.begin(), other.end(), data());
}

ArgumentValues& ArgumentValues::operator=(ArgumentValues other) noexcept {
  std::swap(few_, other.few_);
  std::swap(many_, other.many_);
  std::swap(count_, other.count_);
  return *this;
}

SvmAllocation* ArgumentSet::allocationOf(const void* pointer) const {
  if (!more) return nullptr;
  const auto found = std::ranges::find_if(
      more->svm, [&](const auto& own) { return own->offsetOf(pointer) < own->size(); });
  return found == more->svm.end() ? nullptr : found->get();
}

void ArgumentValues::dropMany() noexcept {
  std::destroy_n(many_, count_);
  pool::release(std::exchange(many_, nullptr), count_ * sizeof(ArgumentValue));
}

}  // namespace weft
