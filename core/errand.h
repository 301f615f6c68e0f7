// Short work for others that a thread which runs operations does between two of them, when nothing
// else is at hand: handing it to another thread would take several times as long.
#pragma once

#include <utility>

namespace weft {

// Whoever takes one calls exactly one of the two, once, and soon.
class Errand {
 public:
  // Does it here. It may turn out to take long, or to wait for what others do.
  virtual void run() noexcept = 0;
  // There is other work: somebody else has to do it.
  virtual void decline() noexcept = 0;

 protected:
  ~Errand() = default;
};

// A thread's: one at most.
class Errands {
 public:
  // While one is alive on a thread, errands are taken there. What the thread does in that time is
  // brief.
  class Open {
   public:
    // `of` may be null: nothing is taken.
    explicit Open(Errands* of) noexcept;
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

   private:
    Errands* const before_;
  };

  // Leaves it to the calling thread; false where that takes none, or has one already.
  static bool leave(Errand& errand) noexcept;

  bool any() const noexcept { return errand_ != nullptr; }
  void run() noexcept { take().run(); }
  void decline() noexcept { take().decline(); }

 private:
  Errand& take() noexcept { return *std::exchange(errand_, nullptr); }

  Errand* errand_ = nullptr;
};

}  // namespace weft
