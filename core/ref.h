// Intrusive reference counting for runtime objects.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace weft {

// The runtime's count. Starts at one, owned by whoever made the object. Thread-safe.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void retain() const noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  // The same while no other thread knows the object. Costs next to nothing, where an atomic
  // addition waits until all that the processor has written before, a new object say, is in its
  // caches.
  void retainUnshared() const noexcept {
    references_.store(references_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // Has nobody else a reference? For who has one.
  bool isUnique() const noexcept { return references_.load(std::memory_order_acquire) == 1; }
  // Takes a reference unless the last one is already gone. Only while the object's memory is known
  // to be there (core/weak.h).
  bool tryRetain() const noexcept {
    uint32_t count = references_.load(std::memory_order_relaxed);
    while (count != 0)
      if (references_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed))
        return true;
    return false;
  }
  // So many references, which the caller has.
  void release(uint32_t count = 1) const noexcept {
    if (references_.fetch_sub(count, std::memory_order_acq_rel) == count)
      const_cast<Object*>(this)->dispose();
  }

 protected:
  virtual ~Object() = default;
  // Called once, when the last reference is gone.
  virtual void dispose() noexcept { delete this; }

 private:
  mutable std::atomic<uint32_t> references_{1};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  // Shares ownership.
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->retain();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  Ref(const Ref<U>& other) : Ref(other.get()) {}
  template <class U>
  Ref(Ref<U>&& other) noexcept : object_(other.detach()) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->release();
  }

  // Takes over a reference that the caller owns.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // Gives the reference to the caller.
  T* detach() noexcept { return std::exchange(object_, nullptr); }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make(Args&&... args) {
  return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace weft
