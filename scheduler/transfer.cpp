#include "scheduler/transfer.h"

#include "scheduler/knowledge.h"
#include "scheduler/residency.h"
#include "scheduler/state.h"
#include "scheduler/tracing.h"

namespace weft {

TransferCommand::TransferCommand(Context& context, Device& executor, MemObject& object,
                                 size_t begin, size_t end, port::MemorySpace source,
                                 port::MemorySpace target)
    : Command(context, executor, true),
      object_(&object),
      begin_(begin),
      end_(end),
      source_(source),
      target_(target),
      claim_{this, 0, target, true, true} {}

bool TransferCommand::extend(MemObject& object, size_t begin, size_t end, port::MemorySpace source,
                             port::MemorySpace target) {
  if (&object.storage() != &object_->storage() || begin != end_ || source != source_ ||
      target != target_)
    return false;
  end_ = end;
  return true;
}

void TransferCommand::prepare() {
  work = port::Copy{
      locate(*object_, source_, begin_), locate(*object_, target_, begin_), {end_ - begin_, 1, 1}};
}

void TransferCommand::enter() noexcept {
  const auto tickets = State::of(context()).tickets().lock();
  claim_.under_way = true;
  Residency::of(*object_).enter(begin_, end_, claim_, Residency::Result::copied);
}

void TransferCommand::settle(cl_int status) noexcept {
  using Result = Residency::Result;
  {
    const auto tickets = State::of(context()).tickets().lock();
    Residency& residency = Residency::of(*object_);
    const bool known = claim_.under_way || status < 0;
    if (claim_.under_way && status < 0) residency.fail(begin_, end_, claim_);
    residency.settle(begin_, end_, claim_, known ? Result::unchanged : Result::copied);
  }
  if (status != CL_COMPLETE) return;
  count();
  measure();
}

void TransferCommand::count() noexcept {
  constexpr auto order = std::memory_order_relaxed;
  const size_t bytes = end_ - begin_;
  State& state = State::of(context());
  if (Device* from = state.owner(source_)) state.counters(*from).bytes_out.fetch_add(bytes, order);
  if (Device* to = state.owner(target_)) {
    DeviceCounters& counters = state.counters(*to);
    counters.bytes_in.fetch_add(bytes, order);
    counters.transfers.fetch_add(1, order);
  }
}

// Unified devices want to know the link.
bool TransferCommand::isMeasured() const {
  constexpr size_t least_bytes = size_t(1) << 16;
  return State::of(context()).balances() && end_ - begin_ >= least_bytes;
}

void TransferCommand::measure() noexcept {
  if (!isMeasured()) return;
  const State& state = State::of(context());
  constexpr auto order = std::memory_order_relaxed;
  const uint64_t began = times_.started.load(order), ended = times_.ended.load(order);
  if (ended <= began) return;
  try {
    Knowledge::get().store.recordTransfer(linkBetween(state.owner(source_), state.owner(target_)),
                                          end_ - begin_, static_cast<double>(ended - began));
  } catch (const std::bad_alloc&) {  // the next one is measured
  }
}

void TransferCommand::describe(profiling::trace::CommandRecord& record) const noexcept {
  const State& state = State::of(context());
  record.flags |= profiling::trace::flag_transfer;
  record.source = tracing::idOf(tracing::workerOf(state.owner(source_)));
  record.target = tracing::idOf(tracing::workerOf(state.owner(target_)));
  record.bytes = end_ - begin_;
}

std::string TransferCommand::what() const {
  return "the move of " + std::to_string(end_ - begin_) + " bytes of a memory object";
}

}  // namespace weft
