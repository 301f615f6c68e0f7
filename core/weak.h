// A reference that does not keep its object alive, for the few places where the specification
// forbids one that does (kernel arguments, 5.9.2).
#pragma once

#include <memory>
#include <mutex>

#include "core/ref.h"
#include "core/spin_lock.h"

namespace weft {

template <class T>
class WeakSource;

// Thread-safe like a shared_ptr: distinct copies may be used at once.
template <class T>
class Weak {
 public:
  Weak() = default;
  // Null when the object is gone, or when this never referred to one.
  Ref<T> lock() const {
    if (!box_) return nullptr;
    std::lock_guard guard(box_->mutex);
    return box_->object && box_->object->tryRetain() ? Ref<T>::adopt(box_->object) : nullptr;
  }
  // Referred to an object once, whether that still exists or not.
  explicit operator bool() const { return box_ != nullptr; }

 private:
  friend WeakSource<T>;
  struct Box {
    explicit Box(T* target) : object(target) {}
    SpinLock mutex;
    T* object;
  };

  std::shared_ptr<Box> box_;
};

// A member of the object. The object's dispose() calls clear() before it destroys anything.
template <class T>
class WeakSource {
 public:
  explicit WeakSource(T& object) {
    handle_.box_ = std::make_shared<typename Weak<T>::Box>(&object);
  }
  const Weak<T>& handle() const { return handle_; }
  void clear() noexcept {
    std::lock_guard guard(handle_.box_->mutex);
    handle_.box_->object = nullptr;
  }

 private:
  Weak<T> handle_;
};

}  // namespace weft
