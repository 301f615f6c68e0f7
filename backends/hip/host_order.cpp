#include "backends/hip/host_order.h"

#include <cstring>

#include "core/reaper.h"

namespace weft::hip {

void HostMove::run() const noexcept {
  for (size_t row = 0; row < rows; ++row)
    std::memmove(destination + row * destination_pitch, source + row * source_pitch, width);
}

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
    move_.run();
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
  return parts_.empty() && left_.empty();
}

void HostOrder::add(const std::shared_ptr<HostPart>& part) {
  forget();
  part->before_.assign(left_.begin(), left_.end());
  parts_.push_back(part);
}

void HostOrder::leave(const std::shared_ptr<HostPart>& part) {
  forget();
  left_.push_back(part);
}

// They are done in their order.
void HostOrder::forget() noexcept {
  while (!parts_.empty() && parts_.front()->done()) parts_.pop_front();
  while (!left_.empty() && left_.front()->done()) left_.pop_front();
}

}  // namespace weft::hip
