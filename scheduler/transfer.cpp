#include "scheduler/transfer.h"

#include "scheduler/residency.h"
#include "scheduler/state.h"

namespace weft {

TransferCommand::TransferCommand(Context& context, Device& executor, MemObject& object,
                                 size_t begin, size_t end, port::MemorySpace source,
                                 port::MemorySpace target)
    : Command(context, executor),
      object_(&object),
      begin_(begin),
      end_(end),
      source_(source),
      target_(target) {}

bool TransferCommand::extend(MemObject& object, size_t begin, size_t end, port::MemorySpace source,
                             port::MemorySpace target) {
  if (&object.storage() != &object_->storage() || begin != end_ || source != source_ ||
      target != target_)
    return false;
  end_ = end;
  return true;
}

void TransferCommand::prepare() {
  const size_t bytes = end_ - begin_;
  work = port::Copy{
      locate(*object_, source_, begin_), locate(*object_, target_, begin_), {bytes, 1, 1}};
  constexpr auto order = std::memory_order_relaxed;
  State& state = State::of(context());
  if (Device* from = state.owner(source_)) state.counters(*from).bytes_out.fetch_add(bytes, order);
  if (Device* to = state.owner(target_)) {
    DeviceCounters& counters = state.counters(*to);
    counters.bytes_in.fetch_add(bytes, order);
    counters.transfers.fetch_add(1, order);
  }
}

void TransferCommand::finalize(cl_int status) noexcept {
  if (status < 0) {
    const auto tickets = State::of(context()).tickets().lock();
    Residency::of(*object_).drop(begin_, end_, target_);
  }
  object_ = nullptr;
}

}  // namespace weft
