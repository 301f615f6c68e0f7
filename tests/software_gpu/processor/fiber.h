// Stacks that a thread can switch between.
#pragma once

#include <cstddef>
#include <functional>

namespace weft::software {

inline constexpr size_t fiber_stack_bytes = size_t(256) << 10;

// Runs `body` again each time it is entered after `body` returned. Belongs to one thread.
class Fiber {
 public:
  using Body = void (*)();
  explicit Fiber(Body body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  // Goes on in the fiber until it calls leave() or its body returns.
  void enter();
  // Called on the fiber: goes on in who entered it.
  void leave();
  bool holds(const void* address) const;

 private:
  static void main();

  Body body_;
  std::byte* stack_;
  void* inside_ = nullptr;   // stack pointer while the fiber does not run
  void* outside_ = nullptr;  // that of who entered it
};

}  // namespace weft::software
