// The arguments of one launch. Each launch that waits or runs has its own, within its command: in a
// large graph a block of their own would be a miss more for each of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/device_queue.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/ref.h"
#include "core/svm.h"

namespace weft {

class ArgumentValue {
 public:
  ArgumentValue() = default;
  ArgumentValue(const ArgumentValue& other);
  ArgumentValue(ArgumentValue&& other) noexcept
      : short_bytes_(other.short_bytes_),
        memory_(std::move(other.memory_)),
        size_(other.size_),
        kind_(std::exchange(other.kind_, Kind::unset)) {}
  ArgumentValue& operator=(const ArgumentValue& other);
  ArgumentValue& operator=(ArgumentValue&& other) noexcept {
    std::swap(short_bytes_, other.short_bytes_);
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(kind_, other.kind_);
    return *this;
  }
  ~ArgumentValue() { clear(); }

  void clear() noexcept {
    if (isLong()) pool::release(long_bytes_, size_);
    MemObject::giveUp(std::move(memory_));
    kind_ = Kind::unset;
  }

  // A by-value argument or a sampler.
  void setBytes(const void* bytes, size_t size);
  // A buffer or an image; null is a null pointer.
  void setMemory(Ref<MemObject> memory) {
    clear();
    memory_ = std::move(memory);
    kind_ = Kind::memory;
  }
  // An address in shared virtual memory.
  void setShared(const void* address) {
    clear();
    shared_ = address;
    kind_ = Kind::shared;
  }
  // Any address: in shared virtual memory or only a number, which is for the kernel to know.
  void setAddress(const void* address) {
    clear();
    shared_ = address;
    kind_ = Kind::address;
  }
  // So much local memory.
  void setLocal(size_t bytes) {
    clear();
    local_bytes_ = bytes;
    kind_ = Kind::local;
  }

  bool isSet() const { return kind_ != Kind::unset; }
  std::span<const std::byte> bytes() const {
    if (kind_ != Kind::bytes) return {};
    return {isLong() ? long_bytes_ : short_bytes_.data(), size_};
  }
  MemObject* memory() const { return memory_.get(); }
  const void* shared() const {
    return kind_ == Kind::shared || kind_ == Kind::address ? shared_ : nullptr;
  }
  bool mayBeAnyAddress() const { return kind_ == Kind::address; }
  size_t localBytes() const { return kind_ == Kind::local ? local_bytes_ : 0; }

 private:
  enum class Kind : uint8_t { unset, bytes, memory, shared, address, local };
  using ShortBytes = std::array<std::byte, 16>;

  bool isLong() const { return kind_ == Kind::bytes && size_ > sizeof(ShortBytes); }

  union {
    alignas(16) ShortBytes short_bytes_{};
    std::byte* long_bytes_;
    const void* shared_;
    size_t local_bytes_;
  };
  Ref<MemObject> memory_;
  uint32_t size_ = 0;  // of the bytes
  Kind kind_ = Kind::unset;
};
static_assert(sizeof(ArgumentValue) == 32);

// As many as a kernel has. The usual few need no memory of their own.
class ArgumentValues {
 public:
  ArgumentValues() = default;
  explicit ArgumentValues(size_t count);
  ArgumentValues(const ArgumentValues& other);
  ArgumentValues(ArgumentValues&& other) noexcept
      : few_(std::move(other.few_)),
        many_(std::exchange(other.many_, nullptr)),
        count_(std::exchange(other.count_, 0)) {}
  ArgumentValues& operator=(ArgumentValues other) noexcept;
  ~ArgumentValues() {
    if (many_) dropMany();
  }

  void clear() noexcept {
    for (ArgumentValue& value : few_) value.clear();
    if (many_) dropMany();
    count_ = 0;
  }
  size_t size() const { return count_; }
  ArgumentValue* data() { return many_ ? many_ : few_.data(); }
  const ArgumentValue* data() const { return many_ ? many_ : few_.data(); }
  ArgumentValue& operator[](size_t index) { return data()[index]; }
  const ArgumentValue& operator[](size_t index) const { return data()[index]; }
  const ArgumentValue* begin() const { return data(); }
  const ArgumentValue* end() const { return data() + count_; }

 private:
  void dropMany() noexcept;

  std::array<ArgumentValue, 3> few_;
  ArgumentValue* many_ = nullptr;  // instead
  size_t count_ = 0;
};

// The arguments as one launch sees them, with what they refer to kept alive.
struct ArgumentSet {
  // What few launches have. Shared by copies of the set, so complete before there is one.
  struct More final : Object, pool::Pooled {
    std::vector<Ref<SvmAllocation>> svm;  // those that arguments or the execution info point into
    std::vector<Ref<DeviceQueue>> queues;
    Ref<DeviceQueue> default_queue;  // if it is used
  };

  More& addMore() {
    if (!more) more = make<More>();
    return *more;
  }
  void clear() noexcept {
    values.clear();
    more = nullptr;
  }
  bool usesSvm() const { return more && !more->svm.empty(); }
  // That `pointer` points into; null: none.
  SvmAllocation* allocationOf(const void* pointer) const;
  port::DeviceQueue* defaultQueue() const {
    return more && more->default_queue ? &more->default_queue->port() : nullptr;
  }

  ArgumentValues values;
  Ref<More> more;
};

}  // namespace weft
