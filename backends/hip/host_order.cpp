#include "backends/hip/host_order.h"

#include "core/reaper.h"

namespace weft::hip {

void HostPart::run() noexcept {
  const std::lock_guard once(running_);
  for (const auto& part : before_) part->run();
  before_.clear();
  if (done()) return;
  if (call_) {
    // On a thread of the runtime's, which must not be called there: what the function gives up is
    // destroyed elsewhere.
    const RuntimeScope scope;
    call_->function(call_->user);
  } else {
    crew_->copy(move_);
  }
  done_.store(true, std::memory_order_release);
}

void HostPart::drop() noexcept {
  const std::lock_guard once(running_);
  before_.clear();
  done_.store(true, std::memory_order_release);
}

bool HostOrder::idle() noexcept {
  forget();
  return parts_.empty() && left_.empty() && followed_.empty();
}

void HostOrder::add(const std::shared_ptr<HostPart>& part) {
  forget();
  for (const auto* list : {&followed_, &left_})
    for (const Left& left : *list) part->before_.push_back(left.part);
  parts_.push_back(part);
}

// Whoever notices ends goes by the order of this stream, not of others.
void HostOrder::leave(const std::shared_ptr<HostPart>& part) {
  forget();
  for (const Left& other : followed_) part->before_.push_back(other.part);
  left_.push_back({number_, part});
}

void HostOrder::addLeft(uint64_t number, std::vector<std::shared_ptr<HostPart>>& parts) {
  forget();
  for (const auto* list : {&followed_, &left_})
    for (const Left& left : *list)
      if (left.number <= number) parts.push_back(left.part);
}

void HostOrder::follow(const std::vector<std::shared_ptr<HostPart>>& parts) {
  for (const auto& part : parts) followed_.push_back({number_, part});
}

// Those of one stream are done in their order, and others nearly so.
void HostOrder::forget() noexcept {
  while (!parts_.empty() && parts_.front()->done()) parts_.pop_front();
  for (auto* list : {&left_, &followed_})
    while (!list->empty() && list->front().part->done()) list->pop_front();
}

}  // namespace weft::hip
