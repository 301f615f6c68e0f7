// Data that lives with its mutex: reachable only through a lock.
#pragma once

#include <mutex>
#include <utility>

namespace weft {

template <class T, class Mutex = std::mutex>
class Guarded {
 public:
  template <class... Args>
  explicit Guarded(Args&&... args) : data_(std::forward<Args>(args)...) {}

  class Lock {
   public:
    T& operator*() const { return *data_; }
    T* operator->() const { return data_; }
    std::unique_lock<Mutex>& native() { return lock_; }

   private:
    friend Guarded;
    Lock(Mutex& mutex, T& data) : lock_(mutex), data_(&data) {}
    std::unique_lock<Mutex> lock_;
    T* data_;
  };

  Lock lock() const { return Lock(mutex_, data_); }
  // Runs `function` on the data under the lock and returns its result.
  template <class F>
  decltype(auto) with(F&& function) const {
    std::unique_lock guard(mutex_);
    return std::forward<F>(function)(data_);
  }

 private:
  mutable Mutex mutex_;
  mutable T data_;
};

}  // namespace weft
