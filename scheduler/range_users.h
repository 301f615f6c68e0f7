// The commands in flight that use a range of a memory object's bytes, in the order of their claims.
//
// An unordered queue may have thousands of them that all use one object in one memory space, and
// nothing is to be asked of each of them when the next one comes, or ends. So it is known whether
// there are others among them, and how many are current. Under the ticket lock.
#pragma once

#include <algorithm>

#include "core/pool.h"
#include "core/ports/capabilities.h"

namespace weft {

class Command;

// What a command in flight holds on the ranges that it touches.
struct Claim {
  Command* command = nullptr;
  uint64_t ticket = 0;
  port::MemorySpace space = port::host_space;
  bool transfer = false;  // of bytes into `space`
  bool admitted = false;
  bool allocates = false;  // a thread is at it: what it has is not to be taken away meanwhile
  bool under_way = false;  // what it writes is entered
};

class RangeUsers {
 public:
  struct User {
    const Claim* claim;
    bool writes;
    // It is under way, and these bytes are, in part or whole, as it made them.
    bool current = false;
    bool odd = false;  // a transfer, or of another space than the first one's
    bool operator==(const User&) const = default;
  };

  bool empty() const noexcept { return list_.empty(); }
  size_t size() const noexcept { return list_.size(); }
  auto begin() const noexcept { return list_.begin(); }
  auto end() const noexcept { return list_.end(); }
  // Are all of them commands of that space?
  bool areCommandsOf(port::MemorySpace space) const noexcept {
    return odd_ == 0 && (list_.empty() || space_ == space);
  }

  void add(const Claim& claim, bool writes) {
    const bool odd = isOdd(claim);
    list_.push_back({&claim, writes, false, odd});
    odd_ += odd;
  }
  // The claim has another space than when it was added.
  void move(const Claim& claim) noexcept {
    forOwn(claim, [&](User& user) {
      odd_ -= user.odd;
      user.odd = isOdd(claim);
      odd_ += user.odd;
    });
  }
  void makeCurrent(const Claim& claim) noexcept {
    forOwn(claim, [&](User& user) { setCurrent(user, user.writes); });
  }
  // Those of whose bytes nothing is left once `claim` has written all of them, or some.
  void overwrite(const Claim& claim, bool whole) noexcept {
    if (!whole && areCommandsOf(claim.space)) return;
    for (auto user = list_.rbegin(); user != list_.rend() && current_ > 0; ++user)
      if (whole || user->claim->space != claim.space) setCurrent(*user, false);
  }

  void remove(const Claim& claim) noexcept {
    // Who claimed early ends early.
    const auto first = std::ranges::find(list_, &claim, &User::claim);
    auto last = first;
    for (; last != list_.end() && last->claim == &claim; ++last) forget(*last);
    list_.erase(first, last);
    chooseSpace();
  }
  template <class Predicate>
  void removeIf(Predicate&& predicate) {
    std::erase_if(list_, [&](const User& user) {
      const bool goes = predicate(user);
      if (goes) forget(user);
      return goes;
    });
    chooseSpace();
  }

  bool operator==(const RangeUsers& other) const { return list_ == other.list_; }

 private:
  bool isOdd(const Claim& claim) noexcept {
    if (list_.empty() || (list_.size() == 1 && list_.front().claim == &claim)) space_ = claim.space;
    return claim.transfer || claim.space != space_;
  }
  void setCurrent(User& user, bool current) noexcept {
    current_ += current;
    current_ -= user.current;
    user.current = current;
  }
  void forget(const User& user) noexcept {
    odd_ -= user.odd;
    current_ -= user.current;
  }
  // Of the first one, where those are gone whose space was the common one.
  void chooseSpace() noexcept {
    if (list_.empty() || odd_ < list_.size() || list_.front().claim->transfer) return;
    space_ = list_.front().claim->space;
    odd_ = 0;
    for (User& user : list_) {
      user.odd = user.claim->transfer || user.claim->space != space_;
      odd_ += user.odd;
    }
  }
  // A claim's stand together, the latest at the end.
  template <class F>
  void forOwn(const Claim& claim, F&& function) noexcept {
    auto user = std::find_if(list_.rbegin(), list_.rend(),
                             [&](const User& each) { return each.claim == &claim; });
    for (; user != list_.rend() && user->claim == &claim; ++user) function(*user);
  }

  pool::Vector<User> list_;
  size_t odd_ = 0, current_ = 0;
  port::MemorySpace space_ = port::host_space;
};

}  // namespace weft
